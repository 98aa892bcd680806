"""Time columns as whole nanoseconds, and the UTC offsets that text carries.

Text is ISO 8601, parsed by Arrow: a date, ``T`` or a space, a time with up to nine decimals, then
``Z``, ``+HHMM``, ``+HH:MM`` or ``+HH`` (or nothing, if a default offset is given). Nanoseconds are
counted from 1970-01-01 UTC, in 64 bits: years 1678 to 2261.
"""

from __future__ import annotations

import re

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.arrow import to_numpy
from bdl.formats.column_values import ColumnPlace, decoded, first_null, is_text, numbers

Longs = NDArray[np.int64]
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_LIMIT = 2.0**62
_EXPECTED = "an ISO 8601 time with UTC offset, such as 2018-08-14T15:30:00-0400,"
_OFFSET = re.compile(r"(?:Z|([+-])(\d\d)(?::?(\d\d))?)$")


def parse_iso(
    array: pa.Array, place: ColumnPlace, *, default: int | None = None
) -> tuple[Longs, Longs]:
    """Times of a column of ISO 8601 text.

    Parameters
    ----------
    array
        The texts.
    place
        Where they are, for error messages.
    default
        UTC offset of texts that have none, in seconds; without it, such a text is an error.

    Returns
    -------
    times, offsets
        Nanoseconds since 1970 UTC, and seconds east of UTC, of every row.

    Examples
    --------
    >>> place = ColumnPlace("a", "t")
    >>> times, offsets = parse_iso(pa.array(["1970-01-01T01:00:00.5+0100"]), place)
    >>> times.tolist(), offsets.tolist()
    ([500000000], [3600])
    >>> parse_iso(pa.array(["1970-01-01 00:00:00"]), place)
    Traceback (most recent call last):
    bdl.errors.InputError: a: column 't', row 0: an ISO 8601 time with UTC offset, such as
        2018-08-14T15:30:00-0400, expected, got '1970-01-01 00:00:00'; it has no UTC offset
    """
    array = decoded(array)
    if not is_text(array.type):
        raise place.error(0, _EXPECTED[:-1], f"a column of type {array.type}")
    if array.null_count:
        raise place.error(first_null(array), _EXPECTED[:-1], None)
    if pa.types.is_string_view(array.type):
        array = array.cast(pa.string())
    return _parse(array, place, default)


def _parse(array: pa.Array, place: ColumnPlace, default: int | None) -> tuple[Longs, Longs]:
    """All rows at once if they are alike; otherwise each half, down to the first invalid row."""
    if not len(array):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    try:
        return _integers(array, pa.timestamp("ns", "UTC")), _offsets(array)
    except ValueError:  # Arrow's errors are such, too
        pass
    if default is not None:
        try:
            local = _integers(array, pa.timestamp("ns"))
            return local - default * NANOSECONDS["s"], np.full(len(array), default)
        except ValueError:
            pass
    if len(array) == 1:
        raise place.error(0, _EXPECTED, array[0].as_py(), _cause(array[0].as_py()))
    middle = len(array) // 2
    halves = (
        _parse(array[:middle], place, default),
        _parse(array[middle:], place.after(middle), default),
    )
    times, offsets = zip(*halves, strict=True)
    return np.concatenate(times), np.concatenate(offsets)


def _integers(array: pa.Array, kind: pa.DataType) -> Longs:
    return to_numpy(array.cast(kind).cast(pa.int64()))


def _offsets(array: pa.Array) -> Longs:
    """UTC offsets in seconds; texts that end in different forms are a ValueError."""
    import pyarrow.compute as pc

    first = _OFFSET.search(array[0].as_py())
    if first is None:
        raise ValueError("no offset")
    wide = pa.types.is_large_string(array.type)
    endings = pc.binary_slice(
        array.cast(pa.large_binary() if wide else pa.binary()), -len(first[0])
    )
    runs = pc.run_end_encode(endings)  # offsets change twice a year
    values = [_seconds(ending.decode()) for ending in runs.values.to_pylist()]
    return np.repeat(values, np.diff(to_numpy(runs.run_ends), prepend=0))


def _seconds(offset: str) -> int:
    match = _OFFSET.fullmatch(offset)
    if match is None:
        raise ValueError(offset)
    if offset == "Z":
        return 0
    seconds = int(f"{match[1]}1") * (int(match[2]) * 3600 + int(match[3] or 0) * 60)
    if not -43200 <= seconds <= 50400:
        raise ValueError(offset)  # no place on earth is further from UTC
    return seconds


def _cause(text: str) -> str:
    tail = text[19:]
    if len(text) < 16:
        return "it is too short"
    if not any(mark in tail for mark in "+-Z"):
        return "it has no UTC offset: give the zone it was written in (zone=, --zone)"
    match = _OFFSET.search(tail)
    if match and match[2] and (int(match[2]) >= 12 or int(match[3] or 0) > 59):
        return "no place has that UTC offset"
    return "it is not such a time, or not on the calendar"


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
