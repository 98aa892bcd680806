"""Time columns as whole nanoseconds, and the UTC offsets that text carries.

A time with a UTC offset is in nanoseconds since 1970-01-01 UTC, one without since 1970-01-01 on the
local clock; both in 64 bits: years 1678 to 2261. Arrow parses text in ISO 8601: a date, ``T`` or a
space, a time with up to nine decimals, then ``Z``, ``+HHMM``, ``+HH:MM``, ``+HH`` or nothing.
Other forms are rewritten as these first.

In long columns most texts differ from the text before in the time of day only. Of such a run Arrow
parses the first text, and compiled code counts the seconds from there to the others.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.arrays import Ints, Longs
from bdl.arrow import from_numpy, to_numpy
from bdl.column_names import TIME_UNITS
from bdl.column_values import ColumnPlace, decoded, first_invalid, first_null, is_text, numbers
from bdl.compiled import compiled
from bdl.errors import InputError
from bdl.formats.date_forms import DateOrder, is_iso, rewrite
from bdl.formats.time_zones import NANO

ParsedTimes = tuple[Longs, Longs | None, bool]  # as `parse_times` returns them
_LONG = 4096  # rows from which it pays to load compiled code
_LEAST_RUN = 64  # mean length of runs in rows, below which Arrow parses all texts as fast
_ZONED, _LOCAL = pa.timestamp("ns", "UTC"), pa.timestamp("ns")
_OFFSET = r"(?:Z|[+-]\d\d(?::?\d\d)?)$"
_EXPECTED = "a date and time such as 2018-08-14T15:30:00-0400"
_CAUSE = (
    "known are also 14.8.2018 15:30, 8/14/2018 3:30 PM and 14 Aug 2018 15:30; is it not on the "
    "calendar, or its UTC offset none of any place?"
)


def parse_times(
    array: pa.Array, place: ColumnPlace, unit: str | None = None, order: DateOrder | None = None
) -> ParsedTimes:
    """Nanoseconds since 1970, UTC offsets in seconds if texts have them, and whether it is local.

    Parameters
    ----------
    array, place
        Texts, Arrow timestamps or numbers, and where they are, for error messages.
    unit, order
        Unit of numbers, None for text; and which number of a date that is not ISO 8601 is the day,
        if the dates do not show it.

    Examples
    --------
    >>> parse_times(pa.array(["1970-01-01T01:00:00.5+0100"]), ColumnPlace("a", "t"))
    (array([500000000]), array([3600]), False)
    >>> parse_times(pa.array([0.5, 2.0]), ColumnPlace("a", "t"), "ms")
    (array([ 500000, 2000000]), None, False)
    """
    array = decoded(array)
    if pa.types.is_timestamp(array.type):
        times = _nanoseconds(array.cast(pa.int64()), place, array.type.unit)
        return times, None, array.type.tz is None
    if unit is not None:
        return _nanoseconds(array, place, unit), None, False
    if not is_text(array.type):
        raise place.error(0, _EXPECTED, f"a column of type {array.type}")
    array = array.cast(pa.string())
    if array.null_count:
        raise place.error(first_null(array), _EXPECTED, None)
    by_runs = _parse_runs(array, place) if len(array) >= _LONG and is_iso(array) else None
    return by_runs or _parse_texts(array, place, order)


def _parse_texts(array: pa.Array, place: ColumnPlace, order: DateOrder | None) -> ParsedTimes:
    """As `parse_times`, each text by Arrow."""
    import pyarrow.compute as pc

    texts, added = (array, 0) if is_iso(array) else rewrite(array, place, order)
    # The first text shows the kind: Arrow describes every text of the wrong kind, which takes time.
    kind, other = (_ZONED, _LOCAL) if first_invalid(texts[:1], _ZONED) else (_LOCAL, _ZONED)
    expected, cause = _EXPECTED, _CAUSE
    try:
        times: Longs = to_numpy(texts.cast(kind).cast(pa.int64()))
        if kind == _LOCAL:
            return times + added, None, True
        # Where all texts end alike, the first shows their UTC offset.
        end = "".join(re.findall(_OFFSET, texts[0].as_py()))
        parsed = texts[:1] if pc.all(pc.ends_with(texts, end)).as_py() else texts
        local = pc.replace_substring_regex(parsed, _OFFSET, "").cast(_LOCAL).cast(pa.int64())
        offsets = (to_numpy(local) - times[: len(parsed)]) // NANO
        invalid = np.abs(offsets - 3600) > 13 * 3600  # no place is further than -12 or +14 hours
        if not invalid.any():
            return times + added, np.broadcast_to(offsets, len(texts)), False
        row = int(np.argmax(invalid))
    except pa.ArrowInvalid:
        row = first_invalid(texts, kind)
        if row and first_invalid(texts[row : row + 1], other):
            expected, cause = "times of one kind", "some times have a UTC offset and others none"
        elif re.match(r"\s*\d{1,2}:\d\d", array[row].as_py()):
            cause = "which column has the date (--date NAME; --column date=NAME of events)?"
    raise place.error(row, expected, array[row].as_py(), cause)


def _parse_runs(array: pa.Array, place: ColumnPlace) -> ParsedTimes | None:
    """As `parse_times`, only the first text of each run by Arrow.

    None if runs are short, or a text is invalid.
    """
    _, ends, data = array.buffers()
    ends = np.frombuffer(ends, np.int32)[array.offset :][: len(array) + 1]
    seconds = np.empty(len(array), np.int64)
    firsts = np.empty(len(array) // _LEAST_RUN, np.int64)
    count = _find_runs(np.frombuffer(data, np.uint8), ends, firsts, seconds)
    if count > len(firsts):
        return None
    try:
        times, offsets, local = _parse_texts(array.take(from_numpy(firsts[:count])), place, None)
    except InputError:
        return None
    rows = np.diff(firsts[:count], append=len(array))
    times = np.repeat(times, rows) + seconds * NANO
    return times, None if offsets is None else np.repeat(offsets, rows), local


@compiled
def _find_runs(text: NDArray[np.uint8], ends: Ints, firsts: Longs, seconds: Longs) -> int:
    """Fill in the first row of each run, and the seconds of each row after that of its run.

    Returns the number of runs; one more than there is room for ends the search.
    """
    runs, before, width, first_of_day = 0, np.uint64(0), 0, -1
    for row in range(len(seconds)):
        start = np.uint64(ends[row])  # unsigned: no test for negative places
        size = ends[row + 1] - ends[row]
        of_day = _seconds_of_day(text, start) if size >= 19 else -1
        differs = np.uint8(of_day < 0 or first_of_day < 0 or size != width)
        if differs == 0:
            for i in range(np.uint64(11)):
                differs |= text[start + i] ^ text[before + i]
            for i in range(np.uint64(19), np.uint64(size)):
                differs |= text[start + i] ^ text[before + i]
        if differs != 0:
            if runs == len(firsts):
                return runs + 1
            firsts[runs] = row
            runs += 1
            before, width, first_of_day = start, size, of_day
        seconds[row] = of_day - first_of_day
    return runs


@compiled
def _seconds_of_day(text: NDArray[np.uint8], start: np.uint64) -> int:
    """The time of day of an ISO text in seconds; -1 if it has none."""
    seconds = 0
    for place, largest, unit in (
        (11, 2, 36000), (12, 9, 3600), (14, 5, 600), (15, 9, 60), (17, 5, 10), (18, 9, 1)
    ):  # fmt: skip
        digit = int(text[start + np.uint64(place)]) - 48
        if digit < 0 or digit > largest:
            return -1
        seconds += unit * digit
    colons = text[start + np.uint64(13)] == 58 and text[start + np.uint64(16)] == 58
    return seconds if colons and seconds < 86400 else -1


def _nanoseconds(array: pa.Array, place: ColumnPlace, unit: str) -> Longs:
    """Numbers in a unit as whole nanoseconds."""
    scale = round(TIME_UNITS[unit] * NANO)
    is_integer = pa.types.is_integer(array.type) and not array.null_count
    times = to_numpy(array) if is_integer else numbers(array, place)
    finite = np.abs(times.astype(np.float64)) * scale < 2.0**62
    place.check(finite, "a finite time", times, "is the unit right (--unit)?")
    scaled = times.astype(np.int64) * scale if is_integer else np.floor(times * float(scale) + 0.5)
    return scaled.astype(np.int64, copy=False)
