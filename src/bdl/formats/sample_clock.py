"""The clock of a recording, verified while its rows are scanned.

Times are whole nanoseconds. Sample ``i`` is taken at ``origin + i * period``; a row belongs to its
nearest sample. A clock is regular if row ``i`` is sample ``i`` and no time is further than a
quarter period from its sample. Times or sample numbers that repeat or run backwards are always an
error; gaps and jitter are an error unless a regular clock was asked for, and then they are counted
in a note.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
from numpy.typing import NDArray

from bdl.compiled import compiled
from bdl.errors import InputError
from bdl.formats.period import NANO, infer_period
from bdl.formats.time_zones import OffsetChanges, start_in_zone
from bdl.formats.timestamps import LONG
from bdl.sampling import nearest_sample

Longs = NDArray[np.int64]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TOLERANCE = 0.25  # of a period: well inside the half where the nearest sample is certain
_ENOUGH = 4096  # rows from which a period is inferred
_SPARSE = 100  # a regular clock may be this many times longer than the rows


@dataclass(frozen=True)
class ClockRows:
    """Clock columns of consecutive rows; ``row`` is the number of the first in its file."""

    row: int
    count: int
    sample: Longs | None = None
    time: Longs | None = None  # nanoseconds
    offsets: Sequence[tuple[int, int]] = ()  # first row of each UTC offset, and its seconds


@dataclass(frozen=True)
class SampleClock:
    """The verified clock of one recording; ``origin`` and ``step`` are in nanoseconds."""

    samples: int
    period: float
    start: datetime | None
    offset_changes: OffsetChanges
    origin: int
    step: float
    exact: bool  # whether row i is sample i
    notes: tuple[str, ...] = ()


@dataclass
class ClockScan:
    """Scans the rows of one recording in order; `finish` gives its clock.

    Parameters
    ----------
    where
        File and recording, for messages.
    period
        Seconds between two samples, or None to infer it.
    absolute
        Whether times are since 1970 (the first row's is the start) or since the start.
    regular
        Whether gaps and jitter are allowed, and noted.
    zone
        Zone that gives the UTC offsets if no row has one; UTC by default.
    first_sample
        Number of a recording's first sample.

    Examples
    --------
    >>> scan = ClockScan("a.csv", period=None, absolute=False)
    >>> scan.add(ClockRows(0, 3, time=np.array([0, 20, 40]) * 1_000_000))
    >>> scan.finish().period
    0.02
    """

    where: str
    period: float | None
    absolute: bool
    regular: bool = False
    zone: str | None = None
    first_sample: int = 0
    _waiting: list[ClockRows] = field(default_factory=list)
    _rows: int = 0
    _origin: int = 0
    _last_sample: int = -1
    _last_time: int = -1
    _offsets: list[tuple[int, int]] = field(default_factory=list)
    _irregular: dict[str, int] = field(default_factory=dict)
    _first: dict[str, str] = field(default_factory=dict)

    def add(self, rows: ClockRows) -> None:
        """Scan the next rows of the recording."""
        self._waiting.append(rows)
        if self.period is not None or sum(part.count for part in self._waiting) >= _ENOUGH:
            self._scan_waiting()

    def _scan_waiting(self) -> None:
        waiting, self._waiting = [rows for rows in self._waiting if rows.count], []
        if self.period is None and waiting:
            times = [rows.time for rows in waiting if rows.time is not None]
            samples = [rows.sample for rows in waiting if rows.sample is not None]
            self.period = infer_period(times, samples, self.where)
        for rows in waiting:
            self._scan(rows, (self.period or 0.0) * NANO)

    def _scan(self, rows: ClockRows, step: float) -> None:
        if not self._rows and rows.time is not None:
            first = int(rows.time[0])
            self._origin = first if self.absolute or abs(first) <= step / 2 else 0
            if rows.sample is not None:
                self._origin = first - round(float(rows.sample[0] - self.first_sample) * step)
        if self._scan_regular(rows, step):
            return
        times = None if rows.time is None else rows.time - self._origin
        if rows.sample is not None:
            samples = rows.sample - self.first_sample
            shown = lambda key: f"sample {key + self.first_sample}"  # noqa: E731
            self._check_order(rows.row, samples, self._last_sample, shown)
        elif times is not None:
            samples = nearest_sample(times, step)
            self._check_order(rows.row, times, self._last_time, lambda key: f"{key / NANO:g} s")
        else:
            samples = np.arange(self._rows, self._rows + rows.count)
        jumps = np.diff(samples, prepend=self._last_sample)
        gap = "{} missing before row {} (sample {})".format
        self._note("gaps", jumps > 1, lambda i: gap(jumps[i] - 1, rows.row + i, samples[i]))
        self._note("shared", jumps < 1, lambda i: f"row {rows.row + i}")
        if times is not None:
            late = np.abs(times - samples * step)
            allowed, off = _TOLERANCE * step + 1, "row {} is {:g} s off sample {}".format
            self._note(
                "late", late > allowed, lambda i: off(rows.row + i, late[i] / NANO, samples[i])
            )
            self._last_time = int(times[-1])
        self._finish_rows(rows, int(samples[-1]), [int(samples[i]) for i, _ in rows.offsets])

    def _scan_regular(self, rows: ClockRows, step: float) -> bool:
        """Scan many rows at once if row ``i`` is sample ``i``; False if it is not."""
        first = self._last_sample + 1
        if rows.time is None or rows.count < LONG or first != self._rows:
            return False
        numbers = rows.time[:0] if rows.sample is None else rows.sample
        start = (first, first + self.first_sample, self._origin, step, _TOLERANCE * step + 1)
        if not _is_regular(rows.time, numbers, *start):
            return False
        self._last_time = int(rows.time[-1]) - self._origin
        self._finish_rows(rows, self._rows + rows.count - 1, [first + i for i, _ in rows.offsets])
        return True

    def _finish_rows(self, rows: ClockRows, last: int, samples: list[int]) -> None:
        """Note the last sample of some rows, and the samples at which their offsets begin."""
        for sample, (_, offset) in zip(samples, rows.offsets, strict=True):
            if not self._offsets or self._offsets[-1][1] != offset:
                self._offsets.append((sample, offset))
        self._last_sample = last
        self._rows += rows.count

    def _check_order(self, row: int, keys: Longs, last: int, shown: Callable[[int], str]) -> None:
        """Refuse sample numbers or times that are negative, repeat or run backwards."""
        steps = np.diff(keys, prepend=last)
        if steps.min() > 0:
            return
        i = int(np.argmax(steps <= 0))
        where, key, before = f"{self.where}: row {row + i}", int(keys[i]), int(keys[i] - steps[i])
        if key < 0:
            raise InputError(
                f"{where}: {shown(key)} is before the start, {shown(0)}; is it another clock "
                "(--clock, --first-sample)?"
            )
        problem = "unsorted time: {} after {}; sort the rows by time within each recording"
        if key == before:
            problem = "duplicated time: {} after {}; are times coarser than the sampling?"
        raise InputError(f"{where}: {problem.format(shown(key), shown(before))}")

    def _note(
        self, what: str, irregular: NDArray[np.bool_], describe: Callable[[int], str]
    ) -> None:
        """Count irregular rows, and describe the first."""
        if irregular.any():
            self._first.setdefault(what, describe(int(np.argmax(irregular))))
            self._irregular[what] = self._irregular.get(what, 0) + int(irregular.sum())

    def finish(self) -> SampleClock:
        """The clock, once all rows are scanned."""
        self._scan_waiting()
        samples, period = self._last_sample + 1, self.period
        if period is None:
            raise InputError(f"{self.where}: no rows; give the period in seconds (--period)")
        start: datetime | None = None
        changes: OffsetChanges = ()
        if self.absolute and self._rows:
            start = _EPOCH + timedelta(microseconds=self._origin // 1000)
            if self._offsets:
                start = start.astimezone(timezone(timedelta(seconds=self._offsets[0][1])))
                changes = tuple(self._offsets[1:])
            else:
                start, changes = start_in_zone(start, self.zone or "UTC", period, samples)
        exact = samples == self._rows and "shared" not in self._irregular
        notes = self._irregularities(samples)
        return SampleClock(
            samples, period, start, changes, self._origin, period * NANO, exact, notes
        )

    def _irregularities(self, samples: int) -> tuple[str, ...]:
        gaps, late, shared = (self._irregular.get(what, 0) for what in ("gaps", "late", "shared"))
        problems = []
        if missing := samples - self._rows + shared:
            problems.append(
                f"{missing:,} missing samples in {gaps:,} gaps, first {self._first['gaps']}"
            )
        if late:
            problems.append(f"{late:,} times off the regular clock, first {self._first['late']}")
        if shared:
            problems.append(f"{shared:,} rows share a sample with the row before")
        if not problems:
            return ()
        message = (
            f"{self.where}: the clock is not regular at {self.period:g} s: {'; '.join(problems)}"
        )
        if not self.regular:
            raise InputError(
                f"{message}. Ask for a regular clock (regular=True, --regular) to fill gaps with "
                "missing values, or give another period (--period)"
            )
        if samples > _SPARSE * self._rows + 1000:
            raise InputError(
                f"{message}. {self._rows:,} rows would become {samples:,} samples; is the period "
                "or the time's unit right (--period, --unit)?"
            )
        return (f"{message}; gaps were filled with missing values",)


@compiled
def _is_regular(
    times: Longs,
    numbers: Longs,
    sample: int,
    number: int,
    origin: int,
    step: float,
    allowed: float,
) -> bool:
    """Whether consecutive samples are on time, and numbered so if there are numbers."""
    for i in range(len(times)):
        if len(numbers) and numbers[i] != number + i:
            return False
        late = float(times[i] - origin) - (sample + i) * step
        if late > allowed or late < -allowed:
            return False
    return True
