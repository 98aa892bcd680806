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
from bdl.intervals import IntervalType

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
    """Alternation within every interval type; types that belong to none are left as they are.

    >>> onsets = Detections(np.array([0.0, 1.0]), np.array([0.2, 0.9]))
    >>> offsets = Detections(np.array([3.0]), np.array([0.3]))
    >>> sleep = IntervalType("sleep", "onset", "wakeup")
    >>> alternate({"onset": onsets, "wakeup": offsets}, (sleep,))["onset"].time.tolist()
    [1.0]
    """
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
    onset_total = offset_total = 0.0
    onset_size = offset_size = 0
    onset_last = offset_last = -1
    i = j = 0
    while i < n or j < m:
        now = (
            onset_time[i]
            if j >= m or (i < n and onset_time[i] <= offset_time[j])
            else (offset_time[j])
        )
        # What ended before this moment: candidates of one time never follow each other.
        before_total, before_size, before_last = onset_total, onset_size, onset_last
        while i < n and onset_time[i] == now:
            total, size = offset_total + onset_score[i], offset_size + 1
            if total > onset_total or (total == onset_total and size < onset_size):
                onset_total, onset_size, onset_last = total, size, i
                previous[i] = offset_last
            i += 1
        while j < m and offset_time[j] == now:
            total, size = before_total + offset_score[j], before_size + 1
            if total > offset_total or (total == offset_total and size < offset_size):
                offset_total, offset_size, offset_last = total, size, n + j
                previous[n + j] = before_last
            j += 1
    keep_onset, keep_offset = np.zeros(n, np.bool_), np.zeros(m, np.bool_)
    at = onset_last
    if (
        offset_total > onset_total
        or (offset_total == onset_total and offset_size < onset_size)
        or (
            offset_total == onset_total
            and offset_size == onset_size
            and onset_last >= 0
            and offset_time[offset_last - n] < onset_time[onset_last]
        )
    ):
        at = offset_last
    while at >= 0:
        if at < n:
            keep_onset[at] = True
        else:
            keep_offset[at - n] = True
        at = previous[at]
    return keep_onset, keep_offset
