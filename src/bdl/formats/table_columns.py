"""What each column of one table holds, and its clock columns as numbers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow as pa

from bdl.column_values import ColumnPlace, integers, is_text
from bdl.errors import InputError
from bdl.formats.sample_clock import ClockRows
from bdl.formats.table_file import TableFile
from bdl.formats.time_zones import named_zone
from bdl.formats.timestamps import OffsetRuns, nanoseconds, parse_iso

if TYPE_CHECKING:
    from bdl.formats.recordings.table_format import TableFormat


@dataclass(frozen=True)
class TableColumns:
    """The columns of one table by what they hold; ``clock`` is None if rows are samples."""

    channels: tuple[str, ...]
    recording: str | None
    sample: str | None
    time: str | None
    group: str | None
    clock: str | None
    unit: str
    zone: str | None
    default_offset: int | None

    @property
    def clocks(self) -> tuple[str, ...]:
        """Columns that place a row on the clock."""
        return tuple(name for name in (self.sample, self.time) if name is not None)

    @property
    def scanned(self) -> tuple[str, ...]:
        """Columns read on opening; if there are none, one channel, to count rows."""
        names = (self.recording, self.group, *self.clocks)
        return tuple(name for name in names if name is not None) or self.channels[:1]

    def clock_rows(self, batch: pa.RecordBatch, path: object, row: int) -> ClockRows:
        """The clock columns of some rows of one recording; ``row`` is the first one's number."""
        sample = time = None
        offsets: OffsetRuns = []
        if self.sample is not None:
            place = ColumnPlace(path, self.sample, row)
            sample = integers(batch.column(self.sample), place)
        if self.time is not None:
            column, place = batch.column(self.time), ColumnPlace(path, self.time, row)
            if self.clock == "iso":
                time, offsets = parse_iso(column, place, default=self.default_offset)
            else:
                time = nanoseconds(column, place, self.unit)
        return ClockRows(row, len(batch), sample, time, offsets)


def columns_of(table: TableFile, options: TableFormat) -> TableColumns:
    """Decide what every column of a table holds.

    Parameters
    ----------
    table
        The table.
    options
        The columns that the user names; others are recognised by their plain names.
    """
    named = {name: getattr(options, name) for name in ("recording", "sample", "time", "group")}
    table.need([column for column in named.values() if column is not None])
    table.need(options.channels or ())
    taken = {*named.values(), *(options.channels or ())}
    columns = {
        name: column or (name if name in table.columns and name not in taken else None)
        for name, column in named.items()
    }
    channels = options.channels
    if channels is None:
        channels = tuple(name for name in table.columns if name not in columns.values())
    if not channels:
        raise InputError(
            f"{table.path}: no column is left for the values; it has {', '.join(table.columns)}"
        )
    clock, zone = _clock(table, options, columns["time"])
    offset = None
    if options.zone is not None:
        east = named_zone(options.zone).utcoffset(None)
        if east is None and clock == "iso":
            raise InputError(
                f"{table.path}: zone {options.zone!r}: times without UTC offset are ambiguous in "
                "it when clocks are set back; give a fixed offset such as +01:00 (--zone +01:00)"
            )
        offset = None if east is None else int(east.total_seconds())
    return TableColumns(
        channels, **columns, clock=clock, unit=options.unit, zone=zone, default_offset=offset
    )


def _clock(
    table: TableFile, options: TableFormat, time: str | None
) -> tuple[str | None, str | None]:
    """Kind of the time column, and the zone that gives its offsets."""
    if time is None:
        return None, None
    batch = next(iter(table.batches([time])), None)
    if batch is None:
        return options.clock or "seconds", options.zone
    column = batch.column(0)
    if pa.types.is_timestamp(column.type):
        zone = column.type.tz or options.zone
        if zone is None:
            raise InputError(
                f"{table.path}: column {time!r} holds timestamps without UTC offset; give the "
                "zone they were written in (--zone)"
            )
        if options.clock in ("seconds", "iso"):
            raise InputError(f"{table.path}: column {time!r} holds timestamps, not {options.clock}")
        return "epoch", zone
    if options.clock is not None:
        return options.clock, options.zone
    return ("iso" if is_text(column.type) and not _is_number(column) else "seconds"), options.zone


def _is_number(array: pa.Array) -> bool:
    """Whether the first text that is there reads as a number (CSV columns are all text)."""
    try:
        return all(float(text) is not None for text in array.drop_null()[:1].to_pylist())
    except ValueError:
        return False
