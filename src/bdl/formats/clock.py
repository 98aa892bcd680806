"""The clock of a recording, found and verified while its rows stream by.

Times are whole nanoseconds. Sample ``i`` stands at ``origin + i * period``; a row belongs to its
nearest sample. A clock is regular when row ``i`` is sample ``i`` and no time is further than a
quarter period from its sample. Times or sample numbers that repeat or run backwards are an error
always; gaps and jitter are an error unless a regular clock was asked for, and then they are
counted in a note.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.formats.ticks import first_jump, first_late
from bdl.formats.zones import infer_period, named_zone, zone_changes
from bdl.sampling import nearest_sample

Longs = NDArray[np.int64]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
NANO = 1_000_000_000
TOLERANCE = 0.25  # of a period: well inside the half where the nearest sample is certain
_ENOUGH = 4096  # rows from which a period is inferred
_SPARSE = 100  # a regular clock may be this many times longer than what came


@dataclass(frozen=True)
class Rows:
    """Some rows of one recording: what its clock columns say. ``row`` is the file's row number."""

    row: int
    count: int
    sample: Longs | None = None
    time: Longs | None = None
    offset: Longs | None = None


@dataclass(frozen=True)
class Clock:
    """The verified clock of one recording."""

    samples: int
    period: float
    start: datetime | None
    offset_changes: tuple[tuple[int, int], ...]
    origin: int | None
    step: float
    exact: bool
    notes: tuple[str, ...] = ()


