"""A wall clock with daylight saving time, for simulated recordings: that of New York."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from functools import cached_property

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.formats.time_zones import OffsetChanges, start_in_zone

PERIOD = 5
DAY = 86400
ZONE = "America/New_York"
_SUMMER = -4 * 3600  # seconds east of UTC
_OFFSETS = np.array([b"-0500", b"-0400"]).view(np.uint8).reshape(2, 5)  # of winter and of summer


@dataclass(frozen=True)
class WallClock:
    """The clock of one recording: samples to local time and back, and ISO time stamps.

    ``start`` is the local time of sample 0, without UTC offset; in a repeated hour it is that of
    summer.

    Examples
    --------
    >>> clock = WallClock(datetime(2018, 3, 10, 12, 0))
    >>> clock.samples(np.array([DAY * 17601 + 8 * 3600.0])).tolist()
    [13680.0]
    >>> clock.stamps(10079, 2).to_pylist()
    ['2018-03-11T01:59:55-0500', '2018-03-11T03:00:00-0400']
    """

    start: datetime

    @property
    def local_start(self) -> int:
        """Local seconds of sample 0, counted from 1970 without offset."""
        return round(self.start.replace(tzinfo=UTC).timestamp())

    @cached_property
    def _in_zone(self) -> tuple[int, OffsetChanges]:
        """Seconds east of UTC at sample 0, and the changes until the end of the year after next."""
        last = datetime(self.start.year + 3, 1, 1)
        samples = (last - self.start) // timedelta(seconds=PERIOD)
        start, changes, _ = start_in_zone(self.start, ZONE, PERIOD, samples)
        assert start is not None
        return self.local_start - round(start.timestamp()), changes

    def samples(self, local: NDArray[np.float64]) -> NDArray[np.float64]:
        """Sample (real-valued) at which the local clock shows the given seconds.

        In a repeated hour it is the second occurrence; a skipped hour is treated as if it existed.
        """
        offset, changes = self._in_zone
        elapsed = local - self.local_start
        samples = elapsed / PERIOD
        for sample, new in changes:
            later = (elapsed - (new - offset)) / PERIOD
            samples = np.where(later >= sample, later, samples)
        return samples

    def shifts(self, samples: NDArray[np.int64]) -> NDArray[np.int64]:
        """Seconds east of UTC at the given samples."""
        offset, changes = self._in_zone
        offsets = np.array([offset, *(new for _, new in changes)])
        return offsets[np.searchsorted([sample for sample, _ in changes], samples, side="right")]

    def local(self, samples: NDArray[np.int64]) -> NDArray[np.int64]:
        """Local seconds, counted from 1970 without offset, of the given samples."""
        return self.local_start + samples * PERIOD + self.shifts(samples) - self._in_zone[0]

    def stamps(self, first: int, count: int) -> pa.Array:
        """Time stamps of ``count`` samples as text such as 2018-08-14T15:30:00-0400."""
        samples = np.arange(first, first + count)
        days, of_day = np.divmod(self.local(samples), DAY)
        dates, inverse = np.unique(days, return_inverse=True)
        names = np.datetime_as_string(dates.astype("datetime64[D]"), unit="D").astype("S10")
        text = np.empty((count, 24), np.uint8)
        text[:, :10] = names.view(np.uint8).reshape(-1, 10)[inverse]
        text[:, 10] = ord("T")
        text[:, 11:19] = _TIMES[of_day]
        text[:, 19:] = _OFFSETS[(self.shifts(samples) == _SUMMER).astype(np.intp)]
        places = np.arange(0, 24 * (count + 1), 24, dtype=np.int32)
        return pa.StringArray.from_buffers(count, pa.py_buffer(places), pa.py_buffer(text))


def _times() -> NDArray[np.uint8]:
    """HH:MM:SS of every second of a day as bytes: (86400, 8)."""
    seconds = np.arange(DAY)
    digits = np.full((DAY, 8), ord(":"), np.uint8)
    for column, values in ((0, seconds // 3600), (3, seconds // 60 % 60), (6, seconds % 60)):
        digits[:, column] = ord("0") + values // 10
        digits[:, column + 1] = ord("0") + values % 10
    return digits


_TIMES = _times()
