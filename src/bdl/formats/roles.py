"""The part that each column of one table plays, and its clock columns as numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.formats.clock import Rows
from bdl.formats.columns import Place, integers, is_text, numbers
from bdl.formats.iso import parse
from bdl.formats.layout import Layout
from bdl.formats.sources import Source, need
from bdl.formats.zones import named_zone

_SCALE = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_LIMIT = 2.0**62


@dataclass(frozen=True)
class Roles:
    """Columns of one table by what they are; ``clock`` is None where rows are samples."""

    channels: tuple[str, ...]
    recording: str | None
    sample: str | None
    time: str | None
    clock: str | None
    zone: str | None
    default_offset: int | None
    group: str | None
    about: dict[str, Any] = field(default_factory=dict)
    path: object = ""

    @property
    def placing(self) -> tuple[str, ...]:
        """Columns that place a row on the clock."""
        return tuple(name for name in (self.sample, self.time) if name is not None)

    @property
    def scanned(self) -> tuple[str, ...]:
        """Columns read on opening; where there are none, one channel, to count rows."""
        found = [n for n in (self.recording, self.group) if n is not None] + [*self.placing]
        return tuple(found) or self.channels[:1]

    def started(self) -> tuple[datetime | None, tuple[tuple[int, int], ...]]:
        """Start and offset changes that the file says of itself."""
        told = self.about.get("start")
        if told is None:
            return None, ()
        try:
            changes = tuple((int(a), int(b)) for a, b in self.about.get("offset_changes", ()))
            return datetime.fromisoformat(told), changes
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.path}: damaged note on the start time: {error}") from error


def roles_of(source: Source, layout: Layout) -> Roles:
    """Settle the part of every column of a table."""
    named = (layout.recording, layout.sample, layout.time, layout.group)
    need(source, [name for name in named if name is not None])
    need(source, layout.channels or ())
    taken = {name for name in named if name is not None} | set(layout.channels or ())

    def default(given: str | None, plain: str) -> str | None:
        return given or (plain if plain in source.columns and plain not in taken else None)

    recording = default(layout.recording, "recording")
    sample = default(layout.sample, "sample")
    time = default(layout.time, "time")
    group = default(layout.group, "group")
    channels = layout.channels
    if channels is None:
        used = {recording, sample, time, group}
        channels = tuple(name for name in source.columns if name not in used)
    if not channels:
        raise InputError(
            f"{source.path}: no column is left for the values; it has {', '.join(source.columns)}"
        )
    clock, zone = _clock_of(source, layout, time)
    offset = None
    if layout.zone is not None:
        east = named_zone(layout.zone).utcoffset(None)
        if east is None and clock == "iso":
            raise InputError(
                f"{source.path}: zone {layout.zone!r}: times without offset are ambiguous in it "
                "when clocks are set back; give a fixed offset such as +01:00"
            )
        offset = None if east is None else int(east.total_seconds())
    told = source.about
    return Roles(channels, recording, sample, time, clock, zone, offset, group, told, source.path)


def _clock_of(source: Source, layout: Layout, time: str | None) -> tuple[str | None, str | None]:
    """Kind of the time column, and the zone that gives its offsets."""
    if time is None:
        return None, None
    kind = None
    for batch in source.batches([time]):
        kind = batch.column(0)
        break
    if kind is None:
        return layout.clock or "seconds", layout.zone
    if pa.types.is_timestamp(kind.type):
        zone = kind.type.tz or layout.zone
        if zone is None:
            raise InputError(
                f"{source.path}: column {time!r} holds timestamps without UTC offset; give the "
                "zone they were written in"
            )
        if layout.clock in ("seconds", "iso"):
            raise InputError(f"{source.path}: column {time!r} holds timestamps, not {layout.clock}")
        return "epoch", zone
    if layout.clock is not None:
        return layout.clock, layout.zone
    text = is_text(kind.type) and not _numeric(kind)
    return ("iso" if text else "seconds"), layout.zone


def _numeric(array: pa.Array) -> bool:
    """Whether the first text that is there reads as a number (CSV columns are all text)."""
    for value in array.drop_null()[:1].to_pylist():
        try:
            float(value)
        except ValueError:
            return False
    return True


def clock_rows(batch: pa.RecordBatch, roles: Roles, layout: Layout, path: Path, row: int) -> Rows:
    """The clock columns of some rows of one recording."""
    sample = time = offset = None
    if roles.sample is not None:
        sample = integers(batch.column(roles.sample), Place(path, roles.sample, row))
    if roles.time is not None:
        column, place = batch.column(roles.time), Place(path, roles.time, row)
        if roles.clock == "iso":
            time, offset = parse(column, place, default=roles.default_offset)
        elif pa.types.is_timestamp(column.type):
            time = _stamps(column, place)
        else:
            time = _nanoseconds(column, place, _SCALE[layout.unit])
    return Rows(row, len(batch), sample, time, offset)


def _stamps(column: pa.Array, place: Place) -> NDArray[np.int64]:
    if column.null_count:
        raise place.error(int(np.flatnonzero(np.asarray(column.is_null()))[0]), "a time", None)
    scale = _SCALE[column.type.unit]
    return _scaled(column.cast(pa.int64()).to_numpy(zero_copy_only=False), place, scale)


def _nanoseconds(column: pa.Array, place: Place, scale: int) -> NDArray[np.int64]:
    if pa.types.is_integer(column.type) and not column.null_count:
        return _scaled(column.to_numpy(zero_copy_only=False), place, scale)
    times = numbers(column, place) * float(scale)
    bad = ~(np.abs(times) < _LIMIT)
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise place.error(at, "a finite time", float(times[at] / scale), "is the unit right?")
    return np.floor(times + 0.5).astype(np.int64)


def _scaled(times: NDArray[Any], place: Place, scale: int) -> NDArray[np.int64]:
    bad = np.abs(times.astype(np.float64)) * scale >= _LIMIT
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise place.error(at, "a time", int(times[at]), "is the unit right?")
    return times.astype(np.int64) * scale
