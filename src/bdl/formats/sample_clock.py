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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.formats.irregular_clock import Duplicates, Irregularities
from bdl.formats.period import infer_period
from bdl.formats.time_zones import (
    NANO,
    SKIPPED,
    LocalTime,
    OffsetChanges,
    local_offsets,
    start_in_zone,
)
from bdl.sampling import nearest_sample

Longs = NDArray[np.int64]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TOLERANCE = 0.25  # of a period: well inside the half where the nearest sample is certain
_ENOUGH = 4096  # rows from which a period is inferred


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
    notes: tuple[str, ...] = ()

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
    where
        File and recording, for messages.
    period
        Seconds between two samples, or None to infer it.
    absolute
        Whether times are since 1970 (the first row's is the start) or since the start.
    regular
        Whether gaps and jitter are allowed, and noted.
    duplicates
        What becomes of rows with the time of the row before.
    zone
        Zone of local times, and of all others if no row has a UTC offset; UTC by default.
    first_sample
        Number of a recording's first sample.
    unsorted
        What helps if times run backwards, for messages.

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
    _last_time: float = -1
    _last_sample: int = -1
    _local: LocalTime | None = None
    _runs: list[tuple[Longs, Longs]] = field(default_factory=list)
    _offsets: list[tuple[int, int]] = field(default_factory=list)
    _irregular: Irregularities = field(default_factory=Irregularities)
    _notes: list[str] = field(default_factory=list)

    def add(self, rows: ClockRows, last: bool = False) -> None:
        """Scan the next rows of the recording, or hold them until more rows tell their clock."""
        self._held += [rows] if len(rows.row) else []
        held = sum(len(part.row) for part in self._held)
        if not held or (self.period is None and held < _ENOUGH and not last):
            return
        row, sample, time, offset = (_joined([part[i] for part in self._held]) for i in range(4))
        if self._held[0].local:
            offset = self._local_offsets(row, time, last)
            if offset is None:
                return
            time = time - offset * NANO
        self._held = []
        if self.period is None:
            self.period = infer_period(time, sample, self.where)
        samples = self._samples(row, sample, time, self.period * NANO)
        new = np.diff(samples, prepend=self._last_sample if self._rows else -9) != 1
        self._runs.append((self._rows + np.flatnonzero(new), samples[new]))
        if offset is not None:
            known = self._offsets[-1][1] if self._offsets else offset[0] - 1
            new = np.diff(offset, prepend=known) != 0
            self._offsets += zip(samples[new].tolist(), offset[new].tolist(), strict=True)
        self._last_sample = int(samples[-1])
        self._rows += len(samples)

    def _local_offsets(self, row: Longs, local: Longs, last: bool) -> Longs | None:
        """UTC offsets of local times; None if later rows have to tell."""
        if self.zone is None:
            raise InputError(
                f"{self.where}: row {row[0]}: the time has no UTC offset; give the zone in which "
                "it was written, such as Europe/Berlin (zone=, --zone)"
            )
        offsets, certain = local_offsets(local, self.zone, self._local)
        skipped = offsets == SKIPPED
        if skipped.any():
            i = int(np.argmax(skipped))
            raise InputError(
                f"{self.where}: row {row[i]}: {np.datetime64(int(local[i]) // NANO, 's')} does not "
                f"exist in {self.zone}, where clocks were set forward; if the clock of the device "
                "is never set, give its own UTC offset (--zone +HH:MM)"
            )
        if not certain and not last:
            return None
        if not certain:
            self._notes.append(
                f"{self.where}: all times are in an hour that comes twice in {self.zone}; they "
                "were taken as the first, since no UTC offset tells"
            )
        self._local = LocalTime(int(local[-1]), int(offsets[-1]))
        return offsets

    def _samples(self, row: Longs, number: Longs | None, time: Longs | None, step: float) -> Longs:
        """The samples of some rows; what is irregular is noted."""
        samples = np.arange(self._rows, self._rows + len(row))
        if number is not None:
            samples = number - self.first_sample
        if time is not None:
            if not self._rows:
                first = int(time[0])
                self._origin = first if self.absolute or abs(first) <= step / 2 else 0
                if number is not None:
                    self._origin = first - round(float(samples[0]) * step)
            time = time - self._origin
            # Most rows are consecutive samples on time.
            expected = np.arange(self._last_sample + 1, self._last_sample + 1 + len(row))
            early = expected * step
            early -= time
            late = max(early.max(), -early.min())
            if late <= _TOLERANCE * step + 1 and np.array_equal(samples, expected):
                self._last_time = time[-1]
                return samples
            if number is None:
                samples = nearest_sample(time, step)
        self._check_order(row, samples * step if number is not None or time is None else time)
        jumps = np.diff(samples, prepend=self._last_sample)

        def gap(i: int) -> str:
            text = f"{jumps[i] - 1} missing before row {row[i]} (sample {samples[i]})"
            return text + self._clock_set((jumps[i] - 1) * step)

        self._irregular.note("gaps", jumps > 1, gap)
        self._irregular.note("shared", jumps < 1, lambda i: f"row {row[i]}")
        if time is not None:
            late = np.abs(time - samples * step)
            text = "row {} is {:g} s off sample {}".format
            wrong = late > _TOLERANCE * step + 1
            self._irregular.note("late", wrong, lambda i: text(row[i], late[i] / NANO, samples[i]))
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
        problem = f"unsorted time: {time:g} s after {before:g} s" + (
            self._clock_set(-steps[i]) or f"; {self.unsorted}"
        )
        if time == before:
            problem = (
                f"duplicated time: {time:g} s after {before:g} s; say what counts (--duplicates "
                "first, last or mean), or leave out the times and give the period (--period)"
            )
        if time < 0:
            problem = (
                f"{time:g} s is before the start; is it another clock (--clock, --first-sample)?"
            )
        raise InputError(f"{self.where}: row {row[i]}: {problem}")

    def _clock_set(self, nanoseconds: float) -> str:
        """What a gap or step back by this much means if local clocks were set there; or nothing."""
        away = min(abs(nanoseconds / NANO - shift) for shift in (1800, 3600))
        if self._local is None or away > 1.01 * (self.period or 0):
            return ""
        if "/" in (self.zone or ""):
            return (
                f"; is the clock of the device not that of {self.zone}? If it is never set, give "
                "its own UTC offset (--zone +HH:MM)"
            )
        return (
            "; were clocks set there? Then name the zone in which times were written, such as "
            "--zone Europe/Berlin: nothing is missing or repeated in it"
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
            if self._offsets:
                start = start.astimezone(timezone(timedelta(seconds=self._offsets[0][1])))
                changes = tuple(self._offsets[1:])
            else:
                start, changes = start_in_zone(start, self.zone or "UTC", period, samples)
        rows, firsts = (_joined([run[i] for run in self._runs]) for i in range(2))
        exact = samples == self._rows and not self._irregular.counts["shared"]
        irregular = self._irregular.notes(
            f"{self.where}: the clock is not regular at {period:g} s",
            samples, self._rows, self.regular, self.duplicates,
        )  # fmt: skip
        notes = (*self._notes, *irregular)
        return SampleClock(samples, period, start, changes, rows, firsts, exact, notes)


def _joined(parts: list[Any]) -> Any:
    """Arrays of consecutive rows as one; None if a part has none."""
    if not parts or any(part is None for part in parts):
        return None if parts else np.zeros(0, np.int64)
    return parts[0] if len(parts) == 1 else np.concatenate(parts)
