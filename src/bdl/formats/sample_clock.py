"""The clock of a recording, verified while its rows are scanned.

Times are whole nanoseconds. Sample ``i`` is taken at ``origin + i * period``; a row belongs to its
nearest sample. A clock is regular if row ``i`` is sample ``i`` and no time is further than a
quarter period from its sample. Times or sample numbers that run backwards are always an error, and
so are those that repeat unless a rule for them was given; gaps and jitter are an error unless a
regular clock was asked for. What is then filled, averaged or dropped is counted in a note.

When clocks are set back, an hour of local times comes twice. A row that would be before the one
before it begins the second hour; a recording that begins in such an hour and leaves it without such
a row began in the second.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta, timezone
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Longs
from bdl.errors import InputError
from bdl.formats.time_zones import NANO, OffsetChanges, offsets_in_zone, start_in_zone
from bdl.sampling import nearest_sample

Duplicates = Literal["error", "first", "last", "mean"]
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TOLERANCE = 0.25  # of a period: well inside the half where the nearest sample is certain
_ENOUGH = 4096  # rows from which a period is inferred
_NEVER_SET = "if the clock of the device is never set, give its own UTC offset (--zone +HH:MM)"
_SPARSE = 100  # a regular clock may be this many times longer than the rows


class ClockRows(NamedTuple):
    """Clock columns of some rows of one recording; ``row`` are their numbers in the file."""

    row: Longs
    sample: Longs | None = None
    time: Longs | None = None  # nanoseconds
    offset: Longs | None = None  # UTC offset in seconds
    local: bool = False  # whether times are those of a local clock


@dataclass
class SampleClock:
    """Scans the rows of one recording in order; after `finish` it is the recording's clock.

    Examples
    --------
    >>> clock = SampleClock("a.csv", absolute=False)
    >>> clock.add(ClockRows(np.arange(3), time=np.array([0, 20, 40]) * 1_000_000))
    >>> clock.finish()
    >>> clock.period, clock.samples
    (0.02, 3)
    """

    where: str  # file and recording, for messages
    absolute: bool  # whether times are since 1970 (the first is the start) or since the start
    period: float = 0.0  # this and the next four are as in `TableFormat`; 0 is inferred
    regular: bool = False
    duplicates: Duplicates = "error"
    zone: str | None = None  # of local times, or of the start if times have no UTC offset
    first_sample: int = 0
    unsorted: str = "sort the rows by time within each recording"  # advice if they run backwards
    samples: int = 0
    start: datetime | None = None
    offset_changes: OffsetChanges = ()  # with that of the first row, until `finish`
    notes: tuple[str, ...] = ()
    exact: bool = True  # whether row i is sample i
    _held: list[ClockRows] = field(default_factory=list)
    _local: bool | None = None
    _rows: int = 0
    _origin: int = 0
    _last_time: Any = -1  # nanoseconds from the origin
    # Where samples are not consecutive: numbers of rows, their samples, their numbers in the file.
    _runs: list[Longs] = field(default_factory=lambda: [np.zeros((3, 1), np.int64)])
    _late: tuple[int, str] = (0, "")  # rows off the clock: how many, and the first

    def samples_of(self, first: int, count: int) -> Longs:
        """The samples of some consecutive rows of the recording."""
        starts, samples, _ = self._runs[0]
        rows = np.arange(first, first + count)
        rows += (samples - starts)[np.searchsorted(starts, rows, side="right") - 1]
        return rows

    def add(self, rows: ClockRows) -> None:
        """Scan the next rows of the recording, or hold them until more rows show their clock."""
        if self._local not in (None, rows.local):
            raise InputError(
                f"{self.where}: row {rows.row[0]}: times of one kind expected; some have a UTC "
                "offset and others none"
            )
        self._local = rows.local
        self._held.append(rows)
        if self.period or sum(len(part.row) for part in self._held) >= _ENOUGH:
            self._scan()

    def _scan(self, last: bool = False) -> None:
        """Scan the rows that are held."""
        columns: list[Any] = [
            parts[0] if parts[0] is None or len(parts) == 1 else np.concatenate(parts)
            for parts in zip(*(rows[:4] for rows in self._held), strict=True)
        ]
        row, number, time, offset = columns
        if self._local:
            time, offset, known = self._from_local(row, time)
            if not known and not last:
                return  # later rows may show which hour it is
            if not known:
                self.notes += (
                    f"{self.where}: all times are in an hour that comes twice in {self.zone}; they "
                    "were taken as the first, since they have no UTC offset",
                )
        self._held = []
        self.period = self.period or _infer_period(time, number, self.where)
        samples = self._samples(row, number, time, self.period * NANO)
        if offset is not None:
            previous = self.offset_changes[-1][1] if self.offset_changes else None
            new = np.append(offset[0] != previous, offset[1:] != offset[:-1])
            self.offset_changes += (*zip(samples[new].tolist(), offset[new].tolist(), strict=True),)
        self.samples = int(samples[-1]) + 1
        self._rows += len(row)

    def _from_local(self, row: Longs, local: Longs) -> tuple[Longs, Longs, bool]:
        """UTC times of local times, their UTC offsets, and whether these are known."""
        if self.zone is None:
            raise InputError(
                f"{self.where}: row {row[0]}: the time has no UTC offset; give the zone in which "
                "it was written, such as Europe/Berlin (zone=, --zone)"
            )
        seconds, known = local // NANO, True
        offsets, late = offsets_in_zone(self.zone, seconds)
        if (skipped := offsets < late).any():
            i = int(np.argmax(skipped))
            raise InputError(
                f"{self.where}: row {row[i]}: {np.datetime64(int(seconds[i]), 's')} does not exist "
                f"in {self.zone}, where clocks were set forward; {_NEVER_SET}"
            )
        utc, twice = local - offsets * NANO, offsets > late
        before = self._origin + int(self._last_time) if self._rows else utc[0]
        edges = np.flatnonzero(np.diff(twice, prepend=False, append=False))
        for first, last in edges.reshape(-1, 2):
            back = np.diff(utc[first:last], prepend=utc[first - 1] if first else before) < 0
            second = first + int(np.argmax(back)) if back.any() else last
            if first == 0 and not self._rows and not back.any():
                known = last < len(local)
                second = 0 if known else last
            offsets[second:last] = late[second:last]
        return local - offsets * NANO, offsets, known

    def _samples(self, row: Longs, number: Longs | None, time: Longs | None, step: float) -> Longs:
        """The samples of some rows; what is irregular is recorded."""
        expected = np.arange(self.samples, self.samples + len(row))
        samples = expected if number is None else number - self.first_sample
        at: NDArray[Any] = samples * step if time is None else time
        if not self._rows and (number is not None or self.absolute or abs(at[0]) <= step / 2):
            self._origin = int(at[0]) - round(float(samples[0]) * step)
        at = at - self._origin
        off, tolerance = expected * step - at, _TOLERANCE * step + 1
        # Most rows are consecutive samples on time.
        if max(off.max(), -off.min()) <= tolerance and np.array_equal(samples, expected):
            self._last_time = at[-1]
            return samples
        if number is None:
            samples = nearest_sample(at, step)
        self._check_order(row, at if number is None else samples * step)
        new = np.diff(samples, prepend=self.samples - 1) != 1
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
        time, step = times[i] / NANO, steps[i] / NANO
        problem = f"unsorted time: {time:g} s after {time - step:g} s"
        advice = self._clock_set(-step) or self.unsorted
        if time < 0:
            problem = f"{time:g} s is before the start"
            advice = "is it another clock (--clock, --first-sample)?"
        elif step == 0:
            problem = problem.replace("unsorted", "duplicated")
            advice = "say what counts (--duplicates first, last or mean), or give only the --period"
        raise InputError(f"{self.where}: row {row[i]}: {problem}; {advice}")

    def _clock_set(self, seconds: float) -> str:
        """The advice if local clocks may have been set by this much; or nothing."""
        away = min(abs(seconds - shift) for shift in (1800, 3600))
        if not self._local or away > 1.01 * self.period:
            return ""
        return (
            "were clocks set there? Then name the zone in which times were written, such as "
            f"--zone Europe/Berlin; {_NEVER_SET}"
        )

    def finish(self) -> None:
        """Complete the clock, once all rows are added."""
        if self._held:
            self._scan(last=True)
        if not self.period:
            raise InputError(f"{self.where}: no rows; give the period in seconds (--period)")
        if self.absolute and self._rows:
            start = _EPOCH + timedelta(microseconds=self._origin // 1000)
            if self.offset_changes:
                (_, east), *changes = self.offset_changes
                self.start = start.astimezone(timezone(timedelta(seconds=east)))
                self.offset_changes = tuple(changes)
            else:
                self.start, self.offset_changes, _ = start_in_zone(
                    start, self.zone or "UTC", self.period, self.samples
                )
        self._runs = [np.concatenate(self._runs, axis=1)]
        self._note_irregular(*self._runs[0])

    def _note_irregular(self, rows: Longs, firsts: Longs, places: Longs) -> None:
        """Note what is irregular and was done; it is an error if that was not asked for."""
        self.exact = len(rows) == 1
        missing = np.diff(firsts) - np.diff(rows)
        gaps, shared = np.flatnonzero(missing > 0), np.flatnonzero(missing < 0)
        problems, done = [], []
        if len(gaps):
            i = gaps[0]
            problems += [
                f"{missing[gaps].sum():,} missing samples in {len(gaps):,} gaps, first "
                f"{missing[i]} missing before row {places[i + 1]} (sample {firsts[i + 1]})",
                self._clock_set(missing[i] * self.period),
            ]
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
            return
        irregular = "; ".join(filter(None, problems))
        message = f"{self.where}: the clock is not regular at {self.period:g} s: {irregular}"
        if not self.regular and (len(gaps) or self._late[0] or self.duplicates == "error"):
            raise InputError(
                f"{message}. Ask for a regular clock (regular=True, --regular) to fill gaps with "
                "missing values, or give another period (--period)"
            )
        if self.samples > _SPARSE * self._rows + 1000:
            raise InputError(
                f"{message}. {self._rows:,} rows would become {self.samples:,} samples; is the "
                "period or the time's unit right (--period, --unit)?"
            )
        self.notes += (f"{message}; {', '.join(done) or 'times were rounded to it'}",)


def _infer_period(times: Longs | None, samples: Longs | None, where: str) -> float:
    """Period in seconds: the mean of the steps near the median one, made round if it fits."""
    advice = "give the period in seconds (period=, --period)"
    if times is None:
        raise InputError(f"{where}: no period and no time column; {advice} or name one (--time)")
    steps = np.diff(times)
    counts = np.ones_like(steps) if samples is None else np.diff(samples)
    forward = (counts > 0) & (steps > 0)
    if not forward.any():
        raise InputError(
            f"{where}: the period cannot be inferred from {len(times)} row(s) without a step "
            f"forward in time; {advice}"
        )
    steps, counts = steps[forward], counts[forward]
    periods = steps / counts
    median = np.quantile(periods, 0.5, method="lower")  # a step that some row made
    near = np.abs(periods - median) <= 0.1 * median
    length = float(counts[near].sum())
    mean = float(steps[near].sum()) / length
    # A round rate or period is taken if it explains these very times as well.
    blur, seconds = (2.0 + float(np.abs(periods[near] - mean).max())) / NANO, mean / NANO
    for rounded in (1 / max(1, round(1 / seconds)), *(round(seconds, n) for n in range(9))):
        if rounded > 0 and abs(rounded - seconds) * length <= blur:
            return rounded
    return seconds
