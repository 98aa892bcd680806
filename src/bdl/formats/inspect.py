"""Summaries of recordings and events, as ``bdl inspect`` shows them.

The missing share is the share of NaN among all values, which are read once, some rows at a time.
Stretches of bad data are those of `bdl.quality`, by recording and channel. Events are summarised by
`bdl.formats.event_summary`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats.event_summary import EventSummary, summarise_events
from bdl.intervals import IntervalType
from bdl.quality import USUAL, NonWear, Quality, Stretches, StretchKind
from bdl.recording import RecordingInfo, Recordings
from bdl.recording_batches import MOST, batches_of, singles
from bdl.value_readers import Values
from bdl.workers import WorkerDeath, Workers, run_all


@dataclass(frozen=True)
class BadData:
    """Share of a channel of a recording that stretches of a kind take, and the longest in seconds.

    The channel is None for what concerns all channels.
    """

    recording: str
    channel: str | None
    kind: StretchKind
    share: float
    longest_seconds: float


@dataclass(frozen=True)
class RecordingSummary:
    """Summary of recordings; ``missing`` and ``quality`` are None if values were not read.

    Periods, channels and units are counted by recording.
    """

    recordings: int
    hours: float
    shortest_hours: float
    longest_hours: float
    periods: dict[str, int]
    channels: dict[str, int]
    units: dict[str, dict[str, int]]
    with_start: int
    groups: int
    largest_group: int
    missing: float | None
    quality: list[BadData] | None
    notes: list[str] = field(default_factory=list)


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
    quality: Quality | None = None,
    progress: Callable[[int, int], None] | None = None,
    workers: Workers | None = None,
) -> Summary:
    """Summarise recordings, events or both.

    Parameters
    ----------
    recordings
        The recordings, or None.
    events
        Their events, or None.
    intervals
        Interval types whose durations are reported; None for those that the names of the event
        types suggest.
    values
        Whether to read all values, for the missing share and stretches of bad data.
    quality
        Stretches to look for; by default flat ones of a minute, clipped ones of 0.05 s, repeated
        ones of 1 s, and non-wear where channels are named as axes of an accelerometer.
    progress
        Called with the numbers of read and of all samples.
    workers
        Where values are read; by default one recording after the other in this process.

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> recording = Recording.of(np.array([1.0, np.nan]), id="a", period=1800.0)
    >>> events = Events.of("a", "beat", [0.0, 1800.0, 4000.0])
    >>> summary = inspect(Recordings.of([recording]), events)
    >>> summary.recordings.hours, summary.recordings.missing, summary.events.outside
    (1.0, 0.5, 1)
    """
    about_recordings = about_events = None
    if recordings is not None:
        about_recordings = _recordings(recordings, values, quality, progress, workers or Workers())
    if events is not None:
        about_events = summarise_events(events, recordings, intervals)
    return Summary(about_recordings, about_events)


def _recordings(
    recordings: Recordings,
    values: bool,
    quality: Quality | None,
    progress: Callable[[int, int], None] | None,
    workers: Workers,
) -> RecordingSummary:
    infos = recordings.infos
    hours = [info.duration / 3600 for info in infos]
    sizes = Counter(recordings.groups.values())
    missing = bad = None
    unreadable: list[str] = []
    if values:
        counts = _count(recordings, quality, progress, workers)
        bad = [row for info in infos for row in counts[info.id].bad]
        cells = sum(count.cells for count in counts.values())
        lost = sum(count.missing for count in counts.values())
        missing = lost / cells if cells else 0.0
        unreadable = [
            f"values of {info.id!r} cannot be read: {problem}"
            for info in infos
            if (problem := counts[info.id].problem)
        ]
    return RecordingSummary(
        recordings=len(infos),
        hours=sum(hours),
        shortest_hours=min(hours, default=0.0),
        longest_hours=max(hours, default=0.0),
        periods=dict(Counter(f"{info.period:.10g}" for info in infos).most_common()),
        channels=dict(Counter(name for info in infos for name in info.channels)),
        units=_units(infos),
        with_start=sum(info.start is not None for info in infos),
        groups=len(sizes),
        largest_group=max(sizes.values(), default=0),
        missing=missing,
        quality=bad,
        notes=[*recordings.notes, *unreadable],
    )


def _units(infos: Sequence[RecordingInfo]) -> dict[str, dict[str, int]]:
    """How many recordings have which unit, by channel; unknown ones are left out."""
    units: dict[str, Counter[str]] = {}
    for info in infos:
        for channel, unit in zip(info.channels, info.units, strict=False):
            if unit:
                units.setdefault(channel, Counter())[unit] += 1
    return {channel: dict(counts.most_common()) for channel, counts in units.items()}


class _Count(NamedTuple):
    """Values of a recording, how many of them are missing or bad, why they cannot be read."""

    cells: int
    missing: int
    bad: tuple[BadData, ...] = ()
    problem: str = ""


def _count(
    recordings: Recordings,
    quality: Quality | None,
    progress: Callable[[int, int], None] | None,
    workers: Workers,
) -> dict[str, _Count]:
    """Count the values of each recording; one that cannot be read does not stop the others."""
    counts: dict[str, _Count] = {}
    total, done = sum(info.samples for info in recordings.infos), 0
    parts = batches_of(recordings, 1 if workers.here else MOST)
    read = partial(_counts_of, quality=quality)
    for part, result in run_all(read, parts, workers, split=singles):
        if isinstance(result, WorkerDeath):
            result = {id: _Count(0, 0, problem=str(result)) for id in part.ids}
        counts |= result
        done += sum(info.samples for info in part.infos)
        if progress is not None:
            progress(done, total)
    return counts


def _counts_of(recordings: Recordings, quality: Quality | None) -> dict[str, _Count]:
    """Counts of recordings, which are read once, some rows at a time."""
    return {info.id: _count_of(recordings, info, quality) for info in recordings.infos}


def _count_of(recordings: Recordings, info: RecordingInfo, quality: Quality | None) -> _Count:
    cells = lost = 0

    def counted() -> Iterator[Values]:
        nonlocal cells, lost
        for chunk in recordings.chunks(info.id):
            lost += int(np.isnan(chunk).sum())
            cells += chunk.size
            yield chunk

    try:
        stretches = (quality or _usual(info)).find(info, counted())
    except InputError as error:
        return _Count(cells, lost, problem=str(error))
    return _Count(cells, lost, tuple(_bad_data(stretches)))


def _usual(info: RecordingInfo) -> Quality:
    """The usual stretches; non-wear only if there are axes of an accelerometer."""
    try:
        NonWear().axes(info.channels)
    except ConfigError:
        return USUAL.replace(non_wear=None)
    return USUAL


def _bad_data(stretches: Stretches) -> Iterator[BadData]:
    """Stretches of bad data by kind and channel."""
    info = stretches.info
    for kind in stretches.stretches:
        names: Sequence[str | None] = (None,) if kind == "non_wear" else info.channels
        for channel, name in enumerate(names[: len(info.channels)]):
            if share := stretches.share(kind, channel):
                longest = stretches.longest(kind, channel)
                yield BadData(info.id, name, kind, share, longest)
