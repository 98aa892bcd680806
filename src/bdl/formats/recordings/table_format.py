"""Recordings in tables: what all table formats share.

A long table has a column of recording ids; otherwise each file is one recording, named by its
stem. Columns that the user does not name are recognised by their names: ``recording``, ``sample``,
``date``, ``time``, ``group`` (see `bdl.column_names`). All others are channels.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from bdl.errors import ConfigError, InputError
from bdl.formats.date_forms import DateOrder
from bdl.formats.files import existing
from bdl.formats.recordings.recording_format import GroupPattern, RecordingFormat
from bdl.formats.sample_clock import Duplicates
from bdl.formats.table_file import TableFile
from bdl.recording import Recordings


class TableFormat(RecordingFormat):
    """A table of samples: a row per sample, a column per channel.

    Parameters
    ----------
    recording
        Column of recording ids in a long table.
    channels
        A column of values, in the order given; by default all columns without another role or
        text. A unit in brackets may be left out: ``x`` finds the column ``x [mg]``.
    channel_units
        Unit of a channel, CHANNEL=UNIT, such as ``x=mg``; by default that in the column's name.
    sample
        Column of sample numbers, counted from ``first_sample``.
    first_sample
        Number of a recording's first sample, usually 0 or 1.
    time
        Column of times.
    date
        Column of dates, if the time column has only times of day.
    clock
        What the time column holds: ``seconds`` from the start, ``epoch`` (numbers since
        1970-01-01 UTC, in ``unit``) or ``iso`` (text: ISO 8601 or a common local form). By
        default text is ``iso``, an Arrow timestamp is an epoch and a number is seconds.
    date_order
        Whether dates such as 1/2/2024 are ``day-first`` or ``month-first``; by default it is
        inferred from the dates.
    unit
        Unit of numbers in the time column; by default that in its name, as in ``Time (ms)``, or
        seconds.
    period
        Seconds between two samples; inferred from the times by default.
    zone
        Zone of times without UTC offset: an IANA name such as ``Europe/Berlin``, with its
        clock changes, or a fixed offset such as ``+01:00`` for a clock that is never changed.
    group
        Column of groups (subjects), constant within a recording.
    group_pattern
        Regular expression on the id; its first parenthesised group is the recording's group.
    regular
        Put irregular samples on a regular clock (NaN where samples are missing); otherwise
        they are an error.
    duplicates
        Row to use of several at one time: ``error``, or the ``first``, ``last`` or ``mean``.
    """

    recording: str | None = None
    channels: tuple[str, ...] | None = None
    channel_units: dict[str, str] = Field(default_factory=dict)
    sample: str | None = None
    first_sample: int = 0
    time: str | None = None
    date: str | None = None
    clock: Literal["seconds", "epoch", "iso"] | None = None
    date_order: DateOrder | None = None
    unit: Literal["s", "ms", "us", "ns", "min", "h"] | None = None
    period: float | None = Field(default=None, gt=0)
    zone: str | None = None
    group: str | None = None
    group_pattern: GroupPattern = None
    regular: bool = False
    duplicates: Duplicates = "error"

    @model_validator(mode="after")
    def _check_columns(self) -> Self:
        columns = (self.recording, self.sample, self.date, self.time, self.group)
        named = [name for name in columns if name is not None]
        if len(set(named)) != len(named):
            raise ConfigError(f"one column has two parts: {', '.join(named)}")
        if self.channels is not None and len(set(self.channels)) != len(self.channels):
            raise ConfigError(f"channels repeat: {', '.join(self.channels)}")
        return self

    @abstractmethod
    def open_table(self, path: Path, names: Sequence[str] = ()) -> TableFile:
        """Open a table file; columns in ``names`` hold few distinct texts, which may be faster."""

    def read(self, path: Path) -> Recordings:
        """The recordings of one table: only its id and clock columns are read, and verified."""
        from bdl.formats.table_reader import TableReader

        return TableReader(path, self).recordings()


def open_table(path: str | Path) -> TableFile:
    """Open a table file in the format of its suffix."""
    file = existing(path)
    suffixes: list[str] = []
    for name, kind in RecordingFormat.kinds().items():
        if issubclass(kind, TableFormat):
            if file.suffix.lower() in kind.suffixes:
                return TableFormat.parse(name).open_table(file)
            suffixes += kind.suffixes
    raise InputError(
        f"{file}: {file.suffix or 'no suffix'} is not a table that can be read; expected one of "
        f"{', '.join(suffixes)}"
    )
