"""Time zones by their names, and the UTC offsets that times in them have."""

from __future__ import annotations

from bisect import bisect_left
from contextlib import suppress
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from functools import lru_cache
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Longs
from bdl.errors import InputError

Pair = tuple[Longs, Longs]
OffsetChanges = tuple[tuple[int, int], ...]
NANO = 1_000_000_000
_DAY = 86400


def named_zone(name: str) -> tzinfo:
    """A time zone from ``UTC``, an offset such as ``+02:00`` or an IANA name.

    Examples
    --------
    >>> named_zone("-0430").utcoffset(None).total_seconds()
    -16200.0
    """
    with suppress(Exception):
        if name in ("UTC", "Z"):
            return UTC
        if not name.startswith(("+", "-")):
            return ZoneInfo(name)
        zone = datetime.fromisoformat(f"2000-01-01T00:00:00{name}").tzinfo
        if zone and -12 * 3600 <= utc_offset(0, zone) <= 14 * 3600:
            return zone
    raise InputError(
        f"zone {name!r}: an IANA name such as Europe/Zurich, UTC or an offset such as +02:00 "
        "expected (--zone)"
    )


def utc_offset(second: float, zone: tzinfo | None) -> int:
    """Seconds east of UTC in a zone at a time in seconds since 1970."""
    return int((datetime.fromtimestamp(second, zone).utcoffset() or timedelta()).total_seconds())


@lru_cache(maxsize=64)
def _zone_changes(name: str, first: int, last: int) -> Pair:
    """When a zone's UTC offset changes between two times in seconds since 1970, and all offsets."""
    zone = named_zone(name)
    days = range(first, last, _DAY) if isinstance(zone, ZoneInfo) else range(0)
    if len(days) > 200 * 366:
        raise InputError(
            f"times over {len(days) / 365.25:,.0f} years in {name}; are the dates, the period and "
            "the unit right?"
        )
    instants, offsets = list[int](), [utc_offset(first, zone)]

    def changed(second: int) -> bool:
        return utc_offset(second, zone) != offsets[-1]

    for low in days:
        high = min(low + _DAY, last)
        if changed(high):
            instants.append(low + bisect_left(range(low, high), True, key=changed))
            offsets.append(utc_offset(high, zone))
    return np.array(instants, np.int64), np.array(offsets, np.int64)


def early_and_late(instants: NDArray[np.number], offsets: Longs, seconds: Longs) -> Pair:
    """The two UTC offsets that local times can have, equal except where clocks are set.

    Times that come twice have the greater one first, times that are skipped the smaller one.
    """
    old, new = offsets[:-1], offsets[1:]
    early = np.searchsorted(instants + np.maximum(old, new), seconds, side="right")
    late = np.searchsorted(instants + np.minimum(old, new), seconds, side="right")
    return offsets[early], offsets[late]


def offsets_in_zone(zone: str, seconds: Longs) -> Pair:
    """The `early_and_late` UTC offsets of local times in a zone."""
    begin, end = int(seconds.min()) // _DAY - 2, int(seconds.max()) // _DAY + 3
    return early_and_late(*_zone_changes(zone, begin * _DAY, end * _DAY), seconds)


def start_in_zone(
    start: datetime | None, zone: str | None, period: float, samples: int, path: object = ""
) -> tuple[datetime | None, OffsetChanges, tuple[str, ...]]:
    """The start of a recording, each ``(sample, UTC offset)`` after it, and a note on a guess.

    A start without UTC offset is in the zone, or in UTC if that is unknown. The period is in
    seconds; ``path`` is the file, for the note.

    Examples
    --------
    >>> start, changes, _ = start_in_zone(datetime(2018, 11, 4), "America/New_York", 1800.0, 9)
    >>> start.isoformat(), changes
    ('2018-11-04T00:00:00-04:00', ((4, -18000),))
    """
    if start is None:
        return None, (), ()
    name = zone or "UTC"
    start = start.replace(tzinfo=start.tzinfo or named_zone(name))
    first = start.timestamp()
    instants, offsets = _zone_changes(name, int(first // 1), int(first + samples * period) + 1)
    later = np.ceil((instants - first) / period - 1e-6).astype(np.int64)
    local = start.astimezone(timezone(timedelta(seconds=int(offsets[0]))))
    changes = zip(later[later < samples].tolist(), offsets[1:].tolist(), strict=False)
    note = (
        f"{path}: its start has no time zone: local times hold if clocks were not set meanwhile "
        "(name the zone by --zone Europe/Berlin)"
    )
    return local, tuple(changes), () if zone else (note,)
