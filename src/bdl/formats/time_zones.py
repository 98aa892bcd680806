"""Time zones: a zone by its name, the changes of its UTC offset, and local times in it.

When clocks are set back, an hour of local times comes twice. Rows in the order of their times tell
which is which: local times that step back begin the second pass, and a recording that begins in
the hour and leaves it without a step back is in the second pass.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from functools import lru_cache
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError

Longs = NDArray[np.int64]
OffsetChanges = tuple[tuple[int, int], ...]
NANO = 1_000_000_000
SKIPPED = -1  # in place of the UTC offset of a local time that does not exist
_DAY = 86400
_LONGEST = 200 * 366 * _DAY  # seconds over which changes of clocks are looked for


def named_zone(name: str) -> timezone | ZoneInfo:
    """A time zone from ``UTC``, an offset such as ``+02:00`` or an IANA name.

    Examples
    --------
    >>> named_zone("-0430").utcoffset(None).total_seconds()
    -16200.0
    """
    try:
        if name in ("UTC", "Z"):
            return UTC
        if not name.startswith(("+", "-")):
            return ZoneInfo(name)
        offset = datetime.fromisoformat(f"2000-01-01T00:00:00{name}").utcoffset()
        if offset is None or not timedelta(hours=-12) <= offset <= timedelta(hours=14):
            raise ValueError(name)
        return timezone(offset)
    except Exception as error:
        raise InputError(
            f"zone {name!r}: an IANA name such as Europe/Zurich, UTC or an offset such as +02:00 "
            "expected (--zone)"
        ) from error


def utc_offset(time: datetime) -> int:
    """Seconds east of UTC of a time with a zone."""
    east = time.utcoffset()
    assert east is not None
    return int(east.total_seconds())


class ZoneChanges(NamedTuple):
    """The UTC offsets of a zone over some time, in seconds, and when each but the first begins."""

    instants: NDArray[np.number]
    offsets: Longs

    def early_and_late(self, seconds: Longs) -> tuple[Longs, Longs]:
        """The two UTC offsets that local times can have, equal except where clocks are set.

        Times that come twice have the greater one first, times that are skipped the smaller one.
        """
        old, new = self.offsets[:-1], self.offsets[1:]
        early = np.searchsorted(self.instants + np.maximum(old, new), seconds, side="right")
        late = np.searchsorted(self.instants + np.minimum(old, new), seconds, side="right")
        return self.offsets[early], self.offsets[late]


@lru_cache(maxsize=64)
def zone_changes(zone: str, first: int, last: int) -> ZoneChanges:
    """The changes of a zone's UTC offset between two times, in seconds since 1970 UTC.

    Examples
    --------
    >>> march = int(datetime(2024, 3, 1, tzinfo=UTC).timestamp())
    >>> [part.tolist() for part in zone_changes("Europe/Berlin", march, march + 31 * 86400)]
    [[1711846800], [3600, 7200]]
    """
    place = named_zone(zone)
    if not isinstance(place, ZoneInfo):
        last = first
    if last - first > _LONGEST:
        raise InputError(
            f"times over {(last - first) / (365.25 * _DAY):,.0f} years in {zone}; are the dates, "
            "the period and the unit right?"
        )

    def offset(second: int) -> int:
        return utc_offset(datetime.fromtimestamp(second, place))

    instants: list[int] = []
    offsets = [offset(first)]
    for low in range(first, last, _DAY):
        high = min(low + _DAY, last)
        if offset(high) == offsets[-1]:
            continue
        while high - low > 1:  # the change is after low and not after high
            middle = (low + high) // 2
            low, high = (middle, high) if offset(middle) == offsets[-1] else (low, middle)
        instants.append(high)
        offsets.append(offset(high))
    return ZoneChanges(np.array(instants, np.int64), np.array(offsets, np.int64))


class LocalTime(NamedTuple):
    """A local time in nanoseconds since 1970 and its UTC offset in seconds."""

    time: int
    offset: int


def local_offsets(times: Longs, zone: str, before: LocalTime | None) -> tuple[Longs, bool]:
    """UTC offsets of local times in their order.

    Parameters
    ----------
    times
        (n,) nanoseconds since 1970 on the local clock.
    zone
        Name of the zone.
    before
        The local time before the first, if there is one.

    Returns
    -------
    offsets
        (n,) seconds; `SKIPPED` where clocks were set forward over the time.
    certain
        False if all times are in a repeated hour and none steps back: the first pass is taken.

    Examples
    --------
    >>> texts = ["2024-10-27T02:59:30", "2024-10-27T02:00:00", "2024-10-27T03:00:00"]
    >>> times = np.array(texts, "datetime64[ns]").astype(np.int64)
    >>> local_offsets(times, "Europe/Berlin", None)
    (array([7200, 3600, 3600]), True)
    """
    count = len(times)
    if before is not None:
        times = np.concatenate([[before.time], times])
    seconds = times // NANO
    first, last = int(seconds.min()) // _DAY - 2, int(seconds.max()) // _DAY + 3
    changes = zone_changes(zone, first * _DAY, last * _DAY)
    offsets, late = changes.early_and_late(seconds)
    twice = offsets > late
    offsets[offsets < late] = SKIPPED
    certain = True
    for first, last in np.flatnonzero(np.diff(twice, prepend=False, append=False)).reshape(-1, 2):
        back = first + 1 + np.flatnonzero(np.diff(times[first:last]) < 0)
        second = back[0] if len(back) else last
        if first == 0 and before is not None and before.offset == late[0]:
            second = 0
        elif first == 0 and before is None and not len(back):
            certain = bool(last < len(times))
            second = 0 if certain else last
        offsets[second:last] = late[second:last]
    return offsets[len(times) - count :], certain


def start_in_zone(
    start: datetime | None, zone: str | None, period: float, samples: int
) -> tuple[datetime | None, OffsetChanges]:
    """The start of a recording with its UTC offset, and the offset changes after it.

    Parameters
    ----------
    start
        Local time of sample 0, or a time with an offset; None if it is not known.
    zone
        Name of the zone; without it there is no start.
    period, samples
        Seconds between two samples, and length of the recording.

    Returns
    -------
    start
        With a fixed UTC offset, or None.
    changes
        ``(sample, seconds east of UTC)`` of every change after the start.

    Examples
    --------
    >>> start_in_zone(datetime(2020, 1, 1), "+01:00", 1.0, 10)[0].isoformat()
    '2020-01-01T00:00:00+01:00'
    >>> start_in_zone(datetime(2018, 11, 4), "America/New_York", 1800.0, 9)[1]
    ((4, -18000),)
    """
    if start is None or zone is None:
        return None, ()
    place = named_zone(zone)
    begin = (start.replace(tzinfo=place) if start.tzinfo is None else start).astimezone(UTC)
    first = begin.timestamp()
    changes = zone_changes(zone, int(first // 1), int(first + samples * period) + 1)
    later = np.ceil((changes.instants - first) / period - 1e-6).astype(np.int64)
    pairs = zip(later.tolist(), changes.offsets[1:].tolist(), strict=True)
    local = begin.astimezone(timezone(timedelta(seconds=int(changes.offsets[0]))))
    return local, tuple((sample, east) for sample, east in pairs if sample < samples)


def start_on_local_clock(
    start: datetime | None, zone: str | None, period: float, samples: int, path: object
) -> tuple[datetime | None, OffsetChanges, tuple[str, ...]]:
    """The start of a file that tells only its local time; without a zone, as if it were UTC.

    Examples
    --------
    >>> start_on_local_clock(datetime(2020, 1, 1), None, 1.0, 10, "a.edf")[2][0][:36]
    'a.edf: its start has no time zone: l'
    """
    notes: tuple[str, ...] = ()
    if start is not None and zone is None:
        notes = (
            f"{path}: its start has no time zone: local times hold if clocks were not set "
            "meanwhile (name the zone by --zone Europe/Berlin)",
        )
    return *start_in_zone(start, zone or "UTC", period, samples), notes
