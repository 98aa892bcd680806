"""Recordings in tables: one long table with a recording column, or one file a recording.

Opening scans only the id and clock columns, a bounded number of rows at a time, and verifies
them: ids, order, gaps, jitter, UTC offsets. Values are read on demand, for one recording, and
stream in file order when recordings are asked for in that order. The rows of a recording may be
scattered over its table, but must run forward in time.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.formats.ahead import ahead
from bdl.formats.clock import Clock, ClockScan, Rows
from bdl.formats.columns import Place, names, values32
from bdl.formats.layout import Layout
from bdl.formats.roles import Roles, clock_rows, roles_of
from bdl.formats.sources import Source, open_source
from bdl.recording import RecordingInfo, Recordings, Values
from bdl.sampling import nearest_sample
from bdl.value_readers import ValueReader

_LONG = 1 << 18  # rows from which a second thread pays


@dataclass(frozen=True)
class Part:
    """Where one recording stands in a file: its runs of rows and its clock."""

    file: int
    runs: NDArray[np.int64]
    clock: Clock


@dataclass
class _Open:
    """A recording while its table is scanned."""

    scan: ClockScan
    runs: list[tuple[int, int]] = field(default_factory=list)
    group: str | None = None


class TableFile:
    """One table file: what its columns are, and a forward reader of its values."""

    def __init__(self, path: Path, layout: Layout) -> None:
        self.path = path
        self.layout = layout
        self._lock = threading.Lock()
        self._open()

    def _open(self) -> None:
        guess = self.layout.recording or "recording"
        self.source: Source = open_source(self.path, text=[guess])
        self.roles: Roles = roles_of(self.source, self.layout)
        self._flow: Iterator[pa.RecordBatch] | None = None
        self._batch: pa.RecordBatch | None = None
        self._row = 0
        self._placed = False

    def __getstate__(self) -> dict[str, Any]:
        return {"path": self.path, "layout": self.layout}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["path"], state["layout"])  # type: ignore[misc]

    def scan(self) -> dict[str, tuple[RecordingInfo, NDArray[np.int64], Clock]]:
        """All recordings of the file: info, runs of rows, clock."""
        roles, row = self.roles, 0
        found: dict[str, _Open] = {}
        flow = self.source.batches(roles.scanned)
        if (self.source.rows or 0) > _LONG:
            flow = ahead(flow)
        for batch in flow:
            for id, first, last in self._runs(batch, row):
                if id not in found:
                    found[id] = _Open(self._scan_of(id))
                one = found[id]
                begin, end = row + first, row + last
                if one.runs and one.runs[-1][1] == begin:
                    one.runs[-1] = (one.runs[-1][0], end)
                else:
                    one.runs.append((begin, end))
                part = batch.slice(first, last - first)
                one.scan.add(clock_rows(part, roles, self.layout, self.path, begin))
                self._note_group(one, id, part, begin)
            row += len(batch)
        if not found:
            if roles.recording is None and roles.about.get("samples") == 0:
                found[self.path.stem] = _Open(self._scan_of(self.path.stem))
            else:
                raise InputError(f"{self.path}: the table has columns but no rows")
        return {id: self._finished(id, one) for id, one in found.items()}

    def _runs(self, batch: pa.RecordBatch, row: int) -> Iterator[tuple[str, int, int]]:
        """Stretches of rows with one id."""
        if self.roles.recording is None:
            if len(batch):
                yield self.path.stem, 0, len(batch)
            return
        place = Place(self.path, self.roles.recording, row)
        distinct, codes = names(batch.column(self.roles.recording), place)
        edges = [0, *(np.flatnonzero(codes[1:] != codes[:-1]) + 1).tolist(), len(codes)]
        for first, last in pairwise(edges):
            if last > first:
                yield distinct[codes[first]], first, last

    def _scan_of(self, id: str) -> ClockScan:
        layout, roles = self.layout, self.roles
        told = roles.about.get("period")
        return ClockScan(
            f"{self.path}: recording {id!r}",
            period=layout.period if layout.period is not None else told,
            absolute=roles.clock in ("epoch", "iso"),
            regular=layout.regular,
            zone=roles.zone,
            first_sample=layout.first_sample,
        )

    def _note_group(self, one: _Open, id: str, part: pa.RecordBatch, row: int) -> None:
        column = self.roles.group
        if column is None:
            return
        distinct, codes = names(part.column(column), Place(self.path, column, row))
        used = {distinct[code] for code in np.unique(codes)} | ({one.group} if one.group else set())
        if len(used) > 1:
            raise InputError(
                f"{self.path}: recording {id!r} has two groups, {' and '.join(sorted(used)[:2])}; "
                "a group is one subject, constant within a recording"
            )
        one.group = used.pop()

    def _finished(self, id: str, one: _Open) -> tuple[RecordingInfo, NDArray[np.int64], Clock]:
        clock = one.scan.finish()
        told = self.roles.started()
        info = RecordingInfo(
            id,
            clock.samples,
            self.roles.channels,
            clock.period,
            clock.start or told[0],
            clock.offset_changes if clock.start else told[1],
            one.group or self.layout.group_of(id) or self.roles.about.get("group"),
        )
        return info, np.array(one.runs, dtype=np.int64).reshape(-1, 2), clock

    def rows(self, first: int, last: int) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Rows ``first`` to ``last`` of the values (and clock) with their numbers, in order."""
        while first < last:
            with self._lock:
                batch = self._next(first, last)
            yield first, batch
            first += len(batch)

    def _next(self, first: int, last: int) -> pa.RecordBatch:
        """Some rows from ``first`` on.

        The position is kept, so that going forward through the file decodes it once.
        """
        if self._flow is None or first < self._row:
            columns = (*self.roles.channels, *(self.roles.placing if self._placed else ()))
            self._flow, self._batch, self._row = self.source.batches(columns, first), None, first
        while self._batch is None or self._row + len(self._batch) <= first:
            self._row += 0 if self._batch is None else len(self._batch)
            self._batch = next(self._flow, None)
            if self._batch is None:
                self._flow = None
                raise InputError(f"{self.path}: it has fewer rows than before; was it changed?")
        return self._batch.slice(first - self._row, last - first)

    def chunks(self, part: Part, info: RecordingInfo) -> Iterator[Values]:
        """Values of one recording in order, some rows at a time."""
        if not part.clock.exact:
            yield self._regular(part, info)
            return
        for first, last in part.runs.tolist():
            for row, batch in self.rows(first, last):
                yield self._values(batch, row)
        self._rest()

    def _rest(self) -> None:
        """Let go of a file that holds nothing more: thousands may be read one after another."""
        if self.roles.recording is None:
            with self._lock:
                self._flow = self._batch = None

    def _values(self, batch: pa.RecordBatch, row: int) -> Values:
        out = np.empty((len(batch), len(self.roles.channels)), np.float32)
        for i, name in enumerate(self.roles.channels):
            out[:, i] = values32(batch.column(name), Place(self.path, name, row))
        return out

    def _regular(self, part: Part, info: RecordingInfo) -> Values:
        """Values put on the regular clock: each row to its nearest sample, NaN elsewhere."""
        if not self._placed:
            # Times are read with the values from here on; where rows are samples, never.
            with self._lock:
                self._placed, self._flow = True, None
        out = np.full((info.samples, len(info.channels)), np.nan, np.float32)
        for first, last in part.runs.tolist():
            for row, batch in self.rows(first, last):
                told: Rows = clock_rows(batch, self.roles, self.layout, self.path, row)
                if told.sample is not None:
                    index = told.sample - self.layout.first_sample
                else:
                    assert told.time is not None
                    assert part.clock.origin is not None
                    index = nearest_sample(told.time - part.clock.origin, part.clock.step)
                if len(index) and not 0 <= index.min() <= index.max() < info.samples:
                    raise InputError(f"{self.path}: its times are not those of before; changed?")
                out[index] = self._values(batch, row)
        self._rest()
        return out


