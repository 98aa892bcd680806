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
from bdl.formats.iso_runs import parse_runs
from bdl.formats.time_texts import DateOrder, is_iso, rewrite

Longs = NDArray[np.int64]
NANOSECONDS = {"h": 3600 * 10**9, "min": 60 * 10**9, "s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_LIMIT = 2.0**62
_OUR_TIME = (631152000, 4102444800)  # seconds: years 1990 to 2100
_ZONED, _LOCAL = pa.timestamp("ns", "UTC"), pa.timestamp("ns")
_OFFSET = re.compile(r"(?:Z|[+-]\d\d(?::?\d\d)?)$")
_EXPECTED = "a date and time such as 2018-08-14T15:30:00-0400"
_CAUSE = (
    "known are also 14.8.2018 15:30, 8/14/2018 3:30 PM and 14 Aug 2018 15:30; is it not on the "
    "calendar, or its UTC offset none of any place?"
)


def epoch_unit(array: pa.Array, unit: str | None) -> str | None:
    """The unit in which numbers count from 1970 to a day in our time; None if they hardly do.

    Parameters
    ----------
    array
        Numbers, or texts of numbers; the first one tells.
    unit
        Their unit, if it is known.

    Examples
    --------
    >>> epoch_unit(pa.array([1700000000000]), None), epoch_unit(pa.array([1700000000]), "s")
    ('ms', 's')
    >>> epoch_unit(pa.array([0.02]), None) is None
    True
    """
    for first in array.drop_null()[:1].to_pylist():
        with suppress(TypeError, ValueError):
            for each in (unit,) if unit else ("s", "ms", "us", "ns"):
                if _OUR_TIME[0] <= float(first) * NANOSECONDS[each] / 1e9 < _OUR_TIME[1]:
                    return each
    return None


def parse_times(
    array: pa.Array, place: ColumnPlace, order: DateOrder | None = None
) -> tuple[Longs, Longs | None]:
    """Times of a column of text.

    Parameters
    ----------
    array
        The texts.
    place
        Where they are, for error messages.
    order
        Which number of a date that is not ISO 8601 is the day; if it is not given, the dates tell.

    Returns
    -------
    times
        (n,) nanoseconds since 1970.
    offsets
        (n,) UTC offsets in seconds; None for local times.

    Examples
    --------
    >>> place = ColumnPlace("a", "t")
    >>> parse_times(pa.array(["1970-01-01T01:00:00.5+0100"]), place)
    (array([500000000]), array([3600]))
    >>> parse_times(pa.array(["1.1.1970 0:00"]), place)
    (array([0]), None)
    """
    array = decoded(array)
    if not is_text(array.type):
        raise place.error(0, _EXPECTED, f"a column of type {array.type}")
    if not pa.types.is_string(array.type):
        array = array.cast(pa.string())
    if array.null_count:
        raise place.error(first_null(array), _EXPECTED, None)
    if is_iso(array):
        runs = parse_runs(array, lambda part: _parse(part, part, place))
        return runs or _parse(array, array, place)
    texts, added = rewrite(array, place, order)
    times, offsets = _parse(texts, array, place)
    return times + added, offsets


def _parse(texts: pa.Array, shown: pa.Array, place: ColumnPlace) -> tuple[Longs, Longs | None]:
    """Times of texts in ISO 8601; an error names the first row that is invalid or unlike others."""
    with suppress(pa.ArrowInvalid):
        times = _integers(texts, _ZONED)
        return times, _offsets(texts, times, shown, place)
    with suppress(pa.ArrowInvalid):
        return _integers(texts, _LOCAL), None
    zoned, local = (first_invalid(texts, kind) for kind in (_ZONED, _LOCAL))
    row, other = (zoned, _LOCAL) if zoned > local else (local, _ZONED)
    if row and first_invalid(texts[row : row + 1], other):
        cause = "some times have a UTC offset and others none"
        raise place.error(row, "times of one kind", shown[row].as_py(), cause)
    text = shown[row].as_py()
    without_date = re.match(r"\s*\d{1,2}:\d\d", text)
    cause = "which column has the date (--date NAME; --column date=NAME of events)?"
    raise place.error(row, _EXPECTED, text, cause if without_date else _CAUSE)


def _integers(texts: pa.Array, kind: pa.DataType) -> Longs:
    return to_numpy(texts.cast(kind).cast(pa.int64()))


def _offsets(texts: pa.Array, times: Longs, shown: pa.Array, place: ColumnPlace) -> Longs:
    """UTC offsets of valid times that have one; where all texts end alike, that of the first."""
    import pyarrow.compute as pc

    end = "".join(_OFFSET.findall("".join(texts[:1].to_pylist())))
    parsed = texts[:1] if pc.all(pc.ends_with(texts, end)).as_py() else texts
    local = _integers(pc.replace_substring_regex(parsed, _OFFSET.pattern, ""), _LOCAL)
    offsets = np.resize((local - times[: len(parsed)]) // NANOSECONDS["s"], len(texts))
    invalid = (offsets < -43200) | (offsets > 50400)  # no place on earth is further from UTC
    if invalid.any():
        row = int(np.argmax(invalid))
        raise place.error(row, _EXPECTED, shown[row].as_py(), _CAUSE)
    return offsets


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
    """Times of a column of Arrow timestamps, or of numbers in a unit.

    Parameters
    ----------
    array
        Timestamps, which have their own unit, or numbers.
    place
        Where they are, for error messages.
    unit
        ``h``, ``min``, ``s``, ``ms``, ``us`` or ``ns``.

    Examples
    --------
    >>> nanoseconds(pa.array([0.5, 2.0]), ColumnPlace("a", "t"), "ms").tolist()
    [500000, 2000000]
    """
    array = decoded(array)
    if pa.types.is_timestamp(array.type):
        if array.null_count:
            raise place.error(first_null(array), "a time", None)
        unit = array.type.unit
        array = array.cast(pa.int64())
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
