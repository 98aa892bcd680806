"""Time columns as whole nanoseconds, and the UTC offsets that text carries.

Text is ISO 8601, parsed by Arrow (a date, ``T`` or a space, a time with up to nine decimals, then
``Z``, ``+HHMM``, ``+HH:MM``, ``+HH`` or nothing), or one of the local forms of
`bdl.formats.time_texts`. A time with a UTC offset is in nanoseconds since 1970-01-01 UTC, one
without since 1970-01-01 on the local clock; both in 64 bits: years 1678 to 2261.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.arrow import to_numpy
from bdl.column_values import ColumnPlace, decoded, first_invalid, first_null, is_text, numbers
from bdl.formats.iso_days import parse_days
from bdl.formats.time_texts import DateOrder, is_iso, rewrite

Longs = NDArray[np.int64]
Parsed = tuple[Longs, Longs | None]
NANOSECONDS = {"h": 3600 * 10**9, "min": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_LIMIT = 2.0**62
_OUR_TIME = (631152000, 4102444800)  # seconds: years 1990 to 2100
_ZONED, _LOCAL = pa.timestamp("ns", "UTC"), pa.timestamp("ns")
_OFFSET = r"(?:Z|[+-]\d\d(?::?\d\d)?)$"
_EXPECTED = "a date and time such as 2018-08-14T15:30:00-0400"
_CAUSE = (
    "known are also 14.8.2018 15:30, 8/14/2018 3:30 PM and 14 Aug 2018 15:30; is it not on the "
    "calendar, or its UTC offset none of any place?"
)


def epoch_unit(array: pa.Array, unit: str | None) -> str | None:
    """The unit (``unit`` if given) in which the first number counts from 1970 to our time, if any.

    Examples
    --------
    >>> epoch_unit(pa.array([1700000000000]), None), epoch_unit(pa.array([0.02]), "s")
    ('ms', None)
    """
    for first in array.drop_null()[:1].to_pylist():
        with suppress(TypeError, ValueError):
            for each in (unit,) if unit else ("s", "ms", "us", "ns"):
                if _OUR_TIME[0] <= float(first) * NANOSECONDS[each] / 1e9 < _OUR_TIME[1]:
                    return each
    return None


def parse_times(array: pa.Array, place: ColumnPlace, order: DateOrder | None = None) -> Parsed:
    """Nanoseconds since 1970 of a column of text, and UTC offsets in seconds; None if local.

    Parameters
    ----------
    array, place
        The texts, and where they are, for error messages.
    order
        Which number of a date that is not ISO 8601 is the day; if it is not given, the dates tell.

    Examples
    --------
    >>> parse_times(pa.array(["1970-01-01T01:00:00.5+0100"]), ColumnPlace("a", "t"))
    (array([500000000]), array([3600]))
    """
    array = decoded(array)
    if not is_text(array.type):
        raise place.error(0, _EXPECTED, f"a column of type {array.type}")
    if not pa.types.is_string(array.type):
        array = array.cast(pa.string())
    if array.null_count:
        raise place.error(first_null(array), _EXPECTED, None)
    if is_iso(array):
        return parse_days(array) or _parse(array, array, place)
    texts, added = rewrite(array, place, order)
    times, offsets = _parse(texts, array, place)
    return times + added, offsets


def _parse(texts: pa.Array, shown: pa.Array, place: ColumnPlace) -> Parsed:
    """Times of texts in ISO 8601; an error names the first row that is invalid or unlike others."""
    # The first text tells the kind: Arrow describes every text of the wrong kind, which takes time.
    zoned = bool(first_invalid(texts[:1], _ZONED))
    kind, other = (_ZONED, _LOCAL) if zoned else (_LOCAL, _ZONED)
    expected, cause = _EXPECTED, _CAUSE
    try:
        times = to_numpy(texts.cast(kind).cast(pa.int64()))
        offsets = _offsets(texts, times) if zoned else None
        # No place on earth is further from UTC than -12 or +14 hours.
        if offsets is None or not (invalid := np.abs(offsets - 3600) > 13 * 3600).any():
            return times, offsets
        row = int(np.argmax(invalid))
    except pa.ArrowInvalid:
        row = first_invalid(texts, kind)
        if row and first_invalid(texts[row : row + 1], other):
            expected, cause = "times of one kind", "some times have a UTC offset and others none"
        elif re.match(r"\s*\d{1,2}:\d\d", shown[row].as_py()):
            cause = "which column has the date (--date NAME; --column date=NAME of events)?"
    raise place.error(row, expected, shown[row].as_py(), cause)


def _offsets(texts: pa.Array, times: Longs) -> Longs:
    """UTC offsets of valid times that have one; where all texts end alike, that of the first."""
    import pyarrow.compute as pc

    end = "".join(re.findall(_OFFSET, "".join(texts[:1].to_pylist())))
    parsed = texts[:1] if pc.all(pc.ends_with(texts, end)).as_py() else texts
    local = pc.replace_substring_regex(parsed, _OFFSET, "").cast(_LOCAL).cast(pa.int64())
    east = (to_numpy(local) - times[: len(parsed)]) // NANOSECONDS["s"]
    return np.broadcast_to(east, len(texts))


def joined_texts(columns: Sequence[pa.Array]) -> pa.Array:
    """A column of times, or columns of dates and times as one of text.

    Examples
    --------
    >>> joined_texts([pa.array(["2024-01-15"]), pa.array(["09:05"])]).to_pylist()
    ['2024-01-15 09:05']
    """
    if len(columns) == 1:
        return columns[0]
    import pyarrow.compute as pc

    texts = [pc.utf8_trim_whitespace(decoded(column).cast(pa.string())) for column in columns]
    return pc.binary_join_element_wise(*texts, pa.scalar(" "))


def nanoseconds(array: pa.Array, place: ColumnPlace, unit: str) -> Longs:
    """Times of a column of Arrow timestamps, which have their own unit, or of numbers in a unit.

    Examples
    --------
    >>> nanoseconds(pa.array([0.5, 2.0]), ColumnPlace("a", "t"), "ms").tolist()
    [500000, 2000000]
    """
    array = decoded(array)
    if pa.types.is_timestamp(array.type):
        unit, array = array.type.unit, array.cast(pa.int64())
    scale = NANOSECONDS[unit]
    whole = pa.types.is_integer(array.type) and not array.null_count
    times = to_numpy(array) if whole else numbers(array, place)
    invalid = ~(np.abs(times.astype(np.float64)) * scale < _LIMIT)
    if invalid.any():
        row = int(np.argmax(invalid))
        raise place.error(row, "a finite time", times[row].item(), "is the unit right (--unit)?")
    if whole:
        return times.astype(np.int64) * scale
    return np.floor(times * float(scale) + 0.5).astype(np.int64)
