"""Metadata of a recording: its length, channels and clock.

Local time (hour of day, weekday) follows the UTC offset that the data carry, through
daylight-saving changes, and never the time zone of the machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Floats, Longs
from bdl.errors import InputError
from bdl.limits import PERIODS, SAMPLES, check_channels, check_name


@dataclass(frozen=True)
class RecordingInfo:
    """Metadata of a recording, available without reading its values.

    Parameters
    ----------
    id
        Unique name within a collection.
    samples
        Length in samples.
    channels
        Channel names, in the order of the columns of the values.
    period
        Seconds between two samples.
    start
        Time-zone aware time of sample 0, or None if only relative time is known.
    offset_changes
        ``(sample, seconds east of UTC)`` for every change of the UTC offset after sample 0, in
        order (daylight saving).
    group
        Subject, patient or site: splits and bootstraps keep the recordings of a group together.
    annotated
        Spans (start, end) in seconds in which all events are annotated, in order; None if that is
        the whole recording. Nothing is learned from, or scored in, the rest.
    units
        Unit of each channel, such as ``uV``, empty where it is not known; none if none is.

    Examples
    --------
    >>> RecordingInfo(id="a", samples=720, channels=("enmo",), period=5.0).duration
    3600.0
    """

    id: str
    samples: int
    channels: tuple[str, ...]
    period: float
    start: datetime | None = None
    offset_changes: tuple[tuple[int, int], ...] = ()
    group: str | None = None
    annotated: tuple[tuple[float, float], ...] | None = None
    units: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        check_name(self.id, "the id of a recording")
        if not self.id:
            raise InputError("a recording needs an id, got an empty text")
        where = f"recording {self.id!r}"
        if not PERIODS[0] <= self.period <= PERIODS[1]:
            raise InputError(
                f"{where}: the period must be a positive number of seconds, got {self.period}"
            )
        if not 0 <= self.samples < SAMPLES:
            raise InputError(f"{where}: {self.samples} samples; 0 or more expected")
        check_channels(len(self.channels), where)
        for name in self.channels:
            check_name(name, f"{where}: a channel")
        if self.group is not None:
            check_name(self.group, f"{where}: its group")
        changes = [sample for sample, _ in self.offset_changes]
        if sorted(set(changes)) != changes:
            raise InputError(f"{where}: offset changes out of order: {changes}")
        if len(set(self.channels)) != len(self.channels):
            raise InputError(f"{where}: channel names repeat: {self.channels}")
        if self.units and len(self.units) != len(self.channels):
            raise InputError(
                f"{where}: one unit per channel expected, got {len(self.units)} for "
                f"{len(self.channels)} channels"
            )
        for unit in self.units:
            check_name(unit, f"{where}: a unit")
        if not any(self.units):
            object.__setattr__(self, "units", ())
        if self.start is not None and self.start.utcoffset() is None:
            raise InputError(
                f"{where}: start {self.start.isoformat()} has no UTC offset; "
                "local hours would be a guess"
            )

    @property
    def duration(self) -> float:
        """Length in seconds: samples times period."""
        return self.samples * self.period

    def wall_clock(self, seconds: NDArray[np.floating]) -> list[datetime]:
        """Local dates and times of moments in the recording, each with its UTC offset.

        Parameters
        ----------
        seconds
            Seconds from the start of the recording.

        Examples
        --------
        >>> from datetime import timezone, timedelta
        >>> start = datetime(2018, 3, 11, 1, 30, tzinfo=timezone(timedelta(hours=-5)))
        >>> info = RecordingInfo("a", 4, ("x",), 1800.0, start, offset_changes=((1, -4 * 3600),))
        >>> [str(moment) for moment in info.wall_clock(np.array([0.0, 1800.0]))]
        ['2018-03-11 01:30:00-05:00', '2018-03-11 03:00:00-04:00']
        """
        if self.start is None:
            raise InputError(f"recording {self.id!r} has no start time, so it has no local times")
        moments = [self.start + timedelta(seconds=float(second)) for second in seconds]
        for sample, east in self.offset_changes:
            zone = timezone(timedelta(seconds=east))
            moments = [
                moment.astimezone(zone) if second >= sample * self.period else moment
                for moment, second in zip(moments, seconds, strict=True)
            ]
        return moments

    def local_time(self, samples: NDArray[np.integer]) -> tuple[Longs, Longs]:
        """Local hour of day and weekday of some samples.

        Parameters
        ----------
        samples
            Numbers of the samples.

        Returns
        -------
        hour, weekday
            0 to 23, and 0 (Monday) to 6, of each sample.

        Examples
        --------
        >>> from datetime import timezone, timedelta
        >>> start = datetime(2018, 3, 11, 1, 30, tzinfo=timezone(timedelta(hours=-5)))
        >>> info = RecordingInfo("a", 4, ("x",), 1800.0, start, offset_changes=((1, -4 * 3600),))
        >>> [part.tolist() for part in info.local_time(np.arange(4))]
        [[1, 3, 3, 4], [6, 6, 6, 6]]
        """
        if self.start is None:
            raise InputError(
                f"recording {self.id!r} has no start time, so it has no hour of day or weekday; "
                "switch calendar features off or give a start"
            )
        offset = self.start.utcoffset()
        assert offset is not None
        changes = np.array([at for at, _ in self.offset_changes], dtype=np.int64)
        offsets = np.array([offset.total_seconds(), *(s for _, s in self.offset_changes)])
        current = offsets[np.searchsorted(changes, samples, side="right")]
        return hour_and_weekday(
            self.start.timestamp() + np.asarray(samples) * self.period + current
        )


def hour_and_weekday(local: Floats) -> tuple[Longs, Longs]:
    """Hour of day and weekday (Monday 0) of moments in seconds since 1970, of local time.

    Examples
    --------
    >>> [part.tolist() for part in hour_and_weekday(np.array([0.0, 86400.0 + 3600.0]))]
    [[0, 1], [3, 4]]
    """
    seconds = np.floor(local + 1e-6).astype(np.int64)
    # 1970-01-01 was a Thursday, weekday 3.
    return seconds // 3600 % 24, (seconds // 86400 + 3) % 7
