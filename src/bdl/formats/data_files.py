"""Where the user's own recordings and events are, and how they are read."""

from __future__ import annotations

import glob
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import Field

from bdl.config import Value
from bdl.events import Events
from bdl.formats.event_files import read_annotated, read_events
from bdl.formats.recording_files import read_recordings
from bdl.intervals import IntervalType
from bdl.recording import Recordings

PATHS = ("recordings", "events", "annotated")


class DataFiles(Value):
    """Files of recordings and events, with everything that is needed to read them.

    Parameters
    ----------
    recordings
        Path of the recordings: a file, a folder, a glob or a prepared store.
    format
        Name of the recordings' format; recognised if not given.
    pattern
        Which files of a folder.
    layout
        Options of the recordings' format, such as the period, the zone or the names of columns.
    events
        Path of the events.
    event_format, event_columns, event_codes, event_period, event_incomplete
        As in `bdl.formats.read_events`.
    annotated
        Table of the spans (recording, start, end) in which events are annotated; all if not given.
    types
        Event types that are used; all if not given.
    intervals
        Interval types: which event types are onset and offset of what.

    Examples
    --------
    >>> DataFiles(recordings="nights", events="diary.csv").below("study").recordings
    'study/nights'
    """

    recordings: str
    format: str | None = None
    pattern: str | None = None
    layout: dict[str, Any] = Field(default_factory=dict)
    events: str | None = None
    event_format: str | None = None
    event_columns: dict[str, str] | None = None
    event_codes: dict[str, str] | None = None
    event_period: float | None = Field(default=None, gt=0)
    event_incomplete: Literal["error", "drop"] | None = None
    annotated: str | None = None
    types: tuple[str, ...] | None = None
    intervals: tuple[IntervalType, ...] = ()

    def below(self, folder: str | Path) -> Self:
        """The same with paths that are relative to a folder."""
        given = {name: getattr(self, name) for name in PATHS}
        return self.replace(
            **{name: str(Path(folder) / path) for name, path in given.items() if path is not None}
        )

    def read_files(self, invalid: Literal["error", "skip"] = "error") -> tuple[Recordings, Events]:
        """Open the recordings, and read the events; none if no path of events is given.

        A file that cannot be read is an error, or is left out (``skip``) and noted.
        """
        opened = read_recordings(
            self.recordings,
            format=self.format,
            pattern=self.pattern,
            invalid=invalid,
            **self.layout,
        )
        events = Events.empty() if self.events is None else self._read_events(opened)
        if self.annotated is None:
            return opened, events
        recordings = read_annotated(self.annotated, opened)
        left_out = {*opened.ids} - {*recordings.ids}
        return recordings, events.select(
            recordings=[id for id in events.recordings if id not in left_out]
        )

    def _read_events(self, recordings: Recordings) -> Events:
        return read_events(
            self.events,
            format=self.event_format,
            period=self.event_period,
            columns=self.event_columns,
            codes=self.event_codes,
            incomplete=self.event_incomplete,
            recordings=recordings,
            defaults={
                "intervals": self.intervals or None,
                "date_order": self.layout.get("date_order"),
            },
        )

    def paths(self) -> list[Path]:
        """All files that may be read, sorted."""
        files: set[Path] = set()
        for name in PATHS:
            path = getattr(self, name)
            if path is None:
                continue
            place = Path(path)
            if place.is_dir():
                files |= {file for file in place.rglob("*") if file.is_file()}
            elif place.exists():
                files.add(place)
            else:
                files |= {Path(file) for file in glob.glob(str(path), recursive=True)}
        return sorted(file for file in files if file.is_file())
