"""The search of the expected-AP decoder: best bin first, local updates.

Of bins with equal scores the one that held more mass (a sample) at the start is taken, then the
earlier: windows wider than a bin often tie, and the density's own peak is the better guess.

Taking a detection changes residual masses only within its windows, and scores only within twice
that. So detections further apart do not see each other, and a bin that is the best of all within
reach may be taken at once: nothing in reach can come before it, since scores never grow. The
search goes along the bins and climbs from each to the best one in reach until it stands on such a
bin; what was taken is put in order at the end. The result is that of taking the best bin of the
whole recording again and again; the work is linear in bins, and what it touches lies together.

A bin's mass is held as so much a sample, an integer in units of 2**-40, so that the mass inside
any stretch of samples is an exact integer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

UNIT = 1 << 40

Ints = NDArray[np.int64]
Masses = NDArray[np.floating[Any]]
Flags = NDArray[np.bool_]


def take(
    values: Masses,
    windows: Ints,
    *,
    stride: int,
    samples: int,
    least: int,
    distance: int,
) -> tuple[Ints, NDArray[np.float64]]:
    """Bins taken, in order, and the score of each.

    Parameters
    ----------
    values : (bins,) mass of each bin.
    windows : (tolerances,) twice the tolerance in samples: a sample is inside a bin's window when
        twice its distance to the bin's centre is below it.
    stride, samples : samples a bin and in all.
    least : least score, as a sum over tolerances in units of 2**-40; at least 1.
    distance : two bins taken have centres at least so many samples apart; 0 lets one be taken
        again while it holds mass.

    >>> values = np.array([0.0, 1.5, 0.0], np.float32)
    >>> taken = take(values, np.array([1]), stride=1, samples=3, least=1, distance=0)
    >>> [part.tolist() for part in taken]
    [[1, 1], [1.0, 0.5]]
    """
    masses = per_sample(values, windows, stride=stride, samples=samples)
    bins, scores = _take(masses, windows, stride, samples, max(1, least), distance)
    order = np.lexsort((bins, -masses[bins], -scores))
    return bins[order], scores[order] / (UNIT * len(windows))


def per_sample(values: Masses, windows: Ints, *, stride: int, samples: int) -> Ints:
    """Mass of each bin a sample, in units of 2**-40, rounded down.

    A bin's mass is capped (at thousands of units for any real window) where sums over a window
    could leave 63 bits.

    >>> per_sample(np.array([1.0, 1.0]), np.array([3]), stride=2, samples=3) / UNIT
    array([0.5, 1. ])
    """
    edges = np.minimum(np.arange(len(values) + 1) * stride, samples)
    most = float((1 << 61) // max(stride, int(windows.max()) + 1))
    share = values.astype(np.float64) * UNIT / np.maximum(np.diff(edges), 1)
    return np.minimum(share, most).astype(np.int64)


@njit(cache=True)
def _reach(b: int, window: int, stride: int, samples: int) -> tuple[int, int]:
    """First sample inside the window around a bin's centre, and the first one after it."""
    begin = b * stride
    end = min(begin + stride, samples)
    first = (begin + end - 1 - window + 2) // 2
    after = (begin + end - 1 + window + 1) // 2
    return max(first, 0), min(after, samples)


@njit(cache=True)
def _fill(
    begin: int,
    end: int,
    window: int,
    stride: int,
    samples: int,
    mass: Ints,
    prefix: Ints,
    base: int,
    inside: Ints,
    score: Ints,
) -> None:
    """What the windows of bins begin to end - 1 hold, and their scores, brought up to date.

    ``prefix[i]`` is the mass of bins base to base + i - 1. A whole bin's window begins and ends at
    the same distance from the bin; only a partial last bin is a case of its own.
    """
    bins = len(mass)
    first, after = (stride + 1 - window) // 2, (stride + window) // 2
    low_bin, high_bin = first // stride, after // stride
    low_rest, high_rest = first - low_bin * stride, after - high_bin * stride
    for b in range(begin, end):
        low, low_part, high, high_part = b + low_bin, low_rest, b + high_bin, high_rest
        if (b + 1) * stride > samples:
            first, after = _reach(b, window, stride, samples)
            low, high = first // stride, after // stride
            low_part, high_part = first - low * stride, after - high * stride
        if low < 0:
            low, low_part = 0, 0
        if high >= bins or high * stride + high_part > samples:
            high, high_part = bins, 0
        now = 0
        if low * stride + low_part < high * stride + high_part:
            now = prefix[high - base] - prefix[low - base] - mass[low] * low_part
            if high_part:
                now += mass[high] * high_part
        score[b] += min(UNIT, now) - min(UNIT, inside[b])
        inside[b] = now


