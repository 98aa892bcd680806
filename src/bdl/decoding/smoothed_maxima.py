"""Local maxima of a smoothed density, block by block, without building the raw timeline.

The filter is that of `bdl.decoding.smoothing`, with the same sums in the same order. A block of
bins is smoothed at all its places, a few thousand numbers that stay in the cache, held folded (a
row for each place within a bin, so that neighbours in memory are treated alike), and compared
with its neighbours in time right away.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bdl.decoding.smoothing import Side, gaussian, mirrored_end, phases

Floats = NDArray[np.float64]
Places = NDArray[np.int64]

BLOCK = 256


def smoothed_maxima(
    values: Floats, sigma: float, *, stride: int, samples: int, side: Side = "centred"
) -> tuple[Places, Floats]:
    """Middle places (samples) and heights of the local maxima of `smooth`'s result.

    The parameters are those of `bdl.decoding.smoothing.smooth`, with sigma above 0.

    >>> lone = np.array([0.0, 0.0, 1.0, 0.0, 0.0])
    >>> places, heights = smoothed_maxima(lone, 1.0, stride=2, samples=10)
    >>> places.tolist(), heights.round(3).tolist()
    ([4], [0.641])
    """
    if len(values) == 0:
        return np.zeros(0, np.int64), np.zeros(0)
    half = gaussian(sigma, side)
    weights, reach = phases(half, stride, side)
    mode = "symmetric" if side == "centred" else "edge"
    padded = np.pad(values, reach + 1, mode=mode)  # type: ignore[call-overload]
    first = samples
    if side == "centred" and samples % stride:
        first = max(0, (samples - len(half)) // stride * stride)
    end = mirrored_end(np.ascontiguousarray(values), half, stride, first, samples)
    block = int(np.clip((1 << 20) // (2 * reach + 1), 16, BLOCK))
    places, heights = _scan(padded, weights, reach, samples, end, block)
    return places, heights


@njit(cache=True)
def _block(
    padded: Floats, weights: Floats, reach: int, begin: int, count: int, rise: Floats, rows: Floats
) -> None:
    """Smoothed values of ``count`` bins, the first of them bin ``begin - 1``, into the rows."""
    here = padded[begin + reach : begin + reach + count]
    for j in range(2 * reach + 1):
        steps, there = rise[j], padded[begin + j : begin + j + count]
        for i in range(count):
            steps[i] = there[i] - here[i]
    for place in range(len(weights)):
        row = rows[place]
        for i in range(count):
            row[i] = here[i]
        for j in range(1, reach + 1):
            after, before = weights[place, reach + j], weights[place, reach - j]
            up, down = rise[reach + j], rise[reach - j]
            for i in range(count):
                row[i] += after * up[i] + before * down[i]


@njit(cache=True)
def _compare(rows: Floats, rising: NDArray[np.bool_], some: NDArray[np.bool_], count: int) -> None:
    """Flag what lies above the sample before and not below the next, in columns 1 to count.

    ``some`` tells which columns have a flag.
    """
    # Slices of one length, indexed alike, let the compiler do many comparisons at once.
    stride = len(rows)
    any_of = some[1 : 1 + count]
    for place in range(stride):
        back, ahead = (0 if place == 0 else 1), (2 if place + 1 == stride else 1)
        here, flags = rows[place][1 : 1 + count], rising[place][1 : 1 + count]
        earlier = rows[place - 1][back : back + count]
        later = rows[(place + 1) % stride][ahead : ahead + count]
        for i in range(count):
            flags[i] = (here[i] > earlier[i]) & (here[i] >= later[i])
        if place == 0:
            for i in range(count):
                any_of[i] = flags[i]
        else:
            for i in range(count):
                any_of[i] |= flags[i]


@njit(cache=True)
def _follow(rows: Floats, height: float, last: int, stop: int, begin: int) -> int:
    """The first sample from ``last`` on, before ``stop``, that is not of this height."""
    stride = len(rows)
    while last < stop and rows[last % stride, last // stride - begin + 1] == height:
        last += 1
    return last


@njit(cache=True)
def _scan(
    padded: Floats, weights: Floats, reach: int, samples: int, end: Floats, block: int
) -> tuple[Places, Floats]:
    stride, bins = len(weights), len(padded) - 2 * (reach + 1)
    rise = np.empty((2 * reach + 1, block + 2))
    rows = np.empty((stride, block + 2))
    rising = np.empty((stride, block + 2), np.bool_)
    some = np.empty(block + 2, np.bool_)
    places, heights = np.empty(samples // 2 + 1, np.int64), np.empty(samples // 2 + 1)
    found = 0
    # A flat top that reached the end of a block goes on in the next: where it began, how high.
    begun, level = -1, 0.0
    for begin in range(0, bins, block):
        # One bin more on each side gives every sample its neighbours: column i is bin
        # begin - 1 + i.
        count = min(block, bins - begin)
        stop = min((begin + count) * stride, samples)
        _block(padded, weights, reach, begin, count + 2, rise, rows)
        for s in range(max(samples - len(end), (begin - 1) * stride), samples):
            if s >= (begin + count + 1) * stride:
                break
            rows[s % stride, s // stride - begin + 1] = end[s - samples + len(end)]
        _compare(rows, rising, some, count)

        if begun >= 0:
            last = _follow(rows, level, begin * stride, stop, begin)
            if last < stop:
                if rows[last % stride, last // stride - begin + 1] < level:
                    places[found], heights[found] = (begun + last - 1) // 2, level
                    found += 1
                begun = -1
        for i in range(1, count + 1):
            if not some[i]:
                continue
            for place in range(stride):
                first = (begin - 1 + i) * stride + place
                if not rising[place, i] or first < 1 or first >= samples - 1:
                    continue
                height = rows[place, i]
                later = rows[place + 1, i] if place + 1 < stride else rows[0, i + 1]
                if later < height:
                    places[found], heights[found] = first, height
                    found += 1
                    continue
                last = _follow(rows, height, first + 1, stop, begin)
                if last == stop:
                    begun, level = first, height
                elif rows[last % stride, last // stride - begin + 1] < height:
                    places[found], heights[found] = (first + last - 1) // 2, height
                    found += 1
    return places[:found].copy(), heights[:found].copy()
