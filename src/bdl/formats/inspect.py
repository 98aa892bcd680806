"""Summaries of recordings and events, as ``bdl inspect`` shows them.

The missing share is the share of NaN among all values, which are read once, some rows at a time.
A duplicate repeats the recording, type and time of another event. The closest pair is the two
events of one recording, duplicates left out, with the least time between them. An interval is an
onset and the offset that follows it next.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.event_checks import outside
from bdl.intervals import IntervalType, likely_intervals
from bdl.pairing import pair
from bdl.recording import Recordings


@dataclass(frozen=True)
class RecordingSummary:
    """Summary of recordings; ``missing`` is None if values were not read."""

    recordings: int
    hours: float
    shortest_hours: float
    longest_hours: float
    periods: dict[str, int]
    channels: dict[str, int]
    with_start: int
    groups: int
    largest_group: int
    missing: float | None
    notes: list[str] = field(default_factory=list)


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


@dataclass(frozen=True)
class Summary:
    """Summaries of recordings and of events."""

    recordings: RecordingSummary | None
    events: EventSummary | None

    def to_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return asdict(self)


def inspect(
    recordings: Recordings | None,
    events: Events | None = None,
    *,
    intervals: Sequence[IntervalType] | None = None,
    values: bool = True,
    progress: Callable[[int, int], None] | None = None,
) -> Summary:
    """Summarise recordings, events or both.

    Parameters
    ----------
    recordings
        The recordings, or None.
    events
        Their events, or None.
    intervals
        Interval types whose durations are told; None for those that the names of the event types
        suggest.
    values
        Whether to read all values, for the missing share.
    progress
        Called with the numbers of read and of all samples.

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> recording = Recording.of(np.array([1.0, np.nan]), id="a", period=1800.0)
    >>> events = Events.of("a", "beat", [0.0, 1800.0, 4000.0])
    >>> summary = inspect(Recordings.of([recording]), events)
    >>> summary.recordings.hours, summary.recordings.missing, summary.events.outside
    (1.0, 0.5, 1)
    """
    return Summary(
        None if recordings is None else _recordings(recordings, values, progress),
        None if events is None else _events(events, recordings, intervals),
    )


def _recordings(
    recordings: Recordings, values: bool, progress: Callable[[int, int], None] | None
) -> RecordingSummary:
    infos = recordings.infos
    hours = [info.duration / 3600 for info in infos]
    sizes = Counter(recordings.groups.values())
    missing = None
    unreadable: list[str] = []
    if values:
        total = sum(info.samples for info in infos)
        lost = cells = done = 0
        for info in infos:
            try:
                for chunk in recordings.chunks(info.id):
                    lost += int(np.isnan(chunk).sum())
                    cells += chunk.size
                    done += len(chunk)
                    if progress is not None:
                        progress(done, total)
            except InputError as error:
                unreadable.append(f"values of {info.id!r} cannot be read: {error}")
        missing = lost / cells if cells else 0.0
    return RecordingSummary(
        recordings=len(infos),
        hours=sum(hours),
        shortest_hours=min(hours, default=0.0),
        longest_hours=max(hours, default=0.0),
        periods=dict(Counter(f"{info.period:.10g}" for info in infos).most_common()),
        channels=dict(Counter(name for info in infos for name in info.channels)),
        with_start=sum(info.start is not None for info in infos),
        groups=len(sizes),
        largest_group=max(sizes.values(), default=0),
        missing=missing,
        notes=[*recordings.notes, *unreadable],
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


def _events(
    events: Events, recordings: Recordings | None, kinds: Sequence[IntervalType] | None
) -> EventSummary:
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
    known = None if recordings is None else [id for id in used if id in recordings]
    return EventSummary(
        events=len(events),
        types={name: int(count) for name, count in zip(events.types, counts, strict=True)},
        recordings_with_events=len(used),
        recordings_without_events=(
            None if recordings is None or known is None else len(recordings) - len(known)
        ),
        unknown_recordings=(
            None if recordings is None else [id for id in used if id not in recordings]
        ),
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
