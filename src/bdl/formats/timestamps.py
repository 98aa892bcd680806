"""Time columns as whole nanoseconds, and the UTC offsets that text carries.

Text is ISO 8601, parsed by Arrow: a date, ``T`` or a space, a time with up to nine decimals, then
``Z``, ``+HHMM``, ``+HH:MM`` or ``+HH`` (or nothing, if a default offset is given). Nanoseconds are
counted from 1970-01-01 UTC, in 64 bits: years 1678 to 2261.
"""

from __future__ import annotations

from contextlib import suppress
from itertools import pairwise

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.arrow import from_numpy, to_numpy
from bdl.column_values import ColumnPlace, decoded, first_null, is_text, numbers
from bdl.compiled import compiled
from bdl.errors import InputError

Longs = NDArray[np.int64]
OffsetRuns = list[tuple[int, int]]
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
LONG = 4096  # rows from which compiled code, which takes time to load, pays
_LIMIT = 2.0**62
_EXPECTED = "an ISO 8601 time with UTC offset, such as 2018-08-14T15:30:00-0400,"


def parse_iso(
    array: pa.Array, place: ColumnPlace, *, default: int | None = None
) -> tuple[Longs, OffsetRuns]:
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
    times
        Nanoseconds since 1970 UTC of every row.
    offsets
        The UTC offsets in seconds, each with the first row that has it.

    Examples
    --------
    >>> place = ColumnPlace("a", "t")
    >>> times, offsets = parse_iso(pa.array(["1970-01-01T01:00:00.5+0100"]), place)
    >>> times.tolist(), offsets
    ([500000000], [(0, 3600)])
    >>> parse_iso(pa.array(["1970-01-01 00:00:00"]), place)
    Traceback (most recent call last):
    bdl.errors.InputError: a: column 't', row 0: an ISO 8601 time with UTC offset, such as
        2018-08-14T15:30:00-0400, expected, got '1970-01-01 00:00:00'; it has no UTC offset
    """
    array = decoded(array)
    if not is_text(array.type):
        raise place.error(0, _EXPECTED[:-1], f"a column of type {array.type}")
    if not pa.types.is_string(array.type):
        array = array.cast(pa.string())
    parsed = None
    if len(array) >= LONG and not array.null_count:
        parsed = _parse_runs(array, place, default)
    return parsed or _parse(array, place, default)


def _parse_runs(
    array: pa.Array, place: ColumnPlace, default: int | None
) -> tuple[Longs, OffsetRuns] | None:
    """Times of rows of which most differ from the one before in minutes and seconds only.

    Arrow parses the first row of each hour; minutes and seconds of the others are added. None if
    the texts are not such, change by the hour too often, or one is invalid.
    """
    _, ends, text = array.buffers()
    rows = slice(array.offset, array.offset + len(array) + 1)
    first, times = np.empty(len(array) // 8, np.int64), np.empty(len(array), np.int64)
    count = _find_runs(
        np.frombuffer(text, np.uint8), np.frombuffer(ends, np.int32)[rows], first, times
    )
    if count < 0:
        return None
    first = first[:count]
    try:
        starts, offsets = _parse(array.take(from_numpy(first)), place, default)
    except InputError:
        return None
    hours = starts - times[first]
    for hour, (row, last) in zip(hours, pairwise([*first.tolist(), len(array)]), strict=True):
        times[row:last] += hour
    return times, [(int(first[run]), offset) for run, offset in offsets]


@compiled
def _find_runs(text: NDArray[np.uint8], ends: NDArray[np.int32], first: Longs, times: Longs) -> int:
    """Number of runs in which only minutes and seconds change, or -1 if there are none such.

    Fills ``first`` with the first row of each run and ``times`` with nanoseconds since the hour.
    """
    runs, width = 0, -1
    before = np.uint64(0)
    for row in range(len(ends) - 1):
        start = np.uint64(ends[row])  # unsigned indices spare a test for negative ones
        length = ends[row + 1] - ends[row]
        if length < 19:
            return -1
        total = 0
        for place, largest, unit in ((14, 5, 600), (15, 9, 60), (17, 5, 10), (18, 9, 1)):
            digit = int(text[start + np.uint64(place)]) - 48
            if digit < 0 or digit > largest:
                return -1
            total += unit * digit
        times[row] = total * 1_000_000_000
        changed = length != width
        if not changed:
            other = text[start + np.uint64(16)] ^ text[before + np.uint64(16)]
            for i in range(np.uint64(14)):
                other |= text[start + i] ^ text[before + i]
            for i in range(np.uint64(19), np.uint64(width)):
                other |= text[start + i] ^ text[before + i]
            changed = other != 0
        if changed:
            if runs == len(first):
                return -1
            first[runs] = row
            runs += 1
        before, width = start, length
    return runs


def _parse(array: pa.Array, place: ColumnPlace, default: int | None) -> tuple[Longs, OffsetRuns]:
    """All rows at once if they are alike; otherwise each half, down to the first invalid row."""
    if not len(array):
        return np.zeros(0, np.int64), []
    if not array.null_count:
        with suppress(ValueError):  # Arrow's errors are such, too
            return _with_offsets(array)
        if default is not None:
            with suppress(ValueError):
                local = _integers(array, pa.timestamp("ns"))
                return local - default * NANOSECONDS["s"], [(0, default)]
    if len(array) == 1:
        text = array[0].as_py()
        cause = "is it not on the calendar, or its offset none of any place?"
        if text is not None and len(text) >= 19 and not any(mark in text[19:] for mark in "+-Z"):
            cause = "it has no UTC offset: give the zone it was written in (zone=, --zone)"
        raise place.error(0, _EXPECTED, text, cause)
    middle = len(array) // 2
    first, first_offsets = _parse(array[:middle], place, default)
    second, second_offsets = _parse(array[middle:], place.after(middle), default)
    later = [(middle + row, offset) for row, offset in second_offsets]
    return np.concatenate([first, second]), first_offsets + later


def _integers(array: pa.Array, kind: pa.DataType) -> Longs:
    return np.array(to_numpy(array.cast(kind).cast(pa.int64())))


def _with_offsets(array: pa.Array) -> tuple[Longs, OffsetRuns]:
    """Times and offsets of texts that all have one; otherwise a ValueError."""
    import pyarrow.compute as pc

    times = _integers(array, pa.timestamp("ns", "UTC"))
    local = pc.binary_slice(array.cast(pa.binary()), 0, 19).cast(pa.string())
    offsets = _integers(local, pa.timestamp("s")) - times // NANOSECONDS["s"]
    if offsets.min() < -43200 or offsets.max() > 50400:
        raise ValueError("no place on earth is further from UTC")
    rows = np.concatenate([[0], np.flatnonzero(offsets[1:] != offsets[:-1]) + 1])
    return times, [(row, int(offsets[row])) for row in rows.tolist()]


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
