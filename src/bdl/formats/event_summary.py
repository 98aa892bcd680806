"""Summaries of events.

A duplicate repeats the recording, type and time of another event. The closest pair is the two
events of one recording, duplicates left out, with the least time between them. An interval is an
onset and the offset that follows it next.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bdl.errors import ConfigError, some
from bdl.events import Events
from bdl.formats.event_recordings import outside
from bdl.intervals import IntervalType, likely_intervals
from bdl.pairing import pair
from bdl.recording import Recordings


@dataclass(frozen=True)
class Durations:
    """Number of intervals of a type, and their durations in seconds."""

    intervals: int
    shortest: float
    median: float
    longest: float


@dataclass(frozen=True)
class EventSummary:
    """Summary of events; fields that need recordings are None without them."""

    events: int
    types: dict[str, int]
    recordings_with_events: int
    recordings_without_events: int | None
    unknown_recordings: list[str] | None
    outside: int | None
    duplicates: int
    closest_seconds: float | None
    closest_recording: str | None
    closest_types: list[str] | None
    scored: bool
    dropped: int
    durations: dict[str, Durations]


def summarise_events(
    events: Events, recordings: Recordings | None, kinds: Sequence[IntervalType] | None
) -> EventSummary:
    """Summary of events; see `bdl.formats.inspect.inspect`."""
    _check_intervals(events, kinds or ())
    counts = np.bincount(events.type_code, minlength=len(events.types))
    used = [events.recordings[code] for code in np.unique(events.recording_code)]
    order = np.lexsort((events.type_code, events.time, events.recording_code))
    recording, kind, time = (
        column[order] for column in (events.recording_code, events.type_code, events.time)
    )
    same = recording[1:] == recording[:-1]
    repeat = same & (kind[1:] == kind[:-1]) & (time[1:] == time[:-1])
    distinct = np.concatenate([[True], ~repeat]) if len(time) else np.zeros(0, dtype=bool)
    recording, kind, time = recording[distinct], kind[distinct], time[distinct]
    gaps = np.where(recording[1:] == recording[:-1], np.diff(time), np.inf)
    near = int(np.argmin(gaps)) if len(gaps) and np.isfinite(gaps.min()) else None
    unknown = None if recordings is None else [id for id in used if id not in recordings]
    return EventSummary(
        events=len(events),
        types={name: int(count) for name, count in zip(events.types, counts, strict=True)},
        recordings_with_events=len(used),
        recordings_without_events=(
            None if unknown is None else len(recordings or ()) - len(used) + len(unknown)
        ),
        unknown_recordings=unknown,
        outside=None if recordings is None else int(outside(events, recordings).sum()),
        duplicates=int(repeat.sum()),
        closest_seconds=None if near is None else float(gaps[near]),
        closest_recording=None if near is None else events.recordings[recording[near]],
        closest_types=(
            None if near is None else [events.types[kind[near]], events.types[kind[near + 1]]]
        ),
        scored=events.score is not None,
        dropped=events.dropped,
        durations=_durations(events, likely_intervals(events.types) if kinds is None else kinds),
    )


def _check_intervals(events: Events, kinds: Sequence[IntervalType]) -> None:
    for kind in kinds:
        if missing := [name for name in (kind.onset, kind.offset) if name not in events.types]:
            raise ConfigError(
                f"interval {kind.name!r} (--interval): no event is of type "
                f"{' or '.join(missing)}; the types are {some(events.types)}"
            )


def _durations(events: Events, kinds: Sequence[IntervalType]) -> dict[str, Durations]:
    """Durations of adjacent onsets and offsets by interval type, those without any left out."""
    durations = {}
    for kind in kinds:
        seconds = pair(events, kind).seconds
        if len(seconds):
            shortest, median, longest = np.quantile(seconds, (0.0, 0.5, 1.0)).tolist()
            durations[kind.name] = Durations(len(seconds), shortest, median, longest)
    return durations
