"""Pairing of scored onsets and offsets with the largest total score.

Every interval starts at an onset and ends at a later offset; intervals do not overlap. Of all such
choices that respect the limits, the one with the largest total score is found exactly by dynamic
programming, the score of an interval being the sum of the scores of its two events. Limits: a
duration from ``min_duration`` to ``max_duration``, and at least ``min_gap`` from the end of an
interval to the start of the next (all in seconds, all inclusive). Of equal totals, the one reached
first is used, going through offsets and then onsets in order of time.
"""

from __future__ import annotations

import math

import numpy as np

from bdl.arrays import Floats, Longs
from bdl.compiled import compiled
from bdl.errors import ConfigError, InputError
from bdl.events import Events

Rows = Longs


def best_pairs(
    events: Events,
    onsets: Rows,
    offsets: Rows,
    min_duration: float,
    max_duration: float,
    min_gap: float,
) -> tuple[Rows, Rows]:
    """Rows of the onsets and offsets of the best intervals, by recording and time."""
    for name, value in (("min_duration", min_duration), ("min_gap", min_gap)):
        if not (value >= 0 and math.isfinite(value)):
            raise ConfigError(f"{name}: a number of seconds of 0 or more expected, got {value}")
    if not max_duration >= min_duration:
        raise ConfigError(
            f"max_duration ({max_duration} s) must not be below min_duration ({min_duration} s)"
        )
    score = np.ones(len(events)) if events.score is None else events.score
    used = score[np.concatenate([onsets, offsets])]
    if not np.isfinite(used).all() or (used < 0).any():
        raise InputError("pairing adds scores: finite scores of 0 or more expected")
    codes = np.arange(len(events.recordings) + 1)
    first = np.searchsorted(events.recording_code[onsets], codes)
    last = np.searchsorted(events.recording_code[offsets], codes)
    pairs: list[tuple[Rows, Rows]] = []
    for code in range(len(events.recordings)):
        starts, ends = onsets[first[code] : first[code + 1]], offsets[last[code] : last[code + 1]]
        if len(starts) and len(ends):
            sides = (events.time[starts], score[starts], events.time[ends], score[ends])
            links = _best(*sides, float(min_duration), float(max_duration), float(min_gap))
            onset, offset = _followed_back(*links)
            pairs.append((starts[onset], ends[offset]))
    none = np.zeros(0, np.int64)
    return (
        np.concatenate([none, *(rows for rows, _ in pairs)]),
        np.concatenate([none, *(rows for _, rows in pairs)]),
    )


def _followed_back(onset: Rows, before: Rows) -> tuple[Rows, Rows]:
    """Onset and offset of each interval of the best total, followed back from its end."""
    chosen: list[tuple[int, int]] = []
    j = len(onset) - 1
    while j > 0:
        if onset[j] < 0:
            j -= 1
        else:
            chosen.append((int(onset[j]), j - 1))
            j = int(before[j])
    both = np.array(chosen[::-1], dtype=np.int64).reshape(-1, 2)
    return both[:, 0], both[:, 1]


@compiled(small_in_python=True)
def _best(
    start: Floats,
    first: Floats,
    end: Floats,
    second: Floats,
    min_duration: float,
    max_duration: float,
    min_gap: float,
) -> tuple[Rows, Rows]:
    """Best total with intervals among the first j offsets: its last onset, and where it goes on.

    ``onset[j]`` is -1 where offset j - 1 ends no interval.
    """
    n, m = len(start), len(end)
    total = np.zeros(m + 1)
    onset = np.full(m + 1, -1, np.int64)
    before = np.zeros(m + 1, np.int64)
    # An onset's value: its score and the best total of what ended min_gap before it. Onsets come
    # into play as offsets pass them by min_duration; a monotone queue drops those out of reach.
    value = np.empty(n)
    link = np.empty(n, np.int64)
    queue = np.empty(n, np.int64)
    head = tail = fresh = 0
    for j in range(1, m + 1):
        total[j] = total[j - 1]
        while fresh < n and start[fresh] < end[j - 1] and end[j - 1] - start[fresh] >= min_duration:
            # Offsets that ended min_gap before this onset are all among those done.
            low, high = 0, j - 1
            while low < high:
                middle = (low + high + 1) // 2
                if start[fresh] - end[middle - 1] >= min_gap:
                    low = middle
                else:
                    high = middle - 1
            value[fresh], link[fresh] = first[fresh] + total[low], low
            while tail > head and value[queue[tail - 1]] < value[fresh]:
                tail -= 1
            queue[tail] = fresh
            tail += 1
            fresh += 1
        while head < tail and end[j - 1] - start[queue[head]] > max_duration:
            head += 1
        if head < tail and value[queue[head]] + second[j - 1] > total[j]:
            i = queue[head]
            total[j], onset[j], before[j] = value[i] + second[j - 1], i, link[i]
    return onset, before
