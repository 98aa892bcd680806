"""Time columns as whole nanoseconds, and the UTC offsets that text carries.

Text is ISO 8601, parsed by Arrow (a date, ``T`` or a space, a time with up to nine decimals, then
``Z``, ``+HHMM``, ``+HH:MM``, ``+HH`` or nothing), or one of the local forms of
`bdl.formats.time_texts`. A time with a UTC offset is in nanoseconds since 1970-01-01 UTC, one
without since 1970-01-01 on the local clock; both in 64 bits: years 1678 to 2261.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.arrow import to_numpy
from bdl.column_values import ColumnPlace, decoded, first_null, is_text, numbers
from bdl.formats.iso_runs import parse_runs
from bdl.formats.time_texts import DateOrder, is_iso, rewrite

Longs = NDArray[np.int64]
OffsetRuns = list[tuple[int, int]]
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_LIMIT = 2.0**62
_EXPECTED = "a date and time such as 2018-08-14T15:30:00-0400"


def parse_times(
    array: pa.Array, place: ColumnPlace, order: DateOrder | None = None
) -> tuple[Longs, OffsetRuns]:
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
        Nanoseconds since 1970 of every row.
    offsets
        The UTC offsets in seconds, each with the first row that has it; none for local times.

    Examples
    --------
    >>> place = ColumnPlace("a", "t")
    >>> times, offsets = parse_times(pa.array(["1970-01-01T01:00:00.5+0100"]), place)
    >>> times.tolist(), offsets
    ([500000000], [(0, 3600)])
    >>> parse_times(pa.array(["1.1.1970 0:00"]), place)
    (array([0]), [])
    """
    array = decoded(array)
    if not is_text(array.type):
        raise place.error(0, _EXPECTED, f"a column of type {array.type}")
    if not pa.types.is_string(array.type):
        array = array.cast(pa.string())
    if is_iso(array):
        runs = parse_runs(array, lambda part: _parse(part, part, place))
        return runs or _parse(array, array, place)
    texts, added = rewrite(array, place, order)
    times, offsets = _parse(texts, array, place)
    return times + added, offsets


def _parse(array: pa.Array, shown: pa.Array, place: ColumnPlace) -> tuple[Longs, OffsetRuns]:
    """All rows at once if they are alike; otherwise each half, down to the first invalid row."""
    if not len(array):
        return np.zeros(0, np.int64), []
    if not array.null_count:
        with suppress(ValueError):  # Arrow's errors are such, too
            return _with_offsets(array)
        with suppress(ValueError):
            return _integers(array, pa.timestamp("ns")), []
    if len(array) == 1:
        cause = "is it not on the calendar, or its UTC offset none of any place?"
        raise place.error(0, _EXPECTED, shown[0].as_py(), cause)
    middle = len(array) // 2
    first, first_offsets = _parse(array[:middle], shown[:middle], place)
    second, later = _parse(array[middle:], shown[middle:], place.after(middle))
    if bool(first_offsets) != bool(later):
        cause = "some times have a UTC offset and others none"
        raise place.error(middle, "times of one kind", shown[middle].as_py(), cause)
    offsets = first_offsets + [(middle + row, offset) for row, offset in later]
    return np.concatenate([first, second]), offsets


def _integers(array: pa.Array, kind: pa.DataType) -> Longs:
    return np.array(to_numpy(array.cast(kind).cast(pa.int64())))


def _with_offsets(array: pa.Array) -> tuple[Longs, OffsetRuns]:
    """Times and offsets of texts that all have one; otherwise a ValueError."""
    import pyarrow.compute as pc

    times = _integers(array, pa.timestamp("ns", "UTC"))
    heads = pc.binary_slice(array.cast(pa.binary()), 0, 19).cast(pa.string())
    offsets = _integers(heads, pa.timestamp("s")) - times // NANOSECONDS["s"]
    if offsets.min() < -43200 or offsets.max() > 50400:
        raise ValueError("no place on earth is further from UTC")
    rows = np.concatenate([[0], np.flatnonzero(offsets[1:] != offsets[:-1]) + 1])
    return times, [(row, int(offsets[row])) for row in rows.tolist()]


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
        ``s``, ``ms``, ``us`` or ``ns``.

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
