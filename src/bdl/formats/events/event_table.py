"""Event tables: recording, event and time, or start and end, and a score for detections.

A table may be in any format that recordings may be in; its suffix says which. Columns are found
by their names (`bdl.column_names`), or named by the user. Times are seconds, or dates and times
(`bdl.formats.event_clock`), or sample numbers in a column ``sample``. A row with a start and an end
is an interval: an onset and an offset event. Spaces around names are left out.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import numpy as np
import pyarrow as pa
from pydantic import Field, field_validator

from bdl.arrays import Floats
from bdl.arrow import from_numpy, from_texts
from bdl.column_names import find_columns, guess_notes
from bdl.column_values import ColumnPlace, numbers
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats.date_forms import DateOrder, joined_texts
from bdl.formats.event_clock import (
    dates_of,
    duration_seconds,
    event_seconds,
    is_time_of_day,
    is_wall_clock,
    sample_seconds,
    since_1970,
)
from bdl.formats.event_recordings import of_recordings, only_recording, texts_of, trimmed
from bdl.formats.events.annotation_format import Annotation, IntervalTypes, to_events
from bdl.formats.events.event_format import EventFormat
from bdl.formats.recordings.table_format import open_table
from bdl.formats.table_writing import write_table
from bdl.intervals import IntervalType
from bdl.recording import Recordings

_CLOCK = ("date", "time", "start", "end", "duration", "sample")
ROLES = ("recording", "event", *_CLOCK, "score", "issued")


class EventTable(EventFormat):
    """Tables of recording, event and time, or start and end, and a score for detections.

    Parameters
    ----------
    columns
        Column of the event table, ROLE=NAME: what plays the role of recording, event, time (or
        start and end or duration, and date if those are times of day; or sample, for sample
        numbers from 0) or score, such as time=Bedtime. Columns with an obvious name need not be
        named.
    codes
        Name of an event type in place of its code in the table, CODE=NAME, such as 1=onset.
    intervals
        Interval type: NAME=ONSET,OFFSET (event types), or NAME for NAME:onset, NAME:offset. A
        table of starts and ends without a column of labels holds intervals of one type, whose
        events are called onset and offset by default.
    date_order
        Whether dates such as 1/2/2024 are ``day-first`` or ``month-first``; by default it is
        inferred from the dates.
    incomplete
        What to do with rows without a time or score, or of recordings that are not given:
        ``error`` or ``drop`` (and count) them.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("recording,event,when\\nnight1,onset,3600\\n")
    >>> EventTable(columns={"time": "when"}).read(file).time.tolist()
    [3600.0]
    >>> _ = file.write_text("File;Start;End\\nnight1;3600,5;30000\\n")
    >>> EventTable().read(file)
    Events: 2 in 1 recording
      offset  1
      onset   1
    """

    kind: Literal["bdl"] = "bdl"
    columns: dict[str, str] = Field(default_factory=dict)
    codes: dict[str, str] = Field(default_factory=dict)
    intervals: IntervalTypes = None
    date_order: DateOrder | None = None
    incomplete: Literal["error", "drop"] = "error"

    @property
    def named_intervals(self) -> Sequence[IntervalType]:
        return self.intervals or ()

    @field_validator("columns")
    @classmethod
    def _check_columns(cls, columns: dict[str, str]) -> dict[str, str]:
        for role in columns:
            if role not in ROLES:
                raise ConfigError(f"one of {', '.join(ROLES)} expected (--column), got {role!r}")
        return columns

    def recognises(self, path: Path, columns: Sequence[str]) -> bool:
        """By columns that the user names, or called ``recording``, ``event`` and ``time``."""
        known = ({"recording", "event", "time"}, {"recording", "onset", "duration"})
        return bool(columns) and (bool(self.columns) or any(names <= {*columns} for names in known))

    def resembles(self, columns: Sequence[str]) -> bool:
        """Whether the columns can be guessed: a time, a sample, or a start and an end or length."""
        roles = find_columns(columns, {}, ROLES, "").keys()
        return bool(roles & {"time", "sample"}) or (
            "start" in roles and ("end" in roles or "duration" in roles)
        )

    def read_on(self, path: Path, recordings: Recordings | None) -> Events:
        """The events of a table; dates and times are placed on the clocks of the recordings."""
        table = open_table(path)
        batches = [*table.batches(table.columns)]
        if not batches:
            roles = find_columns(table.columns, self.columns, ROLES, path)
            return Events.empty(scored="score" in roles, issued="issued" in roles)
        return self.read_table(pa.Table.from_batches(batches), path, recordings)

    def read(self, path: Path) -> Events:
        """The events of a table with times in seconds."""
        return self.read_on(path, None)

    def read_table(
        self, table: pa.Table, source: object, recordings: Recordings | None = None
    ) -> Events:
        """The events of an Arrow table; recordings are needed for dates and times only."""
        roles = find_columns(table.column_names, self.columns, ROLES, source)
        columns = {role: table[name].combine_chunks() for role, name in roles.items()}
        notes = [guess_notes(roles, self.columns, source)]
        intervals = "time" not in roles and "start" in roles and roles.keys() & {"end", "duration"}
        samples = not intervals and "time" not in roles and "sample" in roles
        if not intervals and not samples and "time" not in roles:
            raise InputError(
                f"{source}: no column of times; it has {', '.join(table.column_names)}; name it "
                "(columns=, --column time=NAME, or start=NAME and end=NAME, or sample=NAME)"
            )
        if "recording" not in roles:
            id = only_recording(recordings, table, source)
            columns["recording"] = from_texts([id] * len(table))
            notes.append(f"{source}: all events are taken as those of recording {id!r}")
        elif recordings is not None:
            columns, more_notes = of_recordings(
                columns, recordings, source, incomplete=self.incomplete
            )
            notes += more_notes
        if self.codes and "event" in roles:
            texts = texts_of(columns["event"])
            columns["event"] = from_texts(
                [text and self.codes.get(text.strip(), text) for text in texts]
            )
        if samples:
            place = ColumnPlace(source, roles["sample"])
            columns["time"] = from_numpy(sample_seconds(columns, place, recordings))
            notes.append(f"{source}: {roles['sample']!r} has sample numbers, counted from 0")
        if intervals:
            events = self._intervals(columns, roles, source, recordings)
            notes.append(_overlap(events, source) if "date" in columns else "")
        else:
            if "event" not in roles:
                columns["event"] = from_texts(["event"] * len(columns["recording"]))
                notes.append(f"{source}: without a column of types all events are called 'event'")
            kept = ("recording", "event", "time", "score", "issued")
            used = {role: roles.get(role, role) for role in kept}
            unit = since_1970(columns["time"], used["time"], recordings)
            notes.append(f"{source}: times are taken as {unit} since 1970" if unit else "")
            if unit is not None or is_wall_clock(columns["time"]):
                columns["time"] = from_numpy(
                    self._seconds("time", columns, roles, source, recordings)
                )
                used["time"] = "time"  # in seconds now
            frame = pa.table({used[role]: columns[role] for role in used if role in columns})
            events = Events.from_frame(
                frame, incomplete=self.incomplete, source=str(source), **used
            )
        if events.dropped:
            notes.append(f"{source}: {events.dropped:,} rows without a time or score are left out")
        events = trimmed(events, ids=recordings is None)
        notes.append(_case_note(events, source))
        return replace(events, backend=None, notes=tuple(filter(None, notes)))

    def _seconds(
        self,
        role: str,
        columns: Mapping[str, pa.Array],
        roles: Mapping[str, str],
        source: object,
        recordings: Recordings | None,
        after: Floats | None = None,
    ) -> Floats:
        """The times of a column on the clocks of their recordings.

        The end of an interval that has only a time of day is on the day of its start, or on the
        next one if it would be before it.
        """
        column, place = columns[role], ColumnPlace(source, roles[role])
        date = columns.get("date")
        if role == "end" and date is None and is_time_of_day(column):
            date = dates_of(columns["start"])
        if date is not None and is_wall_clock(column):
            column = joined_texts([date, column])
        ids = np.array(texts_of(columns["recording"]), dtype=object)
        return event_seconds(
            column, place, ids, recordings, self.date_order, after, next_day=date is not None
        )

    def _intervals(
        self,
        columns: Mapping[str, pa.Array],
        roles: Mapping[str, str],
        source: object,
        recordings: Recordings | None,
    ) -> Events:
        """The onsets and offsets of a table of starts and ends, or durations."""
        start = self._seconds("start", columns, roles, source, recordings)
        if "end" in columns:
            end = self._seconds("end", columns, roles, source, recordings, start)
        else:
            place = ColumnPlace(source, roles["duration"])
            end = start + duration_seconds(columns["duration"], place)
        ids = texts_of(columns["recording"])
        types = self.intervals
        if "event" in columns:
            labels = [text and text.strip() for text in texts_of(columns["event"])]
        else:
            types = types or (IntervalType("interval", "onset", "offset"),)
            labels = [types[0].name] * len(ids)
        scores: list[float | None] = [None] * len(ids)
        if "score" in columns:
            scores = numbers(columns["score"], ColumnPlace(source, roles["score"])).tolist()
        missing = np.isnan(start) | np.isnan(end)
        if missing.any() and self.incomplete == "error":
            raise InputError(
                f"{source}: row {int(np.argmax(missing))} has no start or no end; "
                f"{int(missing.sum())} such rows; leave them out (incomplete='drop', --incomplete "
                "drop)"
            )
        parts = zip(ids, labels, start.tolist(), end.tolist(), scores, strict=True)
        rows = [Annotation(*part) for part, out in zip(parts, missing, strict=True) if not out]
        return replace(to_events(rows, source, types), dropped=int(missing.sum()))

    def write(self, events: Events, path: Path, recordings: Recordings | None = None) -> None:
        """Write a table in the format of the suffix: CSV, TSV, Parquet or Feather."""
        table = events.to_frame("pyarrow")
        names = [self.columns.get(name, name) for name in table.column_names]
        write_table(table.rename_columns(names), path)


def _case_note(events: Events, source: object) -> str:
    """A note if names of event types differ in upper and lower case only; or nothing."""
    ends = (":onset", ":offset")
    names = {name.removesuffix(ends[0]).removesuffix(ends[1]) for name in events.types}
    last = {name.lower(): name for name in sorted(names)}  # lower case comes last
    others = [name for name in sorted(names) if last[name.lower()] != name]
    if not others:
        return ""
    pairs = " ".join(f"--code {shlex.quote(f'{name}={last[name.lower()]}')}" for name in others)
    return f"{source}: types of events differ in case only; to make them one: {pairs}"


def _overlap(events: Events, source: object) -> str:
    """A note if an interval begins before another one of its recording has ended; or nothing."""
    starts = np.arange(0, len(events), 2)  # each row became an onset and an offset
    order = starts[np.lexsort((events.time[starts], events.recording_code[starts]))]
    same = events.recording_code[order[1:]] == events.recording_code[order[:-1]]
    wrong = same & (events.time[order[1:]] < events.time[order[:-1] + 1])
    if not wrong.any():
        return ""
    row = order[1:][int(np.argmax(wrong))]
    return (
        f"{source}: {int(wrong.sum())} intervals begin before the one before has ended, first at "
        f"{events.time[row]:g} s of {events.recording[row]!r}; is its date that of the evening, or "
        "of the morning after?"
    )
