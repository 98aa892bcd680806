"""Pairing: intervals from onset and offset events.

Three rules say which events belong together, each within one recording and interval type:

- ``adjacent`` (annotations, the sleep benchmark's convention): an onset and the next endpoint make
  an interval if that endpoint is an offset. At equal times the offset comes first. Any other
  endpoint belongs to no interval.
- ``in-order`` (files of intervals, where nothing may be lost): the k-th onset belongs to the k-th
  offset, so intervals may overlap. Different numbers of onsets and offsets are an error.
- ``best`` (detections): of all sequences of intervals that do not overlap and respect the limits
  of duration and gap, the one with the largest total score, which is found exactly by dynamic
  programming. The score of an interval is the sum of the scores of its two events. Of equal
  totals, the one reached first is used, going through offsets and then onsets in order of time.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from bdl.arrays import Flags, Floats, Longs
from bdl.compiled import compiled
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.intervals import Intervals, IntervalType

Rows = Longs
PairingRule = Literal["adjacent", "in-order", "best"]


def pair(
    events: Events,
    types: IntervalType | Sequence[IntervalType],
    *,
    rule: PairingRule = "adjacent",
    threshold: float = -math.inf,
    min_duration: float = 0.0,
    max_duration: float = math.inf,
    min_gap: float = 0.0,
) -> Intervals:
    """Make intervals from onset and offset events.

    Parameters
    ----------
    events
        Onsets and offsets; events of other types are ignored.
    types
        Which event types belong together.
    rule
        ``adjacent``, ``in-order`` or ``best``; see the module's description.
    threshold
        Events with a lower score are left out before pairing.
    min_duration, max_duration
        Shortest and longest interval of the rule ``best``, in seconds, both inclusive.
    min_gap
        Least distance from the end of an interval to the next start (rule ``best``), in seconds.

    Returns
    -------
    Intervals
        By recording, interval type (in the order given) and start.

    Examples
    --------
    >>> sleep = IntervalType("sleep", onset="onset", offset="wakeup")
    >>> events = Events.of("a", ["onset", "onset", "wakeup", "wakeup"], [1.0, 2.0, 5.0, 8.0])
    >>> intervals = pair(events, sleep)
    >>> intervals.of_recording("a").tolist(), intervals.unpaired
    ([[2.0, 5.0]], 2)

    Detections: the onset with the higher score is used, though the other one comes first.

    >>> events = Events.of("a", ["onset", "onset", "wakeup"], [0.0, 3.0, 9.0], [0.2, 0.5, 0.5])
    >>> list(pair(events, sleep, rule="best"))
    [Interval(recording='a', name='sleep', start=3.0, end=9.0, score=1.0)]
    """
    listed = (types,) if isinstance(types, IntervalType) else tuple(types)
    if not listed:
        raise ConfigError("pairing needs interval types, to know which event types belong together")
    limits = (min_duration, max_duration, min_gap)
    if rule != "best" and limits != (0.0, math.inf, 0.0):
        raise ConfigError(
            f"min_duration, max_duration and min_gap have no effect with rule {rule!r}; they "
            "belong to rule 'best'"
        )
    chosen = [pair_rows(events, kind, rule, threshold, limits) for kind in listed]
    onset = np.concatenate([rows[0] for rows in chosen])
    offset = np.concatenate([rows[1] for rows in chosen])
    place = np.repeat(np.arange(len(listed)), [len(rows[0]) for rows in chosen])
    order = np.lexsort((events.time[onset], place, events.recording_code[onset]))
    onset, offset, place = onset[order], offset[order], place[order]
    return Intervals.of(
        events.recording[onset],
        [listed[i].name for i in place.tolist()],
        events.time[onset],
        events.time[offset],
        None if events.score is None else events.score[onset] + events.score[offset],
        unpaired=sum(rows[2] for rows in chosen),
    )


def pair_rows(
    events: Events,
    kind: IntervalType,
    rule: PairingRule,
    threshold: float = -math.inf,
    limits: tuple[float, float, float] = (0.0, math.inf, 0.0),
) -> tuple[Rows, Rows, int]:
    """Rows of the onsets and of their offsets in the table of events, and the number of others.

    Rows are by recording and time; others are endpoints that belong to no interval. ``limits`` are
    the shortest and longest duration and the least gap of the rule ``best``.
    """
    rows, is_onset = endpoints(events, kind, threshold)
    if rule == "adjacent":
        onsets, offsets = adjacent(events, rows, is_onset)
    elif rule == "in-order":
        onsets, offsets = rows[is_onset], rows[~is_onset]
        _check_counts(events, kind, onsets, offsets)
    elif rule == "best":
        onsets, offsets = _best_pairs(events, rows[is_onset], rows[~is_onset], *limits)
    else:
        raise ConfigError(f"rule: 'adjacent', 'in-order' or 'best' expected, got {rule!r}")
    return onsets, offsets, len(rows) - 2 * len(onsets)


def endpoints(
    events: Events, kind: IntervalType, threshold: float = -math.inf
) -> tuple[Rows, Flags]:
    """Rows of both types by recording and time, offsets first, and which of them are onsets."""
    if kind.onset == kind.offset:
        raise ConfigError(f"onset and offset of {kind.name!r} have one name: {kind.onset}")
    names = np.array(events.types, dtype=object)
    side_of = np.where(names == kind.onset, 1, np.where(names == kind.offset, 0, -1))
    side = side_of[events.type_code] if len(names) else np.zeros(0, np.int64)
    usable = side >= 0
    if events.score is not None:
        usable &= events.score >= threshold
    rows = np.flatnonzero(usable)
    rows = rows[np.lexsort((side[rows], events.time[rows], events.recording_code[rows]))]
    return rows, side[rows] == 1


def adjacent(events: Events, rows: Rows, is_onset: Flags) -> tuple[Rows, Rows]:
    """Rows of the onsets and offsets of the rule ``adjacent``, among some or all endpoints."""
    code = events.recording_code[rows]
    first = np.flatnonzero(is_onset[:-1] & ~is_onset[1:] & (code[:-1] == code[1:]))
    return rows[first], rows[first + 1]


def _check_counts(events: Events, kind: IntervalType, onsets: Rows, offsets: Rows) -> None:
    size = len(events.recordings)
    counts = [
        np.bincount(events.recording_code[rows], minlength=size) for rows in (onsets, offsets)
    ]
    differ = np.flatnonzero(counts[0] != counts[1])
    if len(differ):
        code = int(differ[0])
        raise InputError(
            f"recording {events.recordings[code]!r}: {counts[0][code]} {kind.onset!r} but "
            f"{counts[1][code]} {kind.offset!r}; every interval needs both"
        )


def _best_pairs(
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
    pairs = [np.zeros((2, 0), np.int64)]
    for code in range(len(events.recordings)):
        starts, ends = onsets[first[code] : first[code + 1]], offsets[last[code] : last[code + 1]]
        if len(starts) and len(ends):
            sides = (events.time[starts], score[starts], events.time[ends], score[ends])
            links = _best(*sides, float(min_duration), float(max_duration), float(min_gap))
            onset, offset = _followed_back(*links)
            pairs.append(np.stack([starts[onset], ends[offset]]))
    paired_onsets, paired_offsets = np.concatenate(pairs, axis=1)
    return paired_onsets, paired_offsets


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
    """Best total with intervals among the first j offsets: its last onset, and the offsets before.

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
