"""The user's own files as a data set: recordings, a table of events, and tolerances."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

from pydantic import PositiveFloat

from bdl.datasets.benchmark import Benchmark, Settings
from bdl.datasets.dataset import Dataset
from bdl.errors import InputError, some
from bdl.events import Events
from bdl.formats.data_files import DataFiles
from bdl.formats.event_recordings import outside
from bdl.intervals import IntervalType, likely_intervals
from bdl.proposal import propose
from bdl.recording import Recordings

WINDOW_BINS = 2048
DAY = 86400.0


class Tables(DataFiles, Dataset):
    """Your own recordings and events, in any format; paths are relative to the folder.

    Settings of study rows that do not choose them (stride, window and so on) are derived from the
    tolerances and the clocks of the recordings, never from events: stride and kernel from the
    finest tolerance, the least time between detections from the largest.

    Parameters
    ----------
    recordings
        Path of the recordings: a file, a folder, a glob or a prepared store.
    events
        Path of the events.
    tolerances
        Matching tolerances in seconds; proposed from all events if not given.

    Examples
    --------
    >>> Tables(recordings="nights", events="diary.csv", tolerances=(60, 300)).kind
    'tables'
    """

    kind: Literal["tables"] = "tables"
    recordings: str = "recordings"
    events: str | None = "events.csv"
    tolerances: tuple[PositiveFloat, ...] = ()

    requires = "your own recordings and events"

    def read(self, path: Path) -> Benchmark:
        source = self.below(path)
        recordings, events = source.read_files()
        events, notes = _inside(events, recordings, str(source.events))
        if self.types is not None:
            events = events.select(types=self.types)
        intervals = self.intervals or likely_intervals(sorted({*events.event}))
        tolerances = self.tolerances or propose(recordings, events).tolerances.value
        settings = _settings_for(self.types or _types(events, intervals), tolerances, recordings)
        notes = [*recordings.notes, *events.notes, *notes]
        return Benchmark(self.kind, recordings, events, intervals, settings, tuple(notes))

    def files(self, path: Path) -> list[Path]:
        return self.below(path).paths()


def _settings_for(
    types: tuple[str, ...], tolerances: Sequence[float], recordings: Recordings
) -> Settings:
    """Settings that follow from tolerances in seconds and clocks alone."""
    infos = recordings.infos
    period = max(info.period for info in infos)
    longest = max(info.duration for info in infos)
    stride = max(1, int(min(tolerances) / 2 / period + 1e-9))
    return Settings(
        types=types,
        tolerances=tuple(tolerances),
        stride=stride,
        window=min(WINDOW_BINS * stride * period, longest),
        sigma=min(tolerances),
        separation=max(tolerances),
        calendar=longest >= 2 * DAY and all(info.start is not None for info in infos),
    )


def _types(events: Events, intervals: tuple[IntervalType, ...]) -> tuple[str, ...]:
    """Ends of intervals, then the other types that occur."""
    ends = [end for interval in intervals for end in (interval.onset, interval.offset)]
    return tuple(dict.fromkeys([*ends, *sorted({*events.event})]))


def _inside(events: Events, recordings: Recordings, source: str) -> tuple[Events, list[str]]:
    """The events inside their recordings, and a note on the others."""
    unknown = sorted({*events.recording} - {*recordings.ids})
    if unknown:
        raise InputError(
            f"{source}: events of {len(unknown)} recordings that are not among the "
            f"{len(recordings)} given, such as {unknown[0]!r} (there are "
            f"{some(recordings.ids)}): do the names agree? To leave such rows out: "
            "event_incomplete: drop (--incomplete drop)"
        )
    inside = ~outside(events, recordings)
    if inside.all():
        return events, []
    events_inside = Events.of(events.recording[inside], events.event[inside], events.time[inside])
    note = f"{int((~inside).sum())} events are outside their recordings and are left out"
    return replace(events_inside, notes=events.notes, backend=events.backend), [note]
