"""Time zones: a zone by its name, a start in it, and the changes of its UTC offset."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from bdl.errors import InputError

OffsetChanges = tuple[tuple[int, int], ...]


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
            f"zone {name!r}: UTC, an offset such as +02:00 or an IANA name such as Europe/Zurich "
            "expected"
        ) from error


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
    local = start.replace(tzinfo=place) if start.tzinfo is None else start.astimezone(place)
    begin = local.astimezone(UTC)

    def offset(sample: int) -> int:
        east = (begin + timedelta(seconds=sample * period)).astimezone(place).utcoffset()
        assert east is not None
        return int(east.total_seconds())

    changes = []
    per_day = max(1, int(86400 / period))
    low, current = 0, offset(0)
    first = begin.astimezone(timezone(timedelta(seconds=current)))
    while isinstance(place, ZoneInfo) and low < samples - 1:
        high = min(low + per_day, samples - 1)
        if offset(high) == current:
            low = high
            continue
        while high - low > 1:  # the change is after low and not after high
            middle = (low + high) // 2
            low, high = (middle, high) if offset(middle) == current else (low, middle)
        low, current = high, offset(high)
        changes.append((low, current))
    return first, tuple(changes)
