"""Pairing: intervals from onset and offset events.

Three rules say which events belong together, each within one recording and interval type:

- ``adjacent`` (annotations, the sleep benchmark's convention): an onset and the next endpoint make
  an interval if that endpoint is an offset. At equal times the offset comes first. Any other
  endpoint belongs to no interval.
- ``in-order`` (files of intervals, where nothing may be lost): the k-th onset belongs to the k-th
  offset, so intervals may overlap. Different numbers of onsets and offsets are an error.
- ``best`` (detections): of all sequences of intervals that do not overlap and respect the limits
  of duration and gap, the one with the largest total score (see `bdl.best_pairs`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from bdl.arrays import Flags, Longs
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
    if kind.onset == kind.offset:
        raise ConfigError(f"onset and offset of {kind.name!r} have one name: {kind.onset}")
    rows, is_onset = _endpoints(events, kind, threshold)
    if rule == "adjacent":
        code = events.recording_code[rows]
        first = np.flatnonzero(is_onset[:-1] & ~is_onset[1:] & (code[:-1] == code[1:]))
        onsets, offsets = rows[first], rows[first + 1]
    elif rule == "in-order":
        onsets, offsets = rows[is_onset], rows[~is_onset]
        _check_counts(events, kind, onsets, offsets)
    elif rule == "best":
        from bdl.best_pairs import best_pairs  # compiled code, needed by this rule only

        onsets, offsets = best_pairs(events, rows[is_onset], rows[~is_onset], *limits)
    else:
        raise ConfigError(f"rule: 'adjacent', 'in-order' or 'best' expected, got {rule!r}")
    return onsets, offsets, len(rows) - 2 * len(onsets)


def _endpoints(events: Events, kind: IntervalType, threshold: float) -> tuple[Rows, Flags]:
    """Rows of both types by recording and time, offsets first, and which of them are onsets."""
    names = np.array(events.types, dtype=object)
    side_of = np.where(names == kind.onset, 1, np.where(names == kind.offset, 0, -1))
    side = side_of[events.type_code] if len(names) else np.zeros(0, np.int64)
    usable = side >= 0
    if events.score is not None:
        usable &= events.score >= threshold
    rows = np.flatnonzero(usable)
    rows = rows[np.lexsort((side[rows], events.time[rows], events.recording_code[rows]))]
    return rows, side[rows] == 1


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
