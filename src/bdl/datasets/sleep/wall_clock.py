"""A wall clock with daylight saving time, for simulated recordings.

The rule is that of the eastern United States since 2007: UTC-5, and UTC-4 from the second Sunday
of March, 2:00, to the first Sunday of November, 2:00.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

PERIOD = 5
STANDARD, SUMMER = -5 * 3600, -4 * 3600
EPOCH = datetime(1970, 1, 1)
DAY = 86400


def _sunday(year: int, month: int, number: int) -> datetime:
    first = datetime(year, month, 1)
    return first + timedelta(days=(6 - first.weekday()) % 7 + 7 * (number - 1))


def _seconds(moment: datetime) -> int:
    return round((moment - EPOCH).total_seconds())


@dataclass(frozen=True)
class WallClock:
    """The clock of one recording: samples to local time and back, and ISO time stamps.

    Parameters
    ----------
    start
        Local time of sample 0, without UTC offset.

    Examples
    --------
    >>> clock = WallClock(datetime(2018, 3, 10, 12, 0))
    >>> clock.changes[0], clock.samples(np.array([DAY * 17601 + 8 * 3600.0])).tolist()
    ((10080, -14400), [13680.0])
    >>> clock.stamps(10079, 2).to_pylist()
    ['2018-03-11T01:59:55-0500', '2018-03-11T03:00:00-0400']
    """

    start: datetime

    @property
    def local_start(self) -> int:
        """Local seconds of sample 0, counted from 1970 without offset."""
        return _seconds(self.start)

    def _switches(self) -> list[tuple[int, int]]:
        """UTC second and new offset of the changes from the year before to the year after."""
        switches = []
        for year in range(self.start.year - 1, self.start.year + 3):
            switches.append((_seconds(_sunday(year, 3, 2)) + 7200 - STANDARD, SUMMER))
            switches.append((_seconds(_sunday(year, 11, 1)) + 7200 - SUMMER, STANDARD))
        return switches

    @cached_property
    def offset(self) -> int:
        """Seconds east of UTC at sample 0; that of summer in the repeated hour."""
        offset = STANDARD
        for at, new in self._switches():
            if self.local_start - offset >= at:
                offset = new
        return offset

    @cached_property
    def changes(self) -> tuple[tuple[int, int], ...]:
        """``(sample, seconds east of UTC)`` of every change after sample 0."""
        start = self.local_start - self.offset
        return tuple(
            (-(-(at - start) // PERIOD), new) for at, new in self._switches() if at > start
        )

    def samples(self, local: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sample (real-valued) at which the local clock shows the given seconds.

        In a repeated hour it is the second occurrence; a skipped hour is treated as if it existed.
        """
        elapsed = local - self.local_start
        samples = elapsed / PERIOD
        for sample, new in self.changes:
            later = (elapsed - (new - self.offset)) / PERIOD
            samples = np.where(later >= sample, later, samples)
        return samples

    def shifts(self, samples: NDArray[np.int64]) -> NDArray[np.int64]:
        """Seconds east of UTC at the given samples."""
        starts = [sample for sample, _ in self.changes]
        offsets = np.array([self.offset, *(new for _, new in self.changes)])
        return offsets[np.searchsorted(starts, samples, side="right")]

    def local(self, samples: NDArray[np.int64]) -> NDArray[np.int64]:
        """Local seconds, counted from 1970 without offset, of the given samples."""
        return self.local_start + samples * PERIOD + self.shifts(samples) - self.offset

    def stamps(self, first: int, count: int) -> pa.Array:
        """Time stamps of ``count`` samples as text such as 2018-08-14T15:30:00-0400."""
        samples = np.arange(first, first + count)
        local = self.local(samples)
        days, of_day = np.divmod(local, DAY)
        text = np.empty((count, 24), np.uint8)
        dates, inverse = np.unique(days, return_inverse=True)
        names = np.datetime_as_string(dates.astype("datetime64[D]"), unit="D").astype("S10")
        text[:, :10] = names.view(np.uint8).reshape(-1, 10)[inverse]
        text[:, 10] = ord("T")
        text[:, 11:19] = _TIMES[of_day]
        offsets = self.shifts(samples)
        for offset in {self.offset, *(new for _, new in self.changes)}:
            text[offsets == offset, 19:] = np.frombuffer(_zone(offset), np.uint8)
        places = np.arange(0, 24 * (count + 1), 24, dtype=np.int32)
        return pa.StringArray.from_buffers(count, pa.py_buffer(places), pa.py_buffer(text))


def _zone(offset: int) -> bytes:
    hours, minutes = divmod(abs(offset) // 60, 60)
    return f"{'-' if offset < 0 else '+'}{hours:02d}{minutes:02d}".encode()


def _times() -> NDArray[np.uint8]:
    """HH:MM:SS of every second of a day as bytes: (86400, 8)."""
    seconds = np.arange(DAY)
    digits = np.full((DAY, 8), ord(":"), np.uint8)
    for column, values in ((0, seconds // 3600), (3, seconds // 60 % 60), (6, seconds % 60)):
        digits[:, column] = ord("0") + values // 10
        digits[:, column + 1] = ord("0") + values % 10
    return digits


_TIMES = _times()
