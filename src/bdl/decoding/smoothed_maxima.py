"""Local maxima of a smoothed density, block by block, without building the raw timeline.

The filter is that of `bdl.decoding.smoothing`. A block of bins is smoothed at all places within
its bins, a few thousand numbers that stay in the cache, and compared with its neighbours in time
at once.
"""

from __future__ import annotations

import numpy as np

from bdl.arrays import Flags, Floats, Longs
from bdl.compiled import compiled
from bdl.decoding.smoothing import BLOCK, Side, polyphase_filter, smooth_block

Places = Longs


def smoothed_maxima(
    values: Floats, sigma: float, *, stride: int, samples: int, side: Side = "centred"
) -> tuple[Places, Floats]:
    """Middle places (samples) and heights of the local maxima of the smoothed values.

    The parameters are those of `bdl.decoding.smoothing.smooth`, with sigma above 0.
    """
    if len(values) == 0:
        return np.zeros(0, np.int64), np.zeros(0)
    filter = polyphase_filter(values, sigma, stride=stride, samples=samples, side=side)
    block = int(np.clip((1 << 20) // (2 * filter.reach + 1), 16, BLOCK))
    rise, rows = filter.buffers(block + 2)
    peaks, any_peak = np.empty(rows.shape, np.bool_), np.empty(block + 2, np.bool_)
    # Smoothing leaves fewer maxima than bins, except for rounding: memory for the worst case is
    # rarely needed, and slow to get.
    for most in (len(values), samples):
        places, heights = np.empty(most + stride, np.int64), np.empty(most + stride)
        count = _scan(
            filter.padded, filter.weights, filter.end, samples, block, rise, rows, peaks, any_peak,
            places, heights,
        )  # fmt: skip
        if count >= 0:
            break
    return places[:count].copy(), heights[:count].copy()


@compiled
def _scan(
    padded: Floats,
    weights: Floats,
    end: Floats,
    samples: int,
    block: int,
    rise: Floats,
    rows: Floats,
    peaks: Flags,
    any_peak: Flags,
    places: Places,
    heights: Floats,
) -> int:
    """Write all maxima to ``places`` and ``heights``; their number, or -1 if there is no room."""
    stride, bins = len(weights), len(padded) - weights.shape[1] - 1
    number = 0
    # A flat top that reaches the end of a block continues in the next: its start and its height.
    flat_start, flat_height = -1, 0.0
    for begin in range(0, bins, block):
        # One more bin on each side gives every sample its neighbours: column i is bin
        # begin - 1 + i.
        count = min(block, bins - begin)
        stop = min((begin + count) * stride, samples)
        smooth_block(padded, weights, begin, count + 2, rise, rows)
        from_end = max(samples - len(end), (begin - 1) * stride)
        for s in range(from_end, min(samples, (begin + count + 1) * stride)):
            rows[s % stride, s // stride - begin + 1] = end[s - samples + len(end)]
        _flag_peaks(rows, peaks, any_peak, count)

        if flat_start >= 0:
            last = _flat_end(rows, flat_height, begin * stride, stop, begin)
            if last < stop:
                if rows[last % stride, last // stride - begin + 1] < flat_height:
                    places[number], heights[number] = (flat_start + last - 1) // 2, flat_height
                    number += 1
                flat_start = -1
        for i in range(1, count + 1):
            if not any_peak[i]:
                continue
            if number + stride >= len(places):
                return -1
            for place in range(stride):
                first = (begin - 1 + i) * stride + place
                if not peaks[place, i] or first < 1 or first >= samples - 1:
                    continue
                height = rows[place, i]
                later = rows[place + 1, i] if place + 1 < stride else rows[0, i + 1]
                if later < height:
                    places[number], heights[number] = first, height
                    number += 1
                    continue
                last = _flat_end(rows, height, first + 1, stop, begin)
                if last == stop:
                    flat_start, flat_height = first, height
                elif rows[last % stride, last // stride - begin + 1] < height:
                    places[number], heights[number] = (first + last - 1) // 2, height
                    number += 1
    return number


@compiled
def _flag_peaks(rows: Floats, peaks: Flags, any_peak: Flags, count: int) -> None:
    """Flag values above the sample before and not below the next, in the columns 1 to count.

    ``any_peak`` says which columns have a flag.
    """
    # Slices of equal length, indexed alike, let the compiler do many comparisons at once.
    stride = len(rows)
    any_flag = any_peak[1 : 1 + count]
    for i in range(count):
        any_flag[i] = False
    for place in range(stride):
        back, ahead = (0 if place == 0 else 1), (2 if place + 1 == stride else 1)
        here, flags = rows[place][1 : 1 + count], peaks[place][1 : 1 + count]
        earlier = rows[place - 1][back : back + count]
        later = rows[(place + 1) % stride][ahead : ahead + count]
        for i in range(count):
            flags[i] = (here[i] > earlier[i]) & (here[i] >= later[i])
        for i in range(count):
            any_flag[i] |= flags[i]


@compiled
def _flat_end(rows: Floats, height: float, last: int, stop: int, begin: int) -> int:
    """The first sample from ``last`` on, before ``stop``, that does not have this height."""
    stride = len(rows)
    while last < stop and rows[last % stride, last // stride - begin + 1] == height:
        last += 1
    return last
