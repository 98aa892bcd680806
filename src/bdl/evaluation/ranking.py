"""The one order in which detections are taken.

By event type, then by decreasing score, then by time, then by input order. Scores are sorted as
integers, digit by digit (a stable radix sort), which is why ties keep the order of input until
their times are looked at. An infinite score is simply the highest or the lowest; -0.0 equals 0.0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.evaluation.compiled import compiled

_SIGN = np.uint64(1 << 63)
_BELOW_SIGN = np.uint64((1 << 63) - 1)
_DIGIT = 11
_BUCKETS = 1 << _DIGIT
_PASSES = 6
_MASK = np.uint64(_BUCKETS - 1)


@compiled
def _descending(bits: np.uint64) -> np.uint64:
    """Integer whose increasing order is the decreasing order of the float with these bits."""
    if bits > _SIGN:
        return bits
    if bits == _SIGN:  # -0.0 ranks as 0.0
        return _BELOW_SIGN
    return _BELOW_SIGN - bits


@compiled
def _radix(keys: NDArray[np.uint64], order: NDArray[np.int32]) -> NDArray[np.int32]:
    """``order`` rearranged so that ``keys`` increase; stable. Both are used up."""
    n = len(keys)
    counts = np.zeros((_PASSES, _BUCKETS), np.int64)
    for i in range(n):
        key = keys[i]
        for p in range(_PASSES):
            counts[p, np.int64((key >> np.uint64(p * _DIGIT)) & _MASK)] += 1
    other_keys = np.empty_like(keys)
    other_order = np.empty_like(order)
    for p in range(_PASSES):
        shift = np.uint64(p * _DIGIT)
        if n == 0 or counts[p, np.int64((keys[0] >> shift) & _MASK)] == n:
            continue  # all keys share this digit, as the low digits of float32 scores do
        place = 0
        for b in range(_BUCKETS):
            held = counts[p, b]
            counts[p, b] = place
            place += held
        for i in range(n):
            digit = np.int64((keys[i] >> shift) & _MASK)
            at = counts[p, digit]
            counts[p, digit] = at + 1
            other_keys[at] = keys[i]
            other_order[at] = order[i]
        keys, other_keys = other_keys, keys
        order, other_order = other_order, order
    return order


@compiled
def _order_ties(
    order: NDArray[np.int32], score: NDArray[np.float64], time: NDArray[np.float64]
) -> None:
    """Put runs of equal score into order of time, in place; stable."""
    n = len(order)
    first = 0
    while first < n:
        last = first + 1
        rising = True
        while last < n and score[order[last]] == score[order[first]]:
            rising = rising and time[order[last - 1]] <= time[order[last]]
            last += 1
        if not rising:
            run = order[first:last].copy()
            times = np.empty(last - first, np.float64)
            for i in range(last - first):
                times[i] = time[run[i]]
            by_time = np.argsort(times, kind="mergesort")
            for i in range(last - first):
                order[first + i] = run[by_time[i]]
        first = last


@compiled
def rank(
    recording: NDArray[np.int32],
    kind: NDArray[np.int32],
    time: NDArray[np.float64],
    score: NDArray[np.float64],
    kinds: int,
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Rows in the order in which they are taken, and where each type begins.

    Parameters
    ----------
    recording, kind : (n,) codes; a row in which either is negative is left out.
    time, score : (n,) seconds and ranking score.
    kinds : number of event types.

    Returns
    -------
    order : (m,) row numbers.
    start : (kinds + 1,) ``order[start[j]:start[j + 1]]`` are the rows of type j.

    >>> zero = np.zeros(4, np.int32)
    >>> rank(zero, zero, np.array([5.0, 3.0, 1.0, 9.0]), np.array([0.5, 0.5, 0.1, 0.9]), 1)[0]
    array([3, 1, 0, 2], dtype=int32)
    """
    order = np.empty(len(score), np.int32)
    kept = 0
    start = np.zeros(kinds + 1, np.int64)
    for i in range(len(score)):
        if recording[i] >= 0 and kind[i] >= 0:
            order[kept] = i
            start[kind[i] + 1] += 1
            kept += 1
    order = order[:kept].copy()
    bits = score.view(np.uint64)
    keys = np.empty(kept, np.uint64)
    for i in range(kept):
        keys[i] = _descending(bits[order[i]])
    order = _radix(keys, order)
    _order_ties(order, score, time)
    for j in range(kinds):
        start[j + 1] += start[j]
    at = start[:-1].copy()
    by_kind = np.empty_like(order)
    for i in range(kept):
        j = kind[order[i]]
        by_kind[at[j]] = order[i]
        at[j] += 1
    return by_kind, start


@compiled
def tie_ends(start: NDArray[np.int64], score: NDArray[np.float64]) -> NDArray[np.int32]:
    """For each ranked row, the row after the last one of the same type and score.

    >>> tie_ends(np.array([0, 3]), np.array([0.9, 0.5, 0.5]))
    array([1, 3, 3], dtype=int32)
    """
    end = np.empty(len(score), np.int32)
    for j in range(len(start) - 1):
        for i in range(start[j + 1] - 1, start[j] - 1, -1):
            tied = i + 1 < start[j + 1] and score[i] == score[i + 1]
            end[i] = end[i + 1] if tied else i + 1
    return end
