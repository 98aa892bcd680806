"""Columns of a table as NumPy arrays, with errors that name file, column and row.

Missing is null, NaN, or in text one of an empty field, ``NaN``, ``NA``, ``n/a`` and ``null``.
Rows are counted from 0, the header not included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from bdl.arrow import to_numpy
from bdl.errors import InputError

LARGEST = 2**53  # whole numbers up to here are exact in float64
_MISSING = ("", "NaN", "nan", "NA", "N/A", "n/a", "null", "None")


@dataclass(frozen=True)
class Place:
    """Where a column's values stand: the words of an error message."""

    path: object
    column: str
    row: int = 0

    def error(self, at: int, expected: str, came: object, cause: str = "") -> InputError:
        """An error about the value ``at`` rows after this place."""
        return InputError(
            f"{self.path}: column {self.column!r}, row {self.row + at}: {expected} expected, "
            f"got {came!r}{'; ' + cause if cause else ''}"
        )


def is_text(kind: pa.DataType) -> bool:
    """Whether a column holds text, dictionary-encoded or not."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def plain(array: pa.Array) -> pa.Array:
    """An array without dictionary encoding."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def numbers(array: pa.Array, place: Place) -> NDArray[np.float64]:
    """A column as float64, NaN where it is missing.

    >>> numbers(pa.array(["1.5", "n/a"]), Place("a.csv", "x")).tolist()
    [1.5, nan]
    >>> numbers(pa.array(["1", "one"]), Place("a.csv", "x"))
    Traceback (most recent call last):
    bdl.errors.InputError: a.csv: column 'x', row 1: a number expected, got 'one'
    """
    array = plain(array)
    kind = array.type
    if pa.types.is_null(kind):
        return np.full(len(array), np.nan)
    if is_text(kind):
        array = _parsed(array, place)
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)):
        if not pa.types.is_decimal(kind):
            raise place.error(0, "a number", f"a column of type {kind}", "name the channels")
        array = array.cast(pa.float64())
    if array.null_count or pa.types.is_boolean(kind):
        array = array.cast(pa.float64(), safe=False)
    return np.asarray(to_numpy(array), dtype=np.float64)


def _parsed(array: pa.Array, place: Place) -> pa.Array:
    """Text as float64, null where it is missing."""
    if not pa.types.is_string(array.type):
        array = array.cast(pa.string())
    try:
        return array.cast(pa.float64())
    except pa.ArrowInvalid:
        pass
    array = pc.utf8_trim_whitespace(array)
    array = pc.if_else(
        pc.is_in(array, value_set=pa.array(_MISSING)), pa.scalar(None, pa.string()), array
    )
    try:
        return array.cast(pa.float64())
    except pa.ArrowInvalid:
        raise _first_bad(array, place) from None


def _first_bad(array: pa.Array, place: Place) -> InputError:
    """The error about the first text that is no number, found by halving."""
    low, high = 0, len(array)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            array[low:middle].cast(pa.float64())
            low = middle
        except pa.ArrowInvalid:
            high = middle
    came = array[low].as_py()
    return place.error(low, "a number", came, "is a text in the column, or a column shifted?")


def integers(array: pa.Array, place: Place) -> NDArray[np.int64]:
    """A column of whole numbers as int64; a missing or fractional one is an error.

    >>> integers(pa.array([0.0, 1.0]), Place("a.csv", "step")).tolist()
    [0, 1]
    """
    array = plain(array)
    if pa.types.is_integer(array.type) and not array.null_count:
        values = to_numpy(array)
        if (
            values.itemsize == 8
            and len(values)
            and not -LARGEST < values.min() <= values.max() < LARGEST
        ):
            at = int(np.flatnonzero((values >= LARGEST) | (values <= -LARGEST))[0])
            raise place.error(at, "a whole number below 2^53", int(values[at]))
        return np.asarray(values, dtype=np.int64)
    floats = numbers(array, place)
    bad = ~(np.abs(floats) < LARGEST) | (floats != np.floor(floats))
    if bad.any():
        at = int(np.flatnonzero(bad)[0])
        raise place.error(at, "a whole number", float(floats[at]))
    return floats.astype(np.int64)


def values32(array: pa.Array, place: Place) -> NDArray[np.float32]:
    """A channel as float32, NaN where it is missing; an infinite value is an error.

    >>> values32(pa.array([1.0, float("inf")]), Place("a.parquet", "x"))
    Traceback (most recent call last):
    bdl.errors.InputError: a.parquet: column 'x', row 1: a finite number expected, got inf
    """
    if pa.types.is_float32(array.type) and not array.null_count:
        single: NDArray[np.float32] = to_numpy(array)
        came: NDArray[Any] = single
    else:
        came = numbers(array, place)
        with np.errstate(over="ignore"):
            single = came.astype(np.float32)
    if np.isinf(single).any():
        at = int(np.flatnonzero(np.isinf(single))[0])
        raise place.error(
            at, "a finite number", float(came[at]), "a missing sample is an empty field or NaN"
        )
    return single


def names(array: pa.Array, place: Place) -> tuple[list[str], NDArray[np.int64]]:
    """Distinct texts of a column and each row's index among them.

    Whole numbers are taken as text (a numeric id keeps its digits).

    >>> names(pa.array(["b", "b", "a"]), Place("a.csv", "id"))
    (['b', 'a'], array([0, 0, 1]))
    """
    if not pa.types.is_dictionary(array.type):
        if pa.types.is_floating(array.type) or pa.types.is_nested(array.type):
            raise place.error(0, "text or a whole number", f"a column of type {array.type}")
        array = array.dictionary_encode()
    if array.null_count:
        at = int(np.flatnonzero(to_numpy(array.is_null()))[0])
        raise place.error(at, "a name", None)
    distinct = array.dictionary.to_pylist()
    codes = np.asarray(to_numpy(array.indices), dtype=np.int64)
    for at, value in enumerate(distinct):
        if not isinstance(value, str | int | bool) or value == "":
            used = np.flatnonzero(codes == at)
            if len(used):
                raise place.error(int(used[0]), "a name", value)
    return [str(value) for value in distinct], codes
