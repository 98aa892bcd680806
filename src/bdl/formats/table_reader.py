"""Recordings in one table: a long table with a recording column, or one recording.

Opening scans only the id and clock columns, a bounded number of rows at a time, and verifies
them: ids, order, gaps, jitter, UTC offsets. Values are read on demand, for one recording, and
stream in file order if recordings are read in that order. The rows of a recording may be
scattered over its table, but must run forward in time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from bdl.column_values import ColumnPlace, names, values32
from bdl.errors import InputError
from bdl.formats.addresses import version
from bdl.formats.channel_names import channel_units
from bdl.formats.files import stored_size
from bdl.formats.read_ahead import read_ahead
from bdl.formats.recordings.recording_format import group_of
from bdl.formats.recordings.table_format import TableFormat
from bdl.formats.sample_clock import SampleClock
from bdl.formats.table_columns import TableColumns, columns_of
from bdl.formats.table_file import TableFile
from bdl.formats.time_zones import OffsetChanges, start_in_zone
from bdl.recording import RecordingInfo, Recordings
from bdl.value_readers import ValueReader, Values

_LONG = 1 << 18  # rows from which a second thread pays


@dataclass
class _Scan:
    """A recording while its table is scanned: its clock, runs of rows and group."""

    clock: SampleClock
    runs: list[tuple[int, int]] = field(default_factory=list)
    group: str | None = None

    def add_run(self, first: int, last: int) -> None:
        if self.runs and self.runs[-1][1] == first:
            first = self.runs.pop()[0]
        self.runs.append((first, last))


class TableReader(ValueReader):
    """Reads the recordings of one table file; ``options`` is its format with its options.

    Examples
    --------
    >>> import tempfile
    >>> from bdl.formats.recordings import CsvRecordings
    >>> file = Path(tempfile.mkdtemp()) / "walk.csv"
    >>> _ = file.write_text("time,x\\n0.0,1\\n0.5,2\\n1.0,3\\n")
    >>> TableReader(file, CsvRecordings()).recordings()["walk"]
    Recording 'walk': 3 samples x 1 channel (x), every 0.5 s, 0.00 h
    """

    def __init__(self, path: Path, options: TableFormat) -> None:
        self.path = path
        self.options = options
        self._clocks: dict[str, SampleClock] = {}
        self._runs: dict[str, list[tuple[int, int]]] = {}
        self._stamp = self._file_stamp()
        self._rewind()

    @cached_property
    def table(self) -> TableFile:
        """The file, opened when it is first used: readers are also sent to other processes."""
        return self.options.open_table(self.path, [self.options.recording or "recording"])

    @cached_property
    def columns(self) -> TableColumns:
        """What its columns hold."""
        return columns_of(self.table, self.options)

    def _rewind(self) -> None:
        self._lock = threading.Lock()
        self._flow: Iterator[pa.RecordBatch] | None = None
        self._batch: pa.RecordBatch | None = None
        self._row = 0  # of the first row of the batch

    def _file_stamp(self) -> str:
        """The version of the file, which must not change while it is read."""
        stored_size(self.path)
        return version(self.path)

    def __getstate__(self) -> dict[str, Any]:
        names = ("path", "options", "_clocks", "_runs", "_stamp")
        return {name: vars(self)[name] for name in names}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state)
        self._rewind()

    def recordings(self) -> Recordings:
        """Scan the table and return its recordings."""
        infos = []
        for id, scan in self._scan().items():
            scan.clock.finish()
            self._clocks[id], self._runs[id] = scan.clock, scan.runs
            infos.append(self._info(id, scan.clock, scan.group))
        notes = [note for clock in self._clocks.values() for note in clock.notes]
        return Recordings(tuple(infos), self, (*self.table.notes, *self.columns.notes, *notes))

    def _scan(self) -> dict[str, _Scan]:
        scans: dict[str, _Scan] = {}
        row = 0
        flow = self.table.batches(self.columns.scanned)
        if (self.table.rows or 0) > _LONG:
            flow = read_ahead(flow)
            _keep_freed_memory()
        for batch in flow:
            for id, first, last in self._ids(batch, row):
                if id not in scans:
                    scans[id] = _Scan(self._clock(id))
                scan = scans[id]
                scan.add_run(row + first, row + last)
                part = batch.slice(first, last - first)
                scan.clock.add(self.columns.clock_rows(part, self.path, row + first))
                self._note_group(scan, id, part, row + first)
            row += len(batch)
        if not scans:
            if "recording" in self.columns.roles or self.table.about.get("samples") != 0:
                raise InputError(f"{self.path}: the table has columns but no rows")
            scans[self.path.stem] = _Scan(self._clock(self.path.stem))
        return scans

    def _ids(self, batch: pa.RecordBatch, row: int) -> Iterator[tuple[str, int, int]]:
        """Runs of rows with one id: the id, the first row and the row after the last."""
        column = self.columns.roles.get("recording")
        if column is None:
            if len(batch):
                yield self.path.stem, 0, len(batch)
            return
        distinct, codes = names(batch.column(column), ColumnPlace(self.path, column, row))
        edges = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(), len(codes)]
        for first, last in pairwise(edges):
            if last > first:
                yield distinct[codes[first]], first, last

    def _clock(self, id: str) -> SampleClock:
        options = self.options
        return SampleClock(
            f"{self.path}: recording {id!r}",
            absolute=self.columns.clock in ("epoch", "iso"),
            period=options.period or self.table.about.get("period", 0.0),
            regular=options.regular,
            duplicates=options.duplicates,
            zone=self.columns.zone,
            first_sample=options.first_sample,
            unsorted=self._unsorted(),
        )

    def _unsorted(self) -> str:
        """Advice if times run backwards: several recordings must not be sorted together."""
        if "recording" in self.columns.roles:
            return "sort the rows by time within each recording"
        return (
            "if the table holds several recordings, name the column that distinguishes them "
            f"(--recording NAME; it has {', '.join(self.table.columns)}), otherwise sort the rows "
            "by time"
        )

    def _note_group(self, scan: _Scan, id: str, part: pa.RecordBatch, row: int) -> None:
        column = self.columns.roles.get("group")
        if column is None:
            return
        distinct, codes = names(part.column(column), ColumnPlace(self.path, column, row))
        groups = {distinct[code] for code in np.unique(codes)} | {scan.group or distinct[codes[0]]}
        if len(groups) > 1:
            raise InputError(
                f"{self.path}: recording {id!r} has two groups, "
                f"{' and '.join(sorted(groups)[:2])}; a group is one subject, constant within a "
                "recording"
            )
        scan.group = groups.pop()

    def _info(self, id: str, clock: SampleClock, group: str | None) -> RecordingInfo:
        about = self.table.about
        start, changes = clock.start, clock.offset_changes
        if start is None and "start" in about:
            start, changes = self._start_in_file(clock)
        group = group or group_of(id, self.options.group_pattern) or about.get("group")
        channels = self.columns.channels
        stated = about.get("units") or self.columns.units
        units = channel_units(channels, stated, self.options.channel_units, self.path)
        return RecordingInfo(
            id, clock.samples, channels, clock.period, start, changes, group, units=units
        )

    def _start_in_file(self, clock: SampleClock) -> tuple[datetime | None, OffsetChanges]:
        """The start that the file itself states, and the changes of the UTC offset after it."""
        about = self.table.about
        try:
            start = datetime.fromisoformat(about["start"])
            zone = self.options.zone
            if start.tzinfo is None:  # on the local clock of a device
                first_time = start if zone else None
                return start_in_zone(first_time, zone, clock.period, clock.samples)[:2]
            changes = about.get("offset_changes", ())
            return start, tuple((int(sample), int(offset)) for sample, offset in changes)
        except (TypeError, ValueError) as error:
            raise InputError(f"{self.path}: invalid start time: {error}") from error

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        return (self.path,)

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        if not self._clocks[info.id].exact:
            yield self._regular(info)
            return
        for row, batch in self._rows(info.id):
            yield self._values(batch, row)

    def _rows(self, id: str) -> Iterator[tuple[int, pa.RecordBatch]]:
        """The rows of one recording with the number of the first, in order."""
        for first, last in self._runs[id]:
            while first < last:
                with self._lock:
                    batch = self._next(first, last)
                yield first, batch
                first += len(batch)
        if "recording" not in self.columns.roles:
            # Close a file that holds nothing more: thousands may be read one after another.
            with self._lock:
                self._flow = self._batch = None

    def _next(self, first: int, last: int) -> pa.RecordBatch:
        """Some rows from ``first`` on.

        The position is kept, so that going forward through the file decodes it once.
        """
        if self._flow is None or first < self._row:
            if self._file_stamp() != self._stamp:
                raise InputError(f"{self.path}: the file was changed after it was opened")
            self._flow = self.table.batches(self.columns.values, first)
            self._batch, self._row = None, first
        while self._batch is None or self._row + len(self._batch) <= first:
            self._row += 0 if self._batch is None else len(self._batch)
            self._batch = next(self._flow, None)
            if self._batch is None:
                self._flow = None
                raise InputError(f"{self.path}: it has fewer rows than before; is it damaged?")
        return self._batch.slice(first - self._row, last - first)

    def _values(self, batch: pa.RecordBatch, row: int) -> Values:
        values = np.empty((len(batch), len(self.columns.channels)), np.float32)
        for i, name in enumerate(self.columns.values):
            values[:, i] = values32(batch.column(name), ColumnPlace(self.path, name, row))
        return values

    def _regular(self, info: RecordingInfo) -> Values:
        """Values on the regular clock: each row at its nearest sample, NaN elsewhere."""
        clock, rule = self._clocks[info.id], self.options.duplicates
        values = np.full((info.samples, len(info.channels)), np.nan, np.float32)
        sums = np.zeros((2, *values.shape) if rule == "mean" else 0)
        done, last = 0, -1
        for row, batch in self._rows(info.id):
            samples, part = clock.samples_of(done, len(batch)), self._values(batch, row)
            if rule == "mean":
                present = ~np.isnan(part)
                np.add.at(sums[0], samples, np.where(present, part, 0.0))
                np.add.at(sums[1], samples, present)
            else:
                kept = np.diff(samples, prepend=last) > 0 if rule == "first" else slice(None)
                values[samples[kept]] = part[kept]
            done, last = done + len(batch), int(samples[-1])
        if rule == "mean":
            np.divide(sums[0], sums[1], out=values, where=sums[1] > 0, casting="same_kind")
        return values


def _keep_freed_memory() -> None:
    """Have freed memory used again for the next rows, where the C library is that of GNU.

    It returns freed memory to the system at once until a block of some MiB has been freed; all
    columns of all batches are then mapped and cleared again. This block is never touched.
    """
    np.empty(1 << 22, np.uint8)
