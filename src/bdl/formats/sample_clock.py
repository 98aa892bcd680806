"""The clock of a recording, verified while its rows are scanned.

Times are whole nanoseconds. Sample ``i`` is taken at ``origin + i * period``; a row belongs to its
nearest sample. A clock is regular if row ``i`` is sample ``i`` and no time is further than a
quarter period from its sample. Times or sample numbers that run backwards are always an error, and
so are those that repeat unless a rule for them was given; gaps and jitter are an error unless a
regular clock was asked for. What is then filled, averaged or dropped is counted in a note.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.formats.period import infer_period
from bdl.formats.time_zones import NANO, NEVER_SET, OffsetChanges, from_local, start_in_zone
from bdl.sampling import nearest_sample

Longs = NDArray[np.int64]
Duplicates = Literal["error", "first", "last", "mean"]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TOLERANCE = 0.25  # of a period: well inside the half where the nearest sample is certain
_ENOUGH = 4096  # rows from which a period is inferred
_SPARSE = 100  # a regular clock may be this many times longer than the rows


class ClockRows(NamedTuple):
    """Clock columns of some rows of one recording; ``row`` are their numbers in the file."""

    row: Longs
    sample: Longs | None = None
    time: Longs | None = None  # nanoseconds
    offset: Longs | None = None  # UTC offset in seconds
    local: bool = False  # whether times are those of a local clock


@dataclass(frozen=True)
class SampleClock:
    """The verified clock of one recording; row ``rows[k]`` and those after are ``firsts[k]``..."""

    samples: int
    period: float
    start: datetime | None
    offset_changes: OffsetChanges
    rows: Longs
    firsts: Longs
    exact: bool  # whether row i is sample i
    notes: tuple[str, ...]

    def samples_of(self, first: int, count: int) -> Longs:
        """The samples of some consecutive rows of the recording."""
        rows = np.arange(first, first + count)
        run = np.searchsorted(self.rows, rows, side="right") - 1
        return self.firsts[run] + rows - self.rows[run]


@dataclass
class ClockScan:
    """Scans the rows of one recording in order; `finish` gives its clock.

    Parameters
    ----------
    where, unsorted
        File and recording, and what helps if times run backwards, for messages.
    absolute
        Whether times are since 1970 (the first row's is the start) or since the start.
    period, regular, duplicates, zone, first_sample
        As in `TableFormat`. If no time is local or has a UTC offset, the zone is that of the start.

    Examples
    --------
    >>> scan = ClockScan("a.csv", period=None, absolute=False)
    >>> scan.add(ClockRows(np.arange(3), time=np.array([0, 20, 40]) * 1_000_000))
    >>> scan.finish().period
    0.02
    """

    where: str
    period: float | None
    absolute: bool
    regular: bool = False
    duplicates: Duplicates = "error"
    zone: str | None = None
    first_sample: int = 0
    unsorted: str = "sort the rows by time within each recording"
    _held: list[ClockRows] = field(default_factory=list)
    _rows: int = 0
    _origin: int = 0
    _last_time: Any = -1  # nanoseconds from the origin
    _last_sample: int = -1
    _last_local: int | None = None  # UTC time of the last local time
    # Where samples are not consecutive: numbers of rows, their samples, their numbers in the file.
    _runs: list[Longs] = field(default_factory=lambda: [np.zeros((3, 1), np.int64)])
    _offsets: list[tuple[int, int]] = field(default_factory=list)
    _late: tuple[int, str] = (0, "")  # rows off the clock: how many, and the first
    _notes: list[str] = field(default_factory=list)

    def add(self, rows: ClockRows, last: bool = False) -> None:
        """Scan the next rows of the recording, or hold them until more rows tell their clock."""
        self._held += [rows] if len(rows.row) else []
        held = sum(len(part.row) for part in self._held)
        if not held or (self.period is None and held < _ENOUGH and not last):
            return
        *columns, local = zip(*self._held, strict=True)
        if len({*local}) > 1:
            other = self._held[local.index(not local[0])].row[0]
            raise InputError(
                f"{self.where}: row {other}: times of one kind expected; some have a UTC offset "
                "and others none"
            )
        # Mostly one part is held: joining it would copy all columns.
        joined: list[Any] = [
            part[0] if part[0] is None or len(part) == 1 else np.concatenate(part)
            for part in columns
        ]
        row, sample, time, offset = joined
        if local[0]:
            time, offset, notes = from_local(time, row, self.zone, self._last_local, self.where)
            if notes and not last:
                return  # later rows tell
            self._notes += notes
            self._last_local = int(time[-1])
        self._held = []
        if self.period is None:
            self.period = infer_period(time, sample, self.where)
        samples = self._samples(row, sample, time, self.period * NANO)
        if offset is not None:
            before = self._offsets[-1][1] if self._offsets else None
            new = np.append(offset[0] != before, offset[1:] != offset[:-1])
            self._offsets += zip(samples[new].tolist(), offset[new].tolist(), strict=True)
        self._last_sample = int(samples[-1])
        self._rows += len(samples)

    def _samples(self, row: Longs, number: Longs | None, time: Longs | None, step: float) -> Longs:
        """The samples of some rows; what is irregular is recorded."""
        expected = np.arange(self._last_sample + 1, self._last_sample + 1 + len(row))
        samples = expected if number is None else number - self.first_sample
        at: NDArray[Any] = samples * step if time is None else time
        if not self._rows and (number is not None or self.absolute or abs(at[0]) <= step / 2):
            self._origin = int(at[0]) - round(float(samples[0]) * step)
        at = at - self._origin
        off, tolerance = expected * step, _TOLERANCE * step + 1
        off -= at
        # Most rows are consecutive samples on time.
        if max(off.max(), -off.min()) <= tolerance and np.array_equal(samples, expected):
            self._last_time = at[-1]
            return samples
        if number is None:
            samples = nearest_sample(at, step)
        self._check_order(row, at if number is None else samples * step)
        new = np.diff(samples, prepend=self._last_sample) != 1
        self._runs.append(np.array([self._rows + np.flatnonzero(new), samples[new], row[new]]))
        off = np.abs(at - samples * step)
        if len(late := np.flatnonzero(off > tolerance)):
            i = late[0]
            text = f"row {row[i]} is {off[i] / NANO:g} s off sample {samples[i]}"
            self._late = self._late[0] + len(late), self._late[1] or text
        return samples

    def _check_order(self, row: Longs, times: NDArray[Any]) -> None:
        """Refuse times that are negative, repeat or run backwards."""
        steps = np.diff(times, prepend=times.dtype.type(self._last_time))
        self._last_time = times[-1]
        wrong = steps <= 0 if self.duplicates == "error" else (steps < 0) | (times < 0)
        if not wrong.any():
            return
        i = int(np.argmax(wrong))
        time, before = times[i] / NANO, (times[i] - steps[i]) / NANO
        order = f"time: {time:g} s after {before:g} s"
        problem = f"unsorted {order}{self._clock_set(-steps[i]) or '; ' + self.unsorted}"
        if time == before:
            problem = (
                f"duplicated {order}; say what counts (--duplicates first, last or mean), or leave "
                "out the times and give the period (--period)"
            )
        if time < 0:
            problem = (
                f"{time:g} s is before the start; is it another clock (--clock, --first-sample)?"
            )
        raise InputError(f"{self.where}: row {row[i]}: {problem}")

    def _clock_set(self, nanoseconds: float) -> str:
        """What to append to a message if local clocks were set by this much; or nothing."""
        away = min(abs(nanoseconds / NANO - shift) for shift in (1800, 3600))
        if self._last_local is None or away > 1.01 * (self.period or 0):
            return ""
        return (
            "; were clocks set there? Then name the zone in which times were written, such as "
            f"--zone Europe/Berlin; {NEVER_SET}"
        )

    def finish(self) -> SampleClock:
        """The clock, once all rows are scanned."""
        self.add(ClockRows(np.zeros(0, np.int64)), last=True)
        samples, period = self._last_sample + 1, self.period
        if period is None:
            raise InputError(f"{self.where}: no rows; give the period in seconds (--period)")
        start: datetime | None = None
        changes: OffsetChanges = ()
        if self.absolute and self._rows:
            start = _EPOCH + timedelta(microseconds=self._origin // 1000)
            if not self._offsets:
                start, changes, _ = start_in_zone(start, self.zone or "UTC", period, samples)
            else:
                start = start.astimezone(timezone(timedelta(seconds=self._offsets[0][1])))
                changes = tuple(self._offsets[1:])
        rows, firsts, places = np.concatenate(self._runs, axis=1)
        notes = (*self._notes, *self._irregular(period, samples, rows, firsts, places))
        return SampleClock(samples, period, start, changes, rows, firsts, len(rows) == 1, notes)

    def _irregular(
        self, period: float, samples: int, rows: Longs, firsts: Longs, places: Longs
    ) -> list[str]:
        """A note on what is irregular and was done; an error if that was not asked for."""
        missing = np.diff(firsts) - np.diff(rows)
        gaps, shared = np.flatnonzero(missing > 0), np.flatnonzero(missing < 0)
        problems, done = [], []
        if len(gaps):
            i = gaps[0]
            problems.append(
                f"{missing[gaps].sum():,} missing samples in {len(gaps):,} gaps, first "
                f"{missing[i]} missing before row {places[i + 1]} (sample {firsts[i + 1]})"
                f"{self._clock_set(missing[i] * period * NANO)}"
            )
            done.append("gaps were filled with missing values")
        if self._late[0]:
            problems.append("{:,} times off the regular clock, first {}".format(*self._late))
        if len(shared):
            problems.append(
                f"{len(shared):,} rows share a sample with the row before, first row "
                f"{places[shared[0] + 1]}"
            )
            rule = "last" if self.duplicates == "error" else self.duplicates
            done.append(f"the {rule} of the rows of a sample was taken")
        if not problems:
            return []
        message = f"{self.where}: the clock is not regular at {period:g} s: {'; '.join(problems)}"
        if not self.regular and (len(gaps) or self._late[0] or self.duplicates == "error"):
            raise InputError(
                f"{message}. Ask for a regular clock (regular=True, --regular) to fill gaps with "
                "missing values, or give another period (--period)"
            )
        if samples > _SPARSE * self._rows + 1000:
            raise InputError(
                f"{message}. {self._rows:,} rows would become {samples:,} samples; is the period "
                "or the time's unit right (--period, --unit)?"
            )
        return [f"{message}; {', '.join(done) or 'times were rounded to it'}"]
