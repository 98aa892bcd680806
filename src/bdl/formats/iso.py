"""ISO 8601 timestamps, read from the raw text buffers without making Python strings.

Accepted: ``YYYY-MM-DD`` then ``T`` or a space, ``HH:MM:SS``, an optional fraction of up to nine
digits, then ``Z``, ``+HHMM``, ``+HH:MM`` or ``+HH`` (or nothing, where a default offset is
given). A time is whole nanoseconds since 1970-01-01 UTC; an offset is seconds east of UTC. The
calendar is the proleptic Gregorian one, years 1678 to 2261 (what 64-bit nanoseconds hold).
"""

from __future__ import annotations

from contextlib import suppress

import numba
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.formats.columns import Place, is_text, plain

NO_OFFSET = -(2**31)
_EXPECTED = "an ISO 8601 time with UTC offset, such as 2018-08-14T15:30:00-0400,"


@numba.njit(cache=True)
def _two(text, at):  # type: ignore[no-untyped-def]  # pragma: no cover
    a, b = text[at] - 48, text[at + 1] - 48
    if a < 0 or a > 9 or b < 0 or b > 9:
        return np.int64(-1)
    return np.int64(a) * 10 + np.int64(b)


@numba.njit(cache=True)
def _days(year, month, day):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Days since 1970-01-01, by shifting the year to begin in March."""
    if month <= 2:
        year -= 1
    era = year // 400
    of_era = year - era * 400
    of_year = (153 * ((month + 9) % 12) + 2) // 5 + day - 1
    return era * 146097 + of_era * 365 + of_era // 4 - of_era // 100 + of_year - 719468


@numba.njit(cache=True)
def _length(year, month):  # type: ignore[no-untyped-def]  # pragma: no cover
    if month == 2:
        leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
        return 29 if leap else 28
    return 30 if month in (4, 6, 9, 11) else 31


@numba.njit(cache=True)
def _moment(text, at, end, default):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Seconds since 1970 UTC, nanoseconds, offset of one text, and whether it is a timestamp."""
    bad = (np.int64(0), np.int64(0), np.int64(0), False)
    if end - at < 19:
        return bad
    y1, y2 = _two(text, at), _two(text, at + 2)
    month, date = _two(text, at + 5), _two(text, at + 8)
    year = y1 * 100 + y2
    if y1 < 0 or y2 < 0 or text[at + 4] != 45 or text[at + 7] != 45:
        return bad
    if year < 1678 or year > 2261 or month < 1 or month > 12:
        return bad
    if date < 1 or date > _length(year, month):
        return bad
    hour, minute, second = _two(text, at + 11), _two(text, at + 14), _two(text, at + 17)
    if text[at + 10] != 84 and text[at + 10] != 32:
        return bad
    if text[at + 13] != 58 or text[at + 16] != 58:
        return bad
    if hour < 0 or hour > 23 or minute < 0 or minute > 59 or second < 0 or second > 59:
        return bad
    i = at + 19
    fraction = np.int64(0)
    if i < end and text[i] == 46:
        i += 1
        scale = np.int64(100_000_000)
        begin = i
        while i < end and text[i] >= 48 and text[i] <= 57:
            if i - begin >= 9:
                return bad
            fraction += np.int64(text[i] - 48) * scale
            scale //= 10
            i += 1
        if i == begin:
            return bad
    offset = np.int64(default)
    if i < end:
        if text[i] == 90:
            offset = np.int64(0)
            i += 1
        elif text[i] == 43 or text[i] == 45:
            sign = 1 if text[i] == 43 else -1
            rest = end - i - 1
            minutes = np.int64(0)
            if rest not in (2, 4, 5):
                return bad
            hours = _two(text, i + 1)
            if rest == 4:
                minutes = _two(text, i + 3)
            elif rest == 5:
                if text[i + 3] != 58:
                    return bad
                minutes = _two(text, i + 4)
            if hours < 0 or minutes < 0 or minutes > 59:
                return bad
            offset = np.int64(sign * (hours * 3600 + minutes * 60))
            # No place on earth is further than -12:00 or +14:00 from UTC.
            if offset < -43200 or offset > 50400:
                return bad
            i = end
    if i != end or offset == -(2**31):
        return bad
    seconds = _days(year, month, date) * 86400 + hour * 3600 + minute * 60 + second - offset
    return seconds, fraction, offset, True


