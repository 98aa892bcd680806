"""Slow, obviously right versions of what `bdl.decoding` does."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, pairwise, product
from math import ceil, floor
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks

from bdl.decoding import decode
from bdl.density import Density
from bdl.evaluation import match
from bdl.events import Events
from bdl.intervals import IntervalType

Array = NDArray[Any]


def expanded(values: Array, stride: int, samples: int) -> Array:
    """Every bin's value over the bin's samples."""
    return np.repeat(np.asarray(values, np.float64), stride)[:samples]


def paper_peaks(
    values: Array, *, stride: int, samples: int, sigma: float, distance: int, threshold: float
) -> tuple[Array, Array]:
    """Peaks as the paper finds them: expand, smooth, ``find_peaks``; places and heights."""
    raw = expanded(values, stride, samples)
    if sigma > 0:
        raw = gaussian_filter1d(raw, sigma)
    places, properties = find_peaks(raw, height=threshold, distance=max(distance, 1))
    return places, properties["peak_heights"]


def trailing(values: Array, sigma: float) -> Array:
    """Trailing Gaussian mean per sample; the first value is repeated before the start."""
    reach = int(4 * sigma + 0.5)
    weights = [float(np.exp(-0.5 * (k / sigma) ** 2)) for k in range(reach + 1)]
    out = []
    for s in range(len(values)):
        parts = [w * float(values[max(s - k, 0)]) for k, w in enumerate(weights)]
        out.append(sum(parts) / sum(weights))
    return np.array(out)


def maxima(values: Sequence[float]) -> list[tuple[int, int]]:
    """First and last place of each run of equal values with lower neighbours on both sides."""
    runs = []
    for i in range(1, len(values) - 1):
        for j in range(i, len(values) - 1):
            if any(values[k] != values[i] for k in range(i, j + 1)):
                break
            if values[i - 1] < values[i] and values[j + 1] < values[i]:
                runs.append((i, j))
    return runs


def separate(places: Sequence[int], heights: Sequence[float], distance: int) -> list[int]:
    """Take the highest that is left, the later of equals; drop all that are too near; repeat."""
    left, chosen = list(range(len(places))), []
    while left:
        best = max(left, key=lambda i: (heights[i], i))
        chosen.append(best)
        left = [i for i in left if i != best and abs(places[i] - places[best]) >= distance]
    return sorted(chosen)


def alternation(onset: list[tuple[int, int]], offset: list[tuple[int, int]]) -> set[int]:
    """Best alternating subset of (time, score) pairs, by trying all; onsets are numbered first."""
    items = [(t, s, 0) for t, s in onset] + [(t, s, 1) for t, s in offset]
    order = sorted(range(len(items)), key=lambda i: (items[i][0], items[i][2], i))
    best, chosen = None, ()
    for size in range(len(items) + 1):
        for subset in combinations(order, size):
            steps = list(pairwise(subset))
            if any(items[a][2] == items[b][2] or items[a][0] >= items[b][0] for a, b in steps):
                continue
            total = sum(items[i][1] for i in subset)
            # Larger total, fewer events, then earlier from the end backwards.
            key = (-total, size, [(items[i][0], items[i][2], i) for i in reversed(subset)])
            if best is None or key < best:
                best, chosen = key, subset
    return set(chosen)


def transitions(
    levels: Sequence[int], *, window: int, scorer: str, level: int, distance: int
) -> tuple[list[tuple[int, int]], list[tuple[int, int]]]:
    """Onsets and offsets as (place, score times window) on a clock of whole levels."""
    n = len(levels)
    window = min(window, n)

    def at(i: int) -> int:
        return levels[-1 - i] if i < 0 else levels[2 * n - 1 - i] if i >= n else levels[i]

    rise = [
        sum(at(s + k) for k in range(window)) - sum(at(s - 1 - k) for k in range(window))
        for s in range(n)
    ]
    out = []
    for sign in (1, -1):
        score = [sign * value for value in rise]
        if scorer == "threshold":
            places = [
                s
                for s in range(1, n)
                if (levels[s] >= level) != (levels[s - 1] >= level)
                and (levels[s] >= level) == (sign > 0)
            ]
        else:
            places = [(a + b) // 2 for a, b in maxima(score)]
        places = [s for s in places if score[s] > 0]
        rows = separate(places, [score[s] for s in places], distance)
        out.append([(places[i], score[places[i]]) for i in rows])
    return out[0], out[1]


def expected_ap(
    values: Array,
    tolerances: Sequence[float],
    *,
    stride: int,
    samples: int,
    threshold: float,
    distance: int,
    most: int,
    unit: int = 1 << 40,
) -> list[tuple[int, float]]:
    """Bins taken and their scores: every score is computed anew for each detection.

    Tolerances are in samples. Masses are whole multiples of 1 / unit, stored per sample.
    """
    bins = len(values)
    members = [range(b * stride, min((b + 1) * stride, samples)) for b in range(bins)]
    centre = [sum(bin_samples) / len(bin_samples) for bin_samples in members]
    start = [floor(float(values[b]) * unit / len(members[b])) for b in range(bins)]
    residual = [list(start) for _ in tolerances]

    def inside(b: int, k: int) -> dict[int, int]:
        near = {}
        for i, bin_samples in enumerate(members):
            count = sum(1 for s in bin_samples if abs(s - centre[b]) < tolerances[k])
            if count:
                near[i] = residual[k][i] * count
        return near

    taken: list[tuple[int, float]] = []
    least = max(1, ceil(threshold * unit * len(tolerances)))
    while len(taken) < most:
        free = [
            b for b in range(bins) if all(abs(centre[b] - centre[t]) >= distance for t, _ in taken)
        ]
        scores = {
            b: sum(min(unit, sum(inside(b, k).values())) for k in range(len(tolerances)))
            for b in free
        }
        best = max(free, key=lambda b: (scores[b], start[b], -b), default=-1)
        if best < 0 or scores[best] < least:
            break
        taken.append((best, scores[best] / (unit * len(tolerances))))
        for k in range(len(tolerances)):
            window = inside(best, k)
            mass = sum(window.values())
            for i, within in window.items():
                gone = within if mass <= unit else int(within * (unit / mass))
                length = len(members[i])
                residual[k][i] = (residual[k][i] * length - gone) // length
    return taken


def pairs(
    onset: list[tuple[int, int]],
    offset: list[tuple[int, int]],
    min_duration: int,
    max_duration: int,
    min_gap: int,
) -> int:
    """Best total score of intervals that do not overlap, by trying all; (time, score) pairs."""
    possible = [
        (a, b, s + t)
        for (a, s), (b, t) in product(onset, offset)
        if a < b and min_duration <= b - a <= max_duration
    ]
    best = 0
    for size in range(1, min(len(onset), len(offset)) + 1):
        for chosen in combinations(sorted(possible), size):
            if all(y[0] - x[1] >= min_gap for x, y in pairwise(chosen)):
                best = max(best, sum(interval[2] for interval in chosen))
    return best


def grid_search(
    densities: Sequence[Density],
    truth: Events,
    settings: Sequence[Any],
    *,
    tolerances: Sequence[float],
    metric: str,
    intervals: tuple[IntervalType, ...],
    event_free: Any,
) -> list[float]:
    """Score of every setting: decode all, match all, read the figure."""
    ids = [density.recording for density in densities]
    out = []
    for decoder in settings:
        events = decode(densities, decoder, intervals)
        matches = match(
            truth,
            events,
            tolerances,
            types=events.types,
            event_free=event_free,
            recordings=ids,
        )
        if metric == "mAP":
            out.append(matches.mean_average_precision())
        elif metric == "mF1":
            out.append(matches.mean_f1())
        else:
            column = list(tolerances).index(float(metric[3:]))
            out.append(float(np.nanmean(matches.average_precision()[:, column])))
    return out
