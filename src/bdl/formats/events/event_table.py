"""Our own event table: recording, event, time in seconds, and a score for detections.

It may be in any table format that recordings may be in; the suffix tells which.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pyarrow as pa
from pydantic import Field, field_validator

from bdl.errors import ConfigError
from bdl.events import Events
from bdl.formats.events.event_format import EventFormat
from bdl.formats.recordings.table_format import open_table
from bdl.formats.table_writing import write_table
from bdl.recording import Recordings

COLUMNS = ("recording", "event", "time", "score")


class EventTable(EventFormat):
    """Tables of recording, event and time in seconds, and a score for detections.

    Parameters
    ----------
    columns
        Names of the columns that are not called ``recording``, ``event``, ``time`` and ``score``,
        such as ``{time: when}``.
    missing
        What to do with rows without a time or score: ``error`` or ``drop`` (and count) them.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> _ = file.write_text("recording,event,when\\nnight1,onset,3600\\n")
    >>> EventTable(columns={"time": "when"}).read(file).time.tolist()
    [3600.0]
    """

    kind: Literal["bdl"] = "bdl"
    columns: dict[str, str] = Field(default_factory=dict)
    missing: Literal["error", "drop"] = "error"

    @field_validator("columns")
    @classmethod
    def _check_columns(cls, columns: dict[str, str]) -> dict[str, str]:
        for name in columns:
            if name not in COLUMNS:
                raise ConfigError(f"one of {', '.join(COLUMNS)} expected, got {name!r}")
        return columns

    @property
    def _columns(self) -> list[str]:
        return [self.columns.get(name, name) for name in COLUMNS]

    def recognises(self, path: Path, columns: Sequence[str]) -> bool:
        """By the columns ``recording``, ``event`` and ``time``, or what they are called."""
        return bool(self.columns) or {*self._columns[:3]} <= {*columns}

    def read(self, path: Path) -> Events:
        """The events of a table."""
        return read_columns(path, self._columns, missing=self.missing)

    def write(self, events: Events, path: Path, recordings: Recordings | None = None) -> None:
        """Write a table; the suffix tells which format: CSV, TSV, Parquet or Feather."""
        table = events.to_frame("pyarrow")
        write_table(
            table.rename_columns([self.columns.get(n, n) for n in table.column_names]), path
        )


def read_columns(
    path: Path,
    columns: Sequence[str],
    *,
    missing: Literal["error", "drop"],
    period: float = 1.0,
) -> Events:
    """Events of a table with the given columns of recordings, events, times and scores.

    Parameters
    ----------
    path
        The file.
    columns
        The four columns; the last may be missing from the table.
    missing
        Whether rows without a time or score are an error or left out.
    period
        Seconds per unit of the time column.
    """
    table = open_table(path)
    used = [*columns] if columns[3] in table.columns else [*columns[:3]]
    table.need(used)
    if len(set(used)) != len(used):
        raise ConfigError(f"{path}: different columns expected, got {', '.join(used)}")
    batches = [*table.batches(used)]
    if not batches:
        return Events.empty(scored=len(used) == 4)
    names = dict(zip(COLUMNS, columns, strict=True))
    frame = pa.Table.from_batches(batches)
    events = Events.from_frame(frame, missing=missing, source=str(path), **names)
    return replace(events, time=events.time * period, backend="polars")
