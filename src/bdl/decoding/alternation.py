"""Alternation: the best sequence in which onset and offset of a kind take turns.

Of all subsets of the candidates that are strictly increasing in time and never repeat a type, the
one with the largest total score, found exactly by dynamic programming in one pass. It may start
and end with either type, for a recording may begin or end inside an interval. Of equal totals the
one with fewer events, then the one whose last event is earlier (an onset before an offset of the
same time), and so on from the end backwards.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bdl.decoding.detections import ByType, Detections, check_intervals
from bdl.events import IntervalType

Floats = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]


def best_alternation(onset: Detections, offset: Detections) -> tuple[Detections, Detections]:
    """The best alternating choice among onsets and offsets, each in order of time.

    >>> onset = Detections(np.array([0.0, 1.0, 5.0]), np.array([0.2, 0.9, 0.5]))
    >>> offset = Detections(np.array([3.0, 4.0]), np.array([0.3, 0.4]))
    >>> [one.time.tolist() for one in best_alternation(onset, offset)]
    [[1.0, 5.0], [4.0]]
    """
    keep_onset, keep_offset = _alternate(onset.time, onset.score, offset.time, offset.score)
    return onset.pick(keep_onset), offset.pick(keep_offset)


def alternate(found: ByType, intervals: tuple[IntervalType, ...]) -> ByType:
    """Alternation within every interval type; types that belong to none are left as they are."""
    check_intervals(intervals, found, "alternation")
    out = dict(found)
    for one in intervals:
        out[one.onset], out[one.offset] = best_alternation(found[one.onset], found[one.offset])
    return out


@njit(cache=True)
def _alternate(
    onset_time: Floats, onset_score: Floats, offset_time: Floats, offset_score: Floats
) -> tuple[Mask, Mask]:
    # Candidates are numbered onsets first, then offsets; -1 is the empty sequence. A state (one
    # an end type) is the best sequence ending in that type: its total, length and last candidate.
    n, m = len(onset_time), len(offset_time)
    previous = np.full(n + m, -1, np.int64)
    total = np.zeros(2)
    length = np.zeros(2, np.int64)
    last = np.full(2, -1, np.int64)
    i = j = 0
    while i < n or j < m:
        if j >= m:
            now = onset_time[i]
        elif i >= n:
            now = offset_time[j]
        else:
            now = min(onset_time[i], offset_time[j])
        # What ended before this moment: candidates of one time never follow each other.
        total_then, length_then, last_then = total.copy(), length.copy(), last.copy()
        while i < n and onset_time[i] == now:
            value, size = total_then[1] + onset_score[i], length_then[1] + 1
            if value > total[0] or (value == total[0] and size < length[0]):
                total[0], length[0], last[0], previous[i] = value, size, i, last_then[1]
            i += 1
        while j < m and offset_time[j] == now:
            value, size = total_then[0] + offset_score[j], length_then[0] + 1
            if value > total[1] or (value == total[1] and size < length[1]):
                total[1], length[1], last[1], previous[n + j] = value, size, n + j, last_then[0]
            j += 1
    keep_onset, keep_offset = np.zeros(n, np.bool_), np.zeros(m, np.bool_)
    end = 0
    if total[1] > total[0] or (total[1] == total[0] and length[1] < length[0]):
        end = 1
    elif total[1] == total[0] and length[1] == length[0] and last[0] >= 0:
        end = 0 if onset_time[last[0]] <= offset_time[last[1] - n] else 1
    at = last[end]
    while at >= 0:
        if at < n:
            keep_onset[at] = True
        else:
            keep_offset[at - n] = True
        at = previous[at]
    return keep_onset, keep_offset