@numba.njit(cache=True, nogil=True)
def _parse(text, ends, default, times, offsets):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Fill ``times`` and ``offsets``; returns the first row that is no timestamp, or -1.

    From one row to the next, only the seconds change as a rule: where all bytes before and after
    them are those of the last row that was read in full, the two digits are enough.
    """
    last = np.int64(-1)
    width = np.int64(0)
    minute = np.int64(0)
    offset = np.int64(0)
    for row in range(len(ends) - 1):
        at, end = np.int64(ends[row]), np.int64(ends[row + 1])
        if last >= 0 and end - at == width:
            # Unsigned places spare the compiled loop a test for negative ones.
            here, there = np.uint64(at), np.uint64(last)
            other = np.uint8(0)
            for i in range(np.uint64(17)):
                other |= text[here + i] ^ text[there + i]
            for i in range(np.uint64(19), np.uint64(width)):
                other |= text[here + i] ^ text[there + i]
            if other == 0:
                second = _two(text, at + 17)
                if second < 0 or second > 59:
                    return row
                times[row] = minute + second * 1_000_000_000
                offsets[row] = offset
                continue
        seconds, fraction, east, good = _moment(text, at, end, default)
        if not good:
            return row
        times[row] = seconds * 1_000_000_000 + fraction
        offsets[row] = east
        last, width, offset = at, end - at, east
        minute = times[row] - _two(text, at + 17) * 1_000_000_000
    return -1


def parse(
    array: pa.Array, place: Place, *, default: int | None = None
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Nanoseconds since 1970 UTC and seconds east of UTC, of every row.

    ``default`` is the offset of times that have none; without it such a time is an error.

    >>> times, offsets = parse(pa.array(["1970-01-01T01:00:00.5+0100"]), Place("a", "t"))
    >>> times.tolist(), offsets.tolist()
    ([500000000], [3600])
    >>> parse(pa.array(["1970-01-01 00:00:00"]), Place("a", "t"))
    Traceback (most recent call last):
    bdl.errors.InputError: a: column 't', row 0: an ISO 8601 time with UTC offset, such as
        2018-08-14T15:30:00-0400, expected, got '1970-01-01 00:00:00'; it has no offset
    """
    if pa.types.is_dictionary(array.type) and len(array.dictionary) < len(array):
        # A text that no row uses may be anything: then the rows themselves are read below.
        with suppress(InputError):
            times, offsets = parse(array.dictionary, place, default=default)
            if not array.null_count:
                codes = array.indices.to_numpy(zero_copy_only=False)
                return times[codes], offsets[codes]
    array = plain(array)
    if not is_text(array.type):
        raise place.error(0, _EXPECTED[:-1], f"a column of type {array.type}")
    if array.null_count:
        raise place.error(int(np.flatnonzero(np.asarray(array.is_null()))[0]), _EXPECTED[:-1], None)
    wide = pa.types.is_large_string(array.type)
    if not wide and not pa.types.is_string(array.type):
        array = array.cast(pa.string())
    _, ends_buffer, text_buffer = array.buffers()
    ends = np.frombuffer(ends_buffer, dtype=np.int64 if wide else np.int32)
    ends = ends[array.offset : array.offset + len(array) + 1]
    text = np.frombuffer(text_buffer or b"", dtype=np.uint8)
    times = np.empty(len(array), np.int64)
    offsets = np.empty(len(array), np.int64)
    bad = int(_parse(text, ends, NO_OFFSET if default is None else default, times, offsets))
    if bad >= 0:
        came = array[bad].as_py()
        raise place.error(bad, _EXPECTED, came, _why(came))
    return times, offsets


def _why(came: str) -> str:
    tail = came[19:]
    if len(came) < 19:
        return "it is too short"
    if not any(mark in tail for mark in "+-Z"):
        return "it has no offset: give the zone it was written in"
    sign = max(tail.find("+"), tail.find("-"))
    digits = tail[sign + 1 :].replace(":", "")
    if sign >= 0 and digits.isdecimal() and len(digits) in (2, 4):
        hours, minutes = int(digits[:2]), int(digits[2:] or 0)
        if minutes > 59 or hours * 60 + minutes > (840 if tail[sign] == "+" else 720):
            return "no place has that offset"
    return "it is not such a time, or not on the calendar"