@dataclass
class ClockScan:
    """Collects rows of one recording in order; `finish` gives its clock.

    Parameters
    ----------
    where : file and recording, for messages.
    period : seconds, or None to infer.
    absolute : times are since 1970 (the first row's is the start) rather than since the start.
    regular : gaps and jitter are allowed, and noted.
    zone : IANA zone that gives the UTC offsets, where no row carries one.

    >>> scan = ClockScan("a.csv", period=None, absolute=False)
    >>> scan.add(Rows(0, 3, time=np.array([0, 20, 40]) * 1_000_000))
    >>> scan.finish().period
    0.02
    """

    where: str
    period: float | None
    absolute: bool
    regular: bool = False
    zone: str | None = None
    first_sample: int = 0
    rows: int = 0
    _waiting: list[Rows] = field(default_factory=list)
    _origin: int | None = None
    _period: float = 0.0
    _step: float = 0.0
    _index: int = -1
    _time: int | None = None
    _offset: int | None = None
    _changes: list[tuple[int, int]] = field(default_factory=list)
    _gaps: int = 0
    _gap_at: str = ""
    _late: int = 0
    _late_at: str = ""
    _shared: int = 0
    _first_offset: int = 0

    def __post_init__(self) -> None:
        if self.period is not None:
            self._period, self._step = self.period, self.period * NANO

    def add(self, rows: Rows) -> None:
        """The next rows of the recording."""
        if not rows.count:
            return
        if self._step:
            self._take(rows)
            return
        self._waiting.append(rows)
        if sum(part.count for part in self._waiting) >= _ENOUGH:
            self._begin()

    def _begin(self) -> None:
        """Settle the period from the rows that wait, then take them."""
        times = [part.time for part in self._waiting if part.time is not None]
        if not times:
            raise InputError(
                f"{self.where}: no period and no time column to infer it from; give the period "
                "in seconds"
            )
        samples = [part.sample for part in self._waiting if part.sample is not None]
        counts = np.concatenate(samples) if samples else None
        self._period = infer_period(np.concatenate(times), counts, self.where)
        self._step = self._period * NANO
        waiting, self._waiting = self._waiting, []
        for part in waiting:
            self._take(part)

    def _take(self, rows: Rows) -> None:
        if self._origin is None and rows.time is not None:
            self._origin = self._start_of(rows)
        index = self.index(rows)
        self._note_offsets(rows, index)
        if index is None:
            self._index = self.rows + rows.count - 1
        else:
            self._verify_order(rows, index)
            self._index = int(index[-1])
        if rows.time is not None:
            self._time = int(rows.time[-1])
        self.rows += rows.count

    def _start_of(self, rows: Rows) -> int:
        """Time of sample 0."""
        assert rows.time is not None
        first = int(rows.time[0])
        if rows.sample is not None:
            return first - round(float(rows.sample[0] - self.first_sample) * self._step)
        if self.absolute or abs(first) <= self._step / 2:
            return first
        if first < 0:
            raise InputError(
                f"{self.where}: row {rows.row}: time {first / NANO:g} s lies before the start "
                "(0 s); are these seconds of another clock?"
            )
        return 0

    def index(self, rows: Rows) -> Longs | None:
        """Sample of each row; None where row i simply is sample i."""
        expected = self._index + 1
        regular = expected == self.rows
        allowed = TOLERANCE * self._step + 1
        if rows.sample is not None:
            jump = first_jump(rows.sample, expected + self.first_sample) if regular else 0
            if rows.time is None:
                return None if jump < 0 else rows.sample - self.first_sample
            late = first_late(rows.time, self._origin, expected, self._step, allowed)
            if jump < 0 and late < 0:
                return None
            index = rows.sample - self.first_sample
            self._note_late(rows, index)
            return index
        if rows.time is None:
            return None
        if regular and first_late(rows.time, self._origin, expected, self._step, allowed) < 0:
            return None
        assert self._origin is not None
        index = nearest_sample(rows.time - self._origin, self._step)
        self._note_late(rows, index)
        return index

    def _note_late(self, rows: Rows, index: Longs) -> None:
        assert rows.time is not None
        assert self._origin is not None
        late = np.abs((rows.time - self._origin) - index * self._step)
        bad = np.flatnonzero(late > TOLERANCE * self._step + 1)
        if len(bad) and not self._late:
            at = int(bad[0])
            self._late_at = (
                f"row {rows.row + at} is {late[at] / NANO:g} s off sample {int(index[at])}"
            )
        self._late += len(bad)

    def _verify_order(self, rows: Rows, index: Longs) -> None:
        """Refuse what repeats or runs backwards; count gaps."""
        by = rows.sample if rows.sample is not None else rows.time
        assert by is not None
        last = self._index + self.first_sample if rows.sample is not None else self._time
        before = by[:-1] if last is None or not self.rows else np.concatenate([[last], by[:-1]])
        after = by[1:] if len(before) < len(by) else by
        back = np.flatnonzero(after <= before)
        if len(back):
            at = int(back[0])
            row = rows.row + at + len(by) - len(before)
            same = after[at] == before[at]
            told = (
                f"sample {after[at]} after sample {before[at]}"
                if rows.sample is not None
                else f"{self._tell(int(after[at]))} after {self._tell(int(before[at]))}"
            )
            raise InputError(
                f"{self.where}: row {row}: {'duplicated' if same else 'unsorted'} time: {told}; "
                + (
                    "are rows repeated, or the times coarser than the sampling?"
                    if same
                    else "sort the rows by time within each recording"
                )
            )
        if index[0] < 0:
            raise InputError(
                f"{self.where}: row {rows.row}: sample number "
                f"{int(index[0]) + self.first_sample} lies before the first, {self.first_sample}"
            )
        jumps = np.diff(index, prepend=self._index)
        self._shared += int((jumps == 0).sum())
        gaps = np.flatnonzero(jumps > 1)
        if len(gaps) and not self._gaps:
            at = int(gaps[0])
            self._gap_at = (
                f"{int(jumps[at]) - 1} missing before row {rows.row + at} (sample {int(index[at])})"
            )
        self._gaps += len(gaps)

    def _tell(self, nanoseconds: int) -> str:
        if not self.absolute:
            return f"{nanoseconds / NANO:g} s"
        return (EPOCH + timedelta(microseconds=nanoseconds // 1000)).isoformat()

    def _note_offsets(self, rows: Rows, index: Longs | None) -> None:
        if rows.offset is None:
            return
        offsets = rows.offset
        changed = np.flatnonzero(offsets[1:] != offsets[:-1]) + 1
        if self._offset is None:
            self._first_offset = int(offsets[0])
        elif int(offsets[0]) != self._offset:
            changed = np.concatenate([[0], changed])
        for at in changed.tolist():
            sample = self.rows + at if index is None else int(index[at])
            self._changes.append((sample, int(offsets[at])))
        self._offset = int(offsets[-1])

    def finish(self) -> Clock:
        """The clock, once all rows are in."""
        if self._waiting:
            self._begin()
        samples = self._index + 1
        notes = self._judge(samples)
        period = self._period
        start = None
        changes = tuple(self._changes)
        if self.absolute and self._origin is not None:
            if self._offset is not None:
                zone: timezone | ZoneInfo = timezone(timedelta(seconds=self._first_offset))
            else:
                zone = named_zone(self.zone or "UTC")
            begin = EPOCH + timedelta(microseconds=self._origin // 1000)
            start = begin.astimezone(zone)
            if self._offset is None:
                changes = zone_changes(start, period, samples)
                offset = start.utcoffset()
                assert offset is not None
                start = start.astimezone(timezone(offset))
        exact = samples == self.rows and not self._shared
        return Clock(samples, period, start, changes, self._origin, self._step, exact, notes)

    def _judge(self, samples: int) -> tuple[str, ...]:
        missing = samples - self.rows + self._shared
        told = []
        if missing:
            told.append(f"{missing:,} missing samples in {self._gaps:,} gaps, first {self._gap_at}")
        if self._late:
            told.append(f"{self._late:,} times off the regular clock, first {self._late_at}")
        if self._shared:
            told.append(f"{self._shared:,} rows share a sample with the row before")
        if not told:
            return ()
        if not self.regular:
            raise InputError(
                f"{self.where}: the clock is not regular at {self._period:g} s: "
                f"{'; '.join(told)}. Ask for a regular clock (regular=True, --regular) to fill "
                "gaps with missing values, or give another period"
            )
        if samples > _SPARSE * self.rows + 1000:
            raise InputError(
                f"{self.where}: {self.rows:,} rows would become {samples:,} samples on a regular "
                f"clock of {self._period:g} s; is the period or the time's unit right?"
            )
        return (f"{self.where}: put on a regular clock: {'; '.join(told)}",)
