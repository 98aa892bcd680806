"""Time zones: a zone by its name, the changes of its UTC offset, and local times in it.

When clocks are set back, an hour of local times comes twice. Rows in the order of their times tell
which is which: a row that would be before the one before it begins the second pass, and a recording
that begins in the hour and leaves it without such a row is in the second pass.
"""

from __future__ import annotations

from bisect import bisect_left
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError

Longs = NDArray[np.int64]
OffsetChanges = tuple[tuple[int, int], ...]
NANO = 1_000_000_000
NEVER_SET = "if the clock of the device is never set, give its own UTC offset (--zone +HH:MM)"
_DAY = 86400
_LONGEST = 200 * 366 * _DAY  # seconds over which changes of clocks are looked for


def named_zone(name: str) -> tzinfo:
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
        zone = datetime.fromisoformat(f"2000-01-01T00:00:00{name}").tzinfo
        if zone is None or not -12 * 3600 <= utc_offset(0, zone) <= 14 * 3600:
            raise ValueError(name)
        return zone
    except Exception as error:
        raise InputError(
            f"zone {name!r}: an IANA name such as Europe/Zurich, UTC or an offset such as +02:00 "
            "expected (--zone)"
        ) from error


def utc_offset(second: float, zone: tzinfo | None) -> int:
    """Seconds east of UTC in a zone at a time in seconds since 1970."""
    return int((datetime.fromtimestamp(second, zone).utcoffset() or timedelta()).total_seconds())


@lru_cache(maxsize=64)
def zone_changes(zone: str, first: int, last: int) -> tuple[Longs, Longs]:
    """When a zone's UTC offset changes between two times in seconds since 1970, and all offsets.

    Examples
    --------
    >>> march = int(datetime(2024, 3, 1, tzinfo=UTC).timestamp())
    >>> [part.tolist() for part in zone_changes("Europe/Berlin", march, march + 31 * 86400)]
    [[1711846800], [3600, 7200]]
    """
    place = named_zone(zone)
    days = range(first, last, _DAY) if isinstance(place, ZoneInfo) else range(0)
    if len(days) * _DAY > _LONGEST:
        raise InputError(
            f"times over {len(days) / 365.25:,.0f} years in {zone}; are the dates, the period and "
            "the unit right?"
        )
    instants: list[int] = []
    offsets = [utc_offset(first, place)]

    def changed(second: int) -> bool:
        return utc_offset(second, place) != offsets[-1]

    for low in days:
        high = min(low + _DAY, last)
        if changed(high):
            instants.append(low + bisect_left(range(low, high), True, key=changed))
            offsets.append(utc_offset(high, place))
    return np.array(instants, np.int64), np.array(offsets, np.int64)


def early_and_late(
    instants: NDArray[np.number], offsets: Longs, seconds: Longs
) -> tuple[Longs, Longs]:
    """The two UTC offsets that local times can have, equal except where clocks are set.

    Times that come twice have the greater one first, times that are skipped the smaller one.
    """
    old, new = offsets[:-1], offsets[1:]
    early = np.searchsorted(instants + np.maximum(old, new), seconds, side="right")
    late = np.searchsorted(instants + np.minimum(old, new), seconds, side="right")
    return offsets[early], offsets[late]


def from_local(
    local: Longs, row: Longs, zone: str | None, before: int | None, where: str
) -> tuple[Longs, Longs, list[str]]:
    """UTC times of local times in their order, their offsets, and a note if they are a guess.

    Parameters
    ----------
    local, row
        (n,) nanoseconds since 1970 on the local clock, and numbers of their rows in the file.
    zone, before, where
        The zone, the UTC time of the row before the first, and the recording, for messages.

    Examples
    --------
    >>> texts = ["2024-10-27T02:59:30", "2024-10-27T02:00:00", "2024-10-27T03:00:00"]
    >>> local = np.array(texts, "datetime64[ns]").astype(np.int64)
    >>> from_local(local, np.arange(3), "Europe/Berlin", None, "a.csv")[1:]
    (array([7200, 3600, 3600]), [])
    """
    if zone is None:
        raise InputError(
            f"{where}: row {row[0]}: the time has no UTC offset; give the zone in which it was "
            "written, such as Europe/Berlin (zone=, --zone)"
        )
    seconds = local // NANO
    begin, end = int(seconds.min()) // _DAY - 2, int(seconds.max()) // _DAY + 3
    offsets, late = early_and_late(*zone_changes(zone, begin * _DAY, end * _DAY), seconds)
    if (skipped := offsets < late).any():
        i = int(np.argmax(skipped))
        raise InputError(
            f"{where}: row {row[i]}: {np.datetime64(int(seconds[i]), 's')} does not exist in "
            f"{zone}, where clocks were set forward; {NEVER_SET}"
        )
    utc, twice = local - offsets * NANO, offsets > late
    for first, last in np.flatnonzero(np.diff(twice, prepend=False, append=False)).reshape(-1, 2):
        previous = utc[first - 1] if first else utc[0] if before is None else before
        back = np.flatnonzero(np.diff(utc[first:last], prepend=previous) < 0)
        if first == 0 and before is None and not len(back):
            if last == len(local):
                note = f"{where}: all times are in an hour that comes twice in {zone}; they were "
                return utc, offsets, [note + "taken as the first, since no UTC offset tells"]
            back = np.zeros(1, np.int64)
        second = slice(first + back[0] if len(back) else last, last)
        utc[second] += (offsets[second] - late[second]) * NANO
        offsets[second] = late[second]
    return utc, offsets, []


def start_in_zone(
    start: datetime | None, zone: str | None, period: float, samples: int, path: object = ""
) -> tuple[datetime | None, OffsetChanges, tuple[str, ...]]:
    """The start of a recording, each ``(sample, UTC offset)`` after it, and a note on a guess.

    Parameters
    ----------
    start, zone
        Time of sample 0, which is in the zone if it has no UTC offset; in UTC if that is unknown.
    period, samples, path
        Seconds between two samples, number of samples, and the file, for the note.

    Examples
    --------
    >>> start, changes, _ = start_in_zone(datetime(2018, 11, 4), "America/New_York", 1800.0, 9)
    >>> start.isoformat(), changes
    ('2018-11-04T00:00:00-04:00', ((4, -18000),))
    """
    if start is None:
        return None, (), ()
    note = (
        f"{path}: its start has no time zone: local times hold if clocks were not set meanwhile "
        "(name the zone by --zone Europe/Berlin)"
    )
    name = zone or "UTC"
    start = start.replace(tzinfo=start.tzinfo or named_zone(name))
    first = start.timestamp()
    instants, offsets = zone_changes(name, int(first // 1), int(first + samples * period) + 1)
    later = np.ceil((instants - first) / period - 1e-6).astype(np.int64).tolist()
    changes = zip(later, offsets[1:].tolist(), strict=True)
    local = start.astimezone(timezone(timedelta(seconds=int(offsets[0]))))
    return local, tuple(each for each in changes if each[0] < samples), () if zone else (note,)