@njit(cache=True)
def _remove(
    b: int, window: int, stride: int, samples: int, mass: Ints, inside: int
) -> tuple[int, int]:
    """Take one unit, or what there is, out of a window; the first and last bin changed."""
    first, after = _reach(b, window, stride, samples)
    low, high = first // stride, (after - 1) // stride
    share = 1.0 if inside <= UNIT else UNIT / inside
    for i in range(low, high + 1):
        begin, end = i * stride, min((i + 1) * stride, samples)
        within = mass[i] * (min(end, after) - max(begin, first))
        gone = within if inside <= UNIT else int(within * share)
        mass[i] = (mass[i] * (end - begin) - gone) // (end - begin)
    return low, high


@njit(cache=True)
def _best(b: int, reach: int, score: Ints, start: Ints, barred: Flags) -> int:
    """The bin to be taken first of those in reach of b, which may be taken itself."""
    best = b
    for i in range(max(b - reach, 0), min(b + reach + 1, len(score))):
        if barred[i] or score[i] < score[best]:
            continue
        if (
            score[i] > score[best]
            or start[i] > start[best]
            or (start[i] == start[best] and i < best)
        ):
            best = i
    return best


@njit(cache=True)
def _take(
    start: Ints, windows: Ints, stride: int, samples: int, floor: int, distance: int
) -> tuple[Ints, Ints]:
    """Bins taken and their scores, in no order."""
    bins, kinds = len(start), len(windows)
    mass = np.empty((kinds, bins), np.int64)
    inside = np.zeros((kinds, bins), np.int64)
    score = np.zeros(bins, np.int64)
    prefix = np.zeros(bins + 1, np.int64)
    for i in range(bins):
        length = min((i + 1) * stride, samples) - i * stride
        prefix[i + 1] = prefix[i] + start[i] * length
    for k in range(kinds):
        mass[k] = start
        _fill(0, bins, windows[k], stride, samples, start, prefix, 0, inside[k], score)

    barred = np.zeros(bins, np.bool_)
    reach = max(2 * (_half(windows.max(), stride) + 1), distance // stride + 1)
    climb = np.empty(64, np.int64)
    taken = np.empty(64, np.int64)
    scores = np.empty(64, np.int64)
    count = 0
    for foot in range(bins):
        climb[0], height = foot, 1
        while height:
            b = climb[height - 1]
            if score[b] < floor or barred[b]:
                height -= 1
                continue
            best = _best(b, reach, score, start, barred)
            if best != b:
                if height == len(climb):
                    climb = np.concatenate((climb, np.empty_like(climb)))
                climb[height] = best
                height += 1
                continue
            if count == len(taken):
                taken = np.concatenate((taken, np.empty_like(taken)))
                scores = np.concatenate((scores, np.empty_like(scores)))
            taken[count], scores[count] = b, score[b]
            count += 1
            for k in range(kinds):
                if inside[k, b] > 0:
                    low, high = _remove(b, windows[k], stride, samples, mass[k], inside[k, b])
                    _refresh(
                        low, high, windows[k], stride, samples, mass[k], inside[k], score, prefix
                    )
            if distance:
                _bar(b, distance, stride, samples, barred)
    return taken[:count].copy(), scores[:count].copy()


@njit(cache=True)
def _half(window: int, stride: int) -> int:
    """Most bins between a bin and the last one that its window touches."""
    return int((window // 2 + stride) // stride + 1)


@njit(cache=True)
def _refresh(
    low: int,
    high: int,
    window: int,
    stride: int,
    samples: int,
    mass: Ints,
    inside: Ints,
    score: Ints,
    prefix: Ints,
) -> None:
    """Bring what windows hold, and scores, up to date after bins low to high changed."""
    reach = _half(window, stride)
    begin, end = max(low - reach, 0), min(high + reach + 1, len(mass))
    base, stop = max(begin - reach, 0), min(end + reach, len(mass))
    prefix[0] = 0
    for i in range(base, stop):
        length = min((i + 1) * stride, samples) - i * stride
        prefix[i - base + 1] = prefix[i - base] + mass[i] * length
    _fill(begin, end, window, stride, samples, mass, prefix, base, inside, score)


@njit(cache=True)
def _bar(b: int, distance: int, stride: int, samples: int, barred: Flags) -> None:
    """No bin whose centre is nearer than so many samples may be taken any more."""
    centre = b * stride + min((b + 1) * stride, samples) - 1
    reach = distance // stride + 1
    for i in range(max(b - reach, 0), min(b + reach + 1, len(barred))):
        other = i * stride + min((i + 1) * stride, samples) - 1
        if abs(other - centre) < 2 * distance:
            barred[i] = True
