"""From scored onsets and offsets to intervals (start, end, score).

Every interval starts at an onset and ends at a later offset of its kind; intervals do not overlap.
Of all such choices that respect the limits, the one with the largest total score, the score of an
interval being the sum of its two events' scores, is found exactly by dynamic programming. Limits:
a duration from ``min_duration`` to ``max_duration``, and at least ``min_gap`` from one interval's
end to the next one's start (all in seconds, all inclusive). Of equal totals the one found first,
going through offsets and then onsets in order of time, is kept.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit
from numpy.typing import NDArray

from bdl.errors import ConfigError, InputError
from bdl.events import Events, IntervalType

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Interval:
    """One interval of a recording, in seconds from its start.

    >>> Interval("night", "sleep", start=3.0, end=9.0, score=1.0).end
    9.0
    """

    recording: str
    name: str
    start: float
    end: float
    score: float


def pair(
    events: Events,
    intervals: tuple[IntervalType, ...],
    *,
    min_duration: float = 0.0,
    max_duration: float = math.inf,
    min_gap: float = 0.0,
) -> list[Interval]:
    """Intervals from events, by recording, interval type and start.

    Parameters
    ----------
    events : onsets and offsets; without scores each counts 1.
    intervals : which event types belong together; other types are ignored.

    >>> events = Events.of("a", ["onset", "onset", "wakeup"], [0.0, 3.0, 9.0], [0.2, 0.5, 0.5])
    >>> pair(events, (IntervalType("sleep", "onset", "wakeup"),))
    [Interval(recording='a', name='sleep', start=3.0, end=9.0, score=1.0)]
    """
    for name, value in (("min_duration", min_duration), ("min_gap", min_gap)):
        if not (value >= 0 and math.isfinite(value)):
            raise ConfigError(f"{name}: a number of seconds of 0 or more expected, got {value}")
    if not max_duration >= min_duration:
        raise ConfigError(
            f"max_duration ({max_duration} s) must not be below min_duration ({min_duration} s)"
        )
    if not intervals:
        raise ConfigError("pairing needs interval types, to know which event types belong together")
    scores = np.ones(len(events)) if events.score is None else events.score
    if not np.isfinite(scores).all() or (scores < 0).any():
        raise InputError("pairing adds scores: finite scores of 0 or more expected")
    limits = (min_duration, max_duration, min_gap)
    out = []
    for code, recording in enumerate(events.recordings):
        rows = np.flatnonzero(events.recording_code == code)
        for one in intervals:
            sides = []
            for name in (one.onset, one.offset):
                kind = events.types.index(name) if name in events.types else -1
                chosen = rows[events.type_code[rows] == kind]
                chosen = chosen[np.argsort(events.time[chosen], kind="stable")]
                sides.append((events.time[chosen], scores[chosen]))
            (start, first), (end, second) = sides
            for i, j in _chosen(*_best(start, first, end, second, *limits)):
                score = float(first[i] + second[j])
                out.append(Interval(recording, one.name, float(start[i]), float(end[j]), score))
    return out


def _chosen(onset: Ints, before: Ints) -> list[tuple[int, int]]:
    """Onset and offset of each interval of the best total, followed back from its end."""
    chosen = []
    j = len(onset) - 1
    while j > 0:
        if onset[j] < 0:
            j -= 1
        else:
            chosen.append((int(onset[j]), j - 1))
            j = int(before[j])
    return chosen[::-1]


@njit(cache=True)
def _best(
    start: Floats,
    first: Floats,
    end: Floats,
    second: Floats,
    min_duration: float,
    max_duration: float,
    min_gap: float,
) -> tuple[Ints, Ints]:
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
