"""Slow, plain versions of what the explorer and the review queue compute."""

from __future__ import annotations

import numpy as np


def tile(values: np.ndarray, level: int, index: int, width: int) -> np.ndarray:
    """A tile of minima and maxima, straight from the samples: (channels, entries, 2)."""
    scale = 4**level
    entries = []
    for first in range(index * width * scale, min((index + 1) * width * scale, len(values)), scale):
        block = values[first : first + scale]
        row = []
        for channel in range(values.shape[1]):
            known = [v for v in block[:, channel] if not np.isnan(v)]
            row.append([min(known), max(known)] if known else [np.nan, np.nan])
        entries.append(row)
    return np.moveaxis(np.array(entries, np.float32), 0, 1)


def mass(values: np.ndarray, stride: int, samples: int, at: float, tolerance: float) -> float:
    """Mass within the tolerance of a time, at a period of 1 s: fine steps, added one by one."""
    total, steps = 0.0, 200
    for bin, value in enumerate(values):
        first, last = bin * stride, min((bin + 1) * stride, samples)
        width = last - first
        places = first - 0.5 + (np.arange(steps) + 0.5) / steps * width
        total += value * np.mean(np.abs(places - at) < tolerance)
    return min(1.0, total)
