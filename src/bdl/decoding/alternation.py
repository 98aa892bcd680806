"""Alternation: the best sequence in which the onsets and offsets of an interval type alternate.

Of all subsets of the candidates that are strictly increasing in time and never repeat a type, the
one with the largest total score is found exactly, by dynamic programming in one pass. It may start
and end with either type, since a recording may start or end inside an interval. Ties: of equal
totals the one with fewer events is kept, then the one whose last event is earlier (an onset before
an offset of the same time), and so on from the end backwards.
"""

from __future__ import annotations

import numpy as np

from bdl.arrays import AnyFloats, Flags
from bdl.compiled import compiled
from bdl.decoding.candidates import ByType, Candidates
from bdl.errors import ConfigError
from bdl.intervals import IntervalType


def best_alternation(onsets: Candidates, offsets: Candidates) -> tuple[Candidates, Candidates]:
    """The best alternating choice among onsets and offsets, each in order of time."""
    keep_onset, keep_offset = _alternate(onsets.time, onsets.score, offsets.time, offsets.score)
    return onsets.select(keep_onset), offsets.select(keep_offset)


def alternate(candidates: ByType, intervals: tuple[IntervalType, ...]) -> ByType:
    """Alternation within every interval type; event types that belong to none are not changed."""
    if not intervals:
        raise ConfigError("alternation needs interval types, to know which event types alternate")
    alternating = dict(candidates)
    for interval in intervals:
        alternating[interval.onset], alternating[interval.offset] = best_alternation(
            candidates[interval.onset], candidates[interval.offset]
        )
    return alternating


@compiled(small_in_python=True)
def _alternate(
    onset_time: AnyFloats, onset_score: AnyFloats, offset_time: AnyFloats, offset_score: AnyFloats
) -> tuple[Flags, Flags]:
    # Candidates are numbered onsets first, then offsets; -1 is the empty sequence. The state is,
    # for each type, the best sequence that ends in it: its total, length and last candidate.
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
        # The state before this time, since candidates of the same time never follow each other.
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
