"""Periods and time zones: what a clock's first rows and a zone's name tell."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from zoneinfo import ZoneInfo

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError

Longs = NDArray[np.int64]
NANO = 1_000_000_000


def infer_period(times: Longs, samples: Longs | None, where: str) -> float:
    """Period in seconds: the mean of the steps near the median one, made round if it fits.

    ``times`` are nanoseconds.

    >>> 1 / infer_period(np.array([0, 2_777_778, 5_555_556, 8_333_333]), None, "a")
    360.0
    """
    counts = np.ones(max(len(times) - 1, 0)) if samples is None else np.diff(samples)
    steps = np.diff(times)
    good = (counts > 0) & (steps > 0)
    if not good.any():
        raise InputError(
            f"{where}: the period cannot be told from {len(times)} row(s) with "
            f"{int(good.sum())} steps forward in time; give the period in seconds"
        )
    each = steps[good] / counts[good]
    # The lower of two middle steps: their mean may be a step that nothing made.
    median = float(np.sort(each)[(len(each) - 1) // 2])
    near = np.abs(each - median) <= 0.1 * median
    mean = float(steps[good][near].sum() / counts[good][near].sum())
    # A round rate or period is taken where it explains these very times as well.
    blur = (2.0 + float(np.abs(each[near] - mean).max())) / NANO
    length, seconds = float(counts[good][near].sum()), mean / NANO
    round_ones = [1 / max(1, round(1 / seconds)), float(max(1, round(seconds)))]
    for rounded in round_ones + [round(seconds, digits) for digits in range(9)]:
        if rounded > 0 and abs(rounded - seconds) * length <= blur:
            return rounded
    return seconds


def named_zone(name: str) -> timezone | ZoneInfo:
    """A time zone from ``UTC``, an offset such as ``+02:00`` or an IANA name.

    >>> named_zone("-0430").utcoffset(None).total_seconds()
    -16200.0
    """
    if name in ("UTC", "Z"):
        return UTC
    try:
        if name[:1] in "+-" and name:
            sign = -1 if name[0] == "-" else 1
            digits = name[1:].replace(":", "")
            if not (digits.isdecimal() and len(digits) in (2, 4)):
                raise ValueError(name)
            minutes = int(digits[:2]) * 60 + int(digits[2:] or 0)
            if int(digits[2:] or 0) > 59 or not -720 <= sign * minutes <= 840:
                raise ValueError(name)
            return timezone(timedelta(minutes=sign * minutes))
        return ZoneInfo(name)
    except Exception as error:
        raise InputError(
            f"zone {name!r}: UTC, an offset such as +02:00 or an IANA name such as Europe/Zurich "
            "expected"
        ) from error


def zone_changes(start: datetime, period: float, samples: int) -> tuple[tuple[int, int], ...]:
    """Samples at which the UTC offset of an IANA zone changes, and the new offsets.

    >>> zone = ZoneInfo("America/New_York")
    >>> zone_changes(datetime(2018, 11, 4, 0, 0, tzinfo=zone), 1800.0, 9)
    ((4, -18000),)
    """
    if not isinstance(start.tzinfo, ZoneInfo):
        return ()

    def offset(sample: int) -> int:
        at = start.astimezone(UTC) + timedelta(seconds=sample * period)
        east = at.astimezone(start.tzinfo).utcoffset()
        assert east is not None
        return int(east.total_seconds())

    found = []
    stride = max(1, int(86400 / period))
    low, current = 0, offset(0)
    while low < samples - 1:
        high = min(low + stride, samples - 1)
        after = offset(high)
        if after != current:
            before, first = low, high
            while first - before > 1:
                middle = (before + first) // 2
                if offset(middle) == current:
                    before = middle
                else:
                    first = middle
            current = offset(first)
            found.append((first, current))
            low = first
        else:
            low = high
    return tuple(found)


def in_zone(
    naive: datetime | None, zone: str | None, period: float, samples: int
) -> tuple[datetime | None, tuple[tuple[int, int], ...]]:
    """A local start in its zone, and the offset changes after it; None where no zone is known.

    >>> in_zone(datetime(2020, 1, 1), "+01:00", 1.0, 10)[0].isoformat()
    '2020-01-01T00:00:00+01:00'
    """
    if naive is None or zone is None:
        return None, ()
    start = naive.replace(tzinfo=named_zone(zone))
    changes = zone_changes(start, period, samples)
    offset = start.utcoffset()
    assert offset is not None
    return start.replace(tzinfo=timezone(offset)), changes
