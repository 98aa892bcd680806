"""The search of the expected-AP decoder: best bin first, with local updates.

Of bins with equal scores the one that had more mass (per sample) at the start is taken, then the
earlier: windows wider than a bin often have equal scores, and the peak of the density is the better
guess.

Taking a detection changes residual masses only within its windows, and scores only within twice
that distance. So detections further apart do not affect each other, and a bin that is the best of
all within reach can be taken at once: no bin in reach can come before it, since scores never
increase. The search visits the bins in order and climbs from each to the best one in reach until
it arrives at such a bin; the detections are sorted at the end. The result is that of taking the
best bin of the whole recording again and again; the work is linear in the number of bins, and the
memory it accesses is local.

The mass of a bin is stored per sample, as an integer in units of 2**-40, so that the mass inside
any range of samples is an exact integer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Flags, Floats, Longs
from bdl.compiled import compiled
from bdl.decoding.candidates import steps

UNIT = 1 << 40
CHUNK = 4096  # detections per call of the compiled search

Masses = NDArray[np.floating[Any]]


def take(
    values: Masses, windows: Longs, *, stride: int, samples: int, least: int, distance: int
) -> tuple[Longs, Floats]:
    """Bins that are taken, in order, and the score of each.

    ``windows`` are twice the tolerances in samples: a sample is inside the window of a bin when
    twice its distance to the centre is below it. ``least`` is the least score, as a sum over
    tolerances in units of 2**-40, at least 1. ``distance`` is the least distance between the
    centres of two taken bins in samples; at 0 a bin can be taken again while it has mass.
    """
    start = per_sample(values, windows, stride=stride, samples=samples)
    bins = len(start)
    residual = np.repeat(start[None], len(windows), axis=0)
    state = SearchState(
        windows=windows,
        widths=(windows // 2 + stride) // stride + 1,
        stride=stride,
        samples=samples,
        start=start,
        residual=residual,
        inside=np.zeros_like(residual),
        score=np.zeros(bins, np.int64),
        prefix=np.zeros(bins + 1, np.int64),
        blocked=np.zeros(bins, np.bool_),
        path=np.empty(bins + 1, np.int64),
    )
    reach = max(2 * (int(state.widths.max()) + 1), distance // stride + 1)
    taken, scores = np.empty(CHUNK, np.int64), np.empty(CHUNK, np.int64)
    parts = [(taken[:0], scores[:0])]
    position = 0
    while position < bins:
        position, count = _search(state, position, reach, max(1, least), distance, taken, scores)
        parts.append((taken[:count].copy(), scores[:count].copy()))
    all_bins, all_scores = (np.concatenate(column) for column in zip(*parts, strict=True))
    order = np.lexsort((all_bins, -start[all_bins], -all_scores))
    return all_bins[order], all_scores[order] / (UNIT * len(windows))


def doubled_windows(period: float, tolerances: Sequence[float]) -> Longs:
    """Twice each tolerance in samples, rounded up.

    Bin centres are on samples or halfway between, so distances are multiples of half a sample;
    those below the tolerance are inside.
    """
    return np.array([steps(2 * tolerance, period) for tolerance in tolerances], np.int64)


def per_sample(values: Masses, windows: Longs, *, stride: int, samples: int) -> Longs:
    """Mass of each bin (its row of values) per sample, in units of 2**-40, rounded down.

    The mass of a bin is limited (to thousands of units for any real window) where sums over a
    window could exceed 63 bits.
    """
    edges = np.minimum(np.arange(len(values) + 1) * stride, samples)
    most = float((1 << 61) // max(stride, int(windows.max()) + 1))
    lengths = np.maximum(np.diff(edges), 1).reshape(-1, *[1] * (values.ndim - 1))
    share = values.astype(np.float64) * UNIT / lengths
    return np.minimum(share, most).astype(np.int64)


class SearchState(NamedTuple):
    """Arrays that the search reads and changes; masses and scores in units of 2**-40."""

    windows: Longs  # (tolerances,) twice the tolerance in samples
    widths: Longs  # (tolerances,) most bins between a bin and the last one its window touches
    stride: int
    samples: int
    start: Longs  # (bins,) mass per sample at the start
    residual: Longs  # (tolerances, bins) mass per sample that is left
    inside: Longs  # (tolerances, bins) mass inside the window of each bin
    score: Longs  # (bins,) sum over tolerances of the mass inside, each at most one unit
    prefix: Longs  # (bins + 1,) memory for sums of masses
    blocked: Flags | Longs  # (bins,) too close to a bin that was taken
    path: Longs  # (bins + 1,) memory for the bins of a climb


@compiled
def _search(
    state: SearchState,
    position: int,
    reach: int,
    least: int,
    distance: int,
    taken: Longs,
    scores: Longs,
) -> tuple[int, int]:
    """Take detections until ``taken`` is full; where to continue, and how many were taken."""
    start, score, blocked, path = state.start, state.score, state.blocked, state.path
    bins, count = len(start), 0
    if position == 0:
        for k in range(len(state.windows)):
            update(state, k, 0, bins - 1)
    for first in range(position, bins):
        path[0], height = first, 1
        while height > 0:
            here = path[height - 1]
            if score[here] < least or blocked[here]:
                height -= 1
                continue
            best = here
            for b in range(max(here - reach, 0), min(here + reach + 1, bins)):
                if blocked[b] or score[b] < score[best]:
                    continue
                if (
                    score[b] > score[best]
                    or start[b] > start[best]
                    or (start[b] == start[best] and b < best)
                ):
                    best = b
            if best != here:
                # Scores change as detections are taken, so that a path can visit a bin twice. One
                # that is full starts again: from there it visits no bin twice before the next.
                height = height if height < len(path) else 1
                path[height] = best
                height += 1
                continue
            if count == len(taken):
                return first, count
            taken[count], scores[count] = here, score[here]
            count += 1
            take_bin(state, here, distance)
    return bins, count


@compiled
def take_bin(state: SearchState, c: int, distance: int) -> None:
    """Remove the mass of a detection, and block the bins that are too close to it."""
    stride, samples = state.stride, state.samples
    for k in range(len(state.windows)):
        if state.inside[k, c] > 0:
            low, high = _remove(state, k, c)
            update(state, k, low, high)
    if distance > 0:
        centre = 2 * c * stride + min(stride, samples - c * stride)
        away = distance // stride + 1
        for b in range(max(c - away, 0), min(c + away + 1, len(state.blocked))):
            other = 2 * b * stride + min(stride, samples - b * stride)
            if abs(other - centre) < 2 * distance:
                state.blocked[b] = True


@compiled
def _remove(state: SearchState, k: int, b: int) -> tuple[int, int]:
    """Remove one unit, or all where there is less, from a window; its first and last bin."""
    stride, samples, residual = state.stride, state.samples, state.residual
    first, after = _span(b, state.windows[k], stride, samples)
    low, high = first // stride, (after - 1) // stride
    total = state.inside[k, b]
    share = UNIT / total
    for i in range(low, high + 1):
        begin, end = i * stride, min((i + 1) * stride, samples)
        removed = residual[k, i] * (min(end, after) - max(begin, first))
        if total > UNIT:
            removed = int(removed * share)
        residual[k, i] = (residual[k, i] * (end - begin) - removed) // (end - begin)
    return low, high


@compiled
def update(state: SearchState, k: int, low: int, high: int) -> None:
    """Update the masses inside windows, and scores, after the bins low to high have changed."""
    stride, samples, residual = state.stride, state.samples, state.residual
    score, prefix = state.score, state.prefix
    bins, window, width = len(score), state.windows[k], state.widths[k]
    begin, end = max(low - width, 0), min(high + width + 1, bins)
    # prefix[i] is the mass of the bins base to base + i - 1.
    base, stop = max(begin - width, 0), min(end + width, bins)
    prefix[0] = 0
    for i in range(base, stop):
        length = min(stride, samples - i * stride)
        prefix[i - base + 1] = prefix[i - base] + residual[k, i] * length
    # The window of a whole bin starts and ends at the same distance from the bin.
    first, after = (stride + 1 - window) // 2, (stride + window) // 2
    low_bins, high_bins = first // stride, after // stride
    low_rest, high_rest = first - low_bins * stride, after - high_bins * stride
    for b in range(begin, end):
        low, low_part, high, high_part = b + low_bins, low_rest, b + high_bins, high_rest
        if (b + 1) * stride > samples:  # only the last bin can be partial
            first, after = _span(b, window, stride, samples)
            low, high = first // stride, after // stride
            low_part, high_part = first - low * stride, after - high * stride
        if low < 0:
            low, low_part = 0, 0
        if high >= bins or high * stride + high_part > samples:
            high, high_part = bins, 0
        mass = 0
        if low * stride + low_part < high * stride + high_part:
            mass = prefix[high - base] - prefix[low - base] - residual[k, low] * low_part
            if high_part > 0:
                mass += residual[k, high] * high_part
        score[b] += min(UNIT, mass) - min(UNIT, state.inside[k, b])
        state.inside[k, b] = mass


@compiled
def _span(b: int, window: int, stride: int, samples: int) -> tuple[int, int]:
    """First sample inside the window around the centre of a bin, and the first one after it."""
    begin = b * stride
    end = min(begin + stride, samples)
    first = (begin + end - 1 - window + 2) // 2
    after = (begin + end - 1 + window + 1) // 2
    return max(first, 0), min(after, samples)
