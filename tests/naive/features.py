"""Features the plain way: numpy on each bin and channel."""

from __future__ import annotations

import numpy as np

FUNCTIONS = {"mean": np.mean, "max": np.max, "min": np.min, "std": np.std}


def bin_features(values, stride, statistics, shift=0.0, scale=1.0, unit=None):
    """Values (bins, columns) and missing flags; shift, scale and unit are per channel."""
    samples, channels = values.shape
    values = values.astype(np.float64)
    for channel in range(channels) if unit is not None else ():
        if unit[channel] > 0:
            values[:, channel] = np.log(1 + np.maximum(values[:, channel], 0) / unit[channel])
    scaled = (values - shift) / scale
    rows, missing = [], []
    for at in range(0, samples, stride):
        row, seen = [], False
        for channel in range(channels):
            part = scaled[at : at + stride, channel]
            part = part[~np.isnan(part)]
            seen |= len(part) > 0
            row += [FUNCTIONS[name](part) if len(part) else 0.0 for name in statistics]
        rows.append(row)
        missing.append(not seen)
    return np.array(rows).reshape(len(rows), channels * len(statistics)), np.array(missing)