@dataclass(frozen=True)
class TableReader(ValueReader):
    """Reads the values of recordings in tables; see `read_tables`."""

    tables: tuple[TableFile, ...]
    parts: dict[str, Part]

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        """Values of one recording in order, some rows at a time."""
        part = self.parts[info.id]
        return self.tables[part.file].chunks(part, info)

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        """The table that holds the recording."""
        return (self.tables[self.parts[info.id].file].path,)


def read_tables(files: list[Path], layout: Layout) -> Recordings:
    """Recordings of one or more table files, all with one layout.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "walk.csv"
    >>> _ = file.write_text("time,x\\n0.0,1\\n0.5,2\\n1.0,3\\n")
    >>> read_tables([file], Layout())["walk"]
    Recording 'walk': 3 samples x 1 channel (x), every 0.5 s, 0.00 h
    """
    tables = [TableFile(path, layout) for path in files]
    infos: list[RecordingInfo] = []
    parts: dict[str, Part] = {}
    notes: list[str] = []
    for number, table in enumerate(tables):
        for id, (info, runs, clock) in table.scan().items():
            if id in parts:
                raise InputError(
                    f"two recordings have the id {id!r}: one in {tables[parts[id].file].path}, "
                    f"one in {table.path}; rename a file, or name the recording column"
                )
            infos.append(info)
            parts[id] = Part(number, runs, clock)
            notes.extend(clock.notes)
    return Recordings(tuple(infos), TableReader(tuple(tables), parts), tuple(notes))
