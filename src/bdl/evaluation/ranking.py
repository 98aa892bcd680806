"""The one order in which detections are taken.

By event type, then by decreasing score, then by time, then by input order. An infinite score is
the highest or the lowest; -0.0 equals 0.0. Large tables are sorted by a stable radix sort of the
scores' bits, small ones by `numpy.lexsort`; the order is the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Floats, Ints, Longs
from bdl.compiled import compiled

_SIGN = np.uint64(1 << 63)
_BELOW_SIGN = np.uint64((1 << 63) - 1)
_DIGIT = 11
_BUCKETS = 1 << _DIGIT
_PASSES = 6
_MASK = np.uint64(_BUCKETS - 1)
# Below this number of rows numpy sorts faster than a radix sort, which clears its counters.
_SMALL = 4_000


def rank(
    recording: Ints, kind: Ints, time: Floats, score: Floats, kinds: int
) -> tuple[Ints, Longs]:
    """Rows in the order in which they are taken, and where each type begins.

    ``recording``, ``kind`` (n,) codes of recording and event type; a row in which either is
    negative is left out; ``time``, ``score`` (n,) seconds and ranking score. Returns ``order`` (m,)
    row numbers; ``start`` (kinds + 1,) ``order[start[j]:start[j + 1]]`` are the rows of type j.
    """
    rows = np.flatnonzero((recording >= 0) & (kind >= 0)).astype(np.int32)
    if len(rows) < _SMALL:
        order = rows[np.lexsort((time[rows], -score[rows], kind[rows]))]
        return order, np.append(0, np.cumsum(np.bincount(kind[rows], minlength=kinds)))
    order, start, sorted_in_time = _descending(score, rows, kind, kinds, time)
    if not sorted_in_time:
        by_time, _, _ = _descending(-time, rows, np.zeros_like(kind), 1, time)
        order, start, _ = _descending(score, by_time, kind, kinds, time)
    return order, start


def arrange(group: Longs, time: Floats, groups: int) -> tuple[Longs, Floats]:
    """Times by group and in increasing order: first of each group (groups + 1,), and times."""
    if len(time) < _SMALL:
        start = np.append(0, np.cumsum(np.bincount(group, minlength=groups)))
        return start, time[np.lexsort((time, group))]
    rows = np.arange(len(time), dtype=np.int32)
    order, start, _ = _descending(-time, rows, group.astype(np.int32), groups, time)
    return start, time[order]


def tie_ends(start: Longs, score: Floats) -> Ints:
    """For each ranked row, the row after the last one of the same type and score."""
    end = np.empty(len(score), np.int32)
    _tie_ends(start, score, end)
    return end


@compiled(small_in_python=True)
def _tie_ends(start: Longs, score: Floats, end: Ints) -> None:
    for j in range(len(start) - 1):
        until = start[j + 1]
        for i in range(start[j + 1] - 1, start[j] - 1, -1):
            if i + 1 < until and score[i] != score[i + 1]:
                until = i + 1
            end[i] = until


def _descending(
    key: Floats, rows: Ints, kind: Ints, kinds: int, time: Floats
) -> tuple[Ints, Longs, bool]:
    """Rows by kind and decreasing key, where each kind begins, and whether ties are by time.

    Rows of one kind and key keep their order.
    """
    start = np.zeros(kinds + 1, np.int64)
    order = np.empty((2, len(rows)), np.int32)
    keys = np.empty((2, len(rows)), np.uint64)
    counts = np.zeros((_PASSES, _BUCKETS), np.int64)
    bits = np.ascontiguousarray(key).view(np.uint64)
    ordered, in_time = _sort(
        rows, bits, kind, time, keys[0], keys[1], order[0], order[1], counts, start
    )
    return ordered, start, in_time


@compiled
def _sort(
    rows: Ints,
    bits: NDArray[np.uint64],
    kind: Ints,
    time: Floats,
    now_keys: NDArray[np.uint64],
    new_keys: NDArray[np.uint64],
    now: Ints,
    new: Ints,
    counts: Longs,
    start: Longs,
) -> tuple[Ints, bool]:
    """Radix sort of the keys' bits; all arrays from ``now_keys`` on are overwritten."""
    n = len(rows)
    for i in range(n):
        digits = bits[rows[i]]
        if digits == _SIGN:  # -0.0 ranks as 0.0
            digits = _BELOW_SIGN
        elif digits < _SIGN:
            digits = _BELOW_SIGN - digits
        now_keys[i] = digits
        now[i] = rows[i]
        for p in range(_PASSES):
            counts[p, np.int64((digits >> np.uint64(p * _DIGIT)) & _MASK)] += 1
    for p in range(_PASSES):
        shift = np.uint64(p * _DIGIT)
        if counts[p, np.int64((now_keys[0] >> shift) & _MASK)] == n:
            continue  # all keys share this digit, as the low digits of float32 scores do
        place = 0
        for b in range(_BUCKETS):
            size = counts[p, b]
            counts[p, b] = place
            place += size
        for i in range(n):
            digit = np.int64((now_keys[i] >> shift) & _MASK)
            at = counts[p, digit]
            counts[p, digit] = at + 1
            new_keys[at] = now_keys[i]
            new[at] = now[i]
        now_keys, new_keys = new_keys, now_keys
        now, new = new, now
    in_time = True
    for i in range(1, n):
        if now_keys[i] == now_keys[i - 1] and time[now[i]] < time[now[i - 1]]:
            in_time = False
    # Kind by kind: start[j + 1] is where the next row of kind j goes, and in the end its stop.
    for i in range(n):
        j = kind[now[i]] + 2
        if j < len(start):
            start[j] += 1
    for j in range(2, len(start)):
        start[j] += start[j - 1]
    for i in range(n):
        j = kind[now[i]] + 1
        new[start[j]] = now[i]
        start[j] += 1
    return new, in_time
