"""What each column of one table holds, and its clock columns as numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa

from bdl.column_names import find_columns, guess_notes, time_unit
from bdl.column_values import ColumnPlace, epoch_unit, integers, is_text
from bdl.errors import InputError
from bdl.formats.date_forms import DateOrder, find_date_order, joined_texts
from bdl.formats.sample_clock import ClockRows
from bdl.formats.table_file import TableFile
from bdl.formats.time_zones import named_zone
from bdl.formats.timestamps import parse_times
from bdl.units import units_in_names

if TYPE_CHECKING:
    from bdl.formats.recordings.table_format import TableFormat

_ROLES = ("recording", "sample", "date", "time", "group")


@dataclass(frozen=True)
class TableColumns:
    """The columns of one table by what they hold; ``clock`` is None if rows are samples."""

    values: tuple[str, ...]  # columns of the channels
    channels: tuple[str, ...]  # their names, without units
    units: tuple[str, ...]  # what their names say
    roles: dict[str, str]
    clock: str | None
    unit: str
    zone: str | None
    order: DateOrder | None
    notes: tuple[str, ...]

    @property
    def scanned(self) -> tuple[str, ...]:
        """Columns read on opening; if there are none, one channel, to count rows."""
        return tuple(self.roles.values()) or self.values[:1]

    def clock_rows(self, batch: pa.RecordBatch, path: object, row: int) -> ClockRows:
        """The clock columns of some rows of one recording; ``row`` is the first one's number."""
        rows = ClockRows(np.arange(row, row + len(batch)))
        if "sample" in self.roles:
            place = ColumnPlace(path, self.roles["sample"], row)
            rows = rows._replace(sample=integers(batch.column(self.roles["sample"]), place))
        if self.clock is None:
            return rows
        place = ColumnPlace(path, self.roles.get("time", self.roles.get("date", "")), row)
        unit = None if self.clock == "iso" else self.unit
        time, offset, local = parse_times(self._times(batch), place, unit, self.order)
        return rows._replace(time=time, offset=offset, local=local)

    def _times(self, batch: pa.RecordBatch) -> pa.Array:
        """The time column, with that of dates before it if there is one."""
        return joined_texts(
            [batch.column(self.roles[role]) for role in ("date", "time") if role in self.roles]
        )


def columns_of(table: TableFile, options: TableFormat) -> TableColumns:
    """Decide what every column of a table holds: by the options, otherwise by its name."""
    named = {name: getattr(options, name) for name in _ROLES}
    units = units_in_names([name for name in table.columns if not time_unit(name)])
    wanted = None if options.channels is None else _named(table, options.channels, units)
    free = [name for name in table.columns if name not in (wanted or ())]
    roles = find_columns(free, named, _ROLES, table.path, flag="--{role} NAME")
    texts = [name for name in table.texts if name not in roles.values()]
    if wanted is None:
        texts += table.typed_texts([name for name in free if name not in roles.values()])
    taken = {*roles.values(), *table.left_out, *texts}
    values = wanted or tuple(name for name in table.columns if name not in taken)
    if not values:
        raise InputError(
            f"{table.path}: no column is left for the values; it has {', '.join(table.columns)}"
            + (f", of which {', '.join(texts)} hold text" if texts else "")
            + "; name the columns of values (channels=, --channel)"
        )
    table.need(values)
    with_units = [units.get(name, (name, "")) for name in values]
    notes = [guess_notes(roles, named, table.path)]
    if texts and wanted is None:
        notes.append(f"{table.path}: {', '.join(texts)} left out, which holds text")
    if any(unit for _, unit in with_units):
        listed = ", ".join(f"{name} in {unit}" for name, unit in with_units if unit)
        notes.append(f"{table.path}: units in the names of columns: {listed}")
    unit = options.unit or time_unit(roles.get("time", "")) or "s"
    columns = TableColumns(
        values,
        tuple(name for name, _ in with_units),
        tuple(unit for _, unit in with_units) if any(unit for _, unit in with_units) else (),
        roles, None, unit, options.zone, None, tuple(filter(None, notes)),
    )  # fmt: skip
    if options.zone is not None:
        named_zone(options.zone)
    if "time" not in roles and "date" not in roles:
        return columns
    return _with_clock(table, options, columns)


def _named(
    table: TableFile, channels: Sequence[str], units: Mapping[str, tuple[str, str]]
) -> tuple[str, ...]:
    """The columns of channels, which may be named with or without the unit in their names."""
    known = {name: column for column, (name, _) in units.items()}
    plain = {wanted: units_in_names([wanted]).get(wanted, (wanted, ""))[0] for wanted in channels}
    return tuple(
        wanted if wanted in table.columns else known.get(plain[wanted], wanted)
        for wanted in channels
    )


def _with_clock(table: TableFile, options: TableFormat, columns: TableColumns) -> TableColumns:
    """The columns with the kind of their times, the zone and the order of dates."""
    batch = next(iter(table.batches(columns.scanned)), None)
    if batch is None:
        return replace(columns, clock=options.clock or "seconds")
    times = columns._times(batch)
    if pa.types.is_timestamp(times.type):
        if options.clock in ("seconds", "iso"):
            raise InputError(f"{table.path}: the times are timestamps, not {options.clock}")
        return replace(columns, clock="epoch", zone=times.type.tz or options.zone)
    clock = options.clock
    if clock is None:
        clock = "iso" if is_text(times.type) and not _is_number(times) else "seconds"
        given = options.unit or time_unit(columns.roles.get("time", ""))
        if clock == "seconds" and (unit := epoch_unit(times, given)):
            note = f"{table.path}: times are taken as {unit} since 1970 (otherwise --clock seconds)"
            columns = replace(columns, unit=unit, notes=(*columns.notes, note))
            clock = "epoch"
    order = options.date_order or table.about.get("date_order")
    if clock == "iso" and order is None and is_text(times.type):
        order = find_date_order(times, ColumnPlace(table.path, "time"))
    return replace(columns, clock=clock, order=order)


def _is_number(array: pa.Array) -> bool:
    """Whether the first text that is there reads as a number (CSV columns are all text)."""
    try:
        return all(float(text) is not None for text in array.drop_null()[:1].to_pylist())
    except ValueError:
        return False
