"""Columns of a table as NumPy arrays, with errors that name file, column and row.

Missing is null, NaN, or in text one of an empty field, ``NaN``, ``NA``, ``n/a`` and ``null``.
Rows are counted from 0, the header not included.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.arrow import from_texts, to_numpy
from bdl.column_names import TIME_UNITS
from bdl.errors import InputError

LARGEST = 2**53  # whole numbers up to here are exact in float64
_NAMES = {str, int, bool}
_MISSING = ("", "NaN", "nan", "NA", "N/A", "n/a", "null", "None")


@dataclass(frozen=True)
class ColumnPlace:
    """File, column and first row of some values, for error messages."""

    path: object
    column: str
    row: int = 0

    def after(self, rows: int) -> ColumnPlace:
        """The place some rows later."""
        return replace(self, row=self.row + rows)

    def error(self, row: int, expected: str, value: object, cause: str = "") -> InputError:
        """The error that the value ``row`` rows after this place is not what was expected."""
        return InputError(
            f"{self.path}: column {self.column!r}, row {self.row + row}: {expected} expected, "
            f"got {value!r}{'; ' + cause if cause else ''}"
        )

    def check(
        self, valid: NDArray[np.bool_], expected: str, values: NDArray[Any], cause: str = ""
    ) -> None:
        """Raise the error of the first value that is not valid, if there is one."""
        if not valid.all():
            row = int(np.argmin(valid))
            raise self.error(row, expected, values[row].item(), cause)


def is_text(kind: pa.DataType) -> bool:
    """Whether a column holds text, dictionary-encoded or not."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind)
    )


def decoded(array: pa.Array) -> pa.Array:
    """An array without dictionary encoding."""
    return array.dictionary_decode() if pa.types.is_dictionary(array.type) else array


def first_null(array: pa.Array) -> int:
    """The first row that is null."""
    return int(np.argmax(to_numpy(array.is_null())))


def numbers(array: pa.Array, place: ColumnPlace) -> NDArray[np.float64]:
    """A column as float64, NaN where it is missing."""
    array = decoded(array)
    kind = array.type
    if is_text(kind):
        array = _numbers_in_text(array, place)
    elif pa.types.is_null(kind) or pa.types.is_boolean(kind) or pa.types.is_decimal(kind):
        array = array.cast(pa.float64())
    elif not (pa.types.is_integer(kind) or pa.types.is_floating(kind)):
        raise place.error(0, "a number", f"a column of type {kind}", "name the channels")
    return np.asarray(to_numpy(array), dtype=np.float64)


def _numbers_in_text(array: pa.Array, place: ColumnPlace) -> pa.Array:
    """Text as float64, null where it is missing."""
    try:
        return array.cast(pa.float64())
    except pa.ArrowInvalid:
        pass
    import pyarrow.compute as pc

    array = pc.utf8_trim_whitespace(array.cast(pa.string()))
    missing = pc.is_in(array, value_set=from_texts(_MISSING))
    array = pc.if_else(missing, pa.nulls(1, pa.string())[0], array)
    try:
        return array.cast(pa.float64())
    except pa.ArrowInvalid:
        row = first_invalid(array, pa.float64())
        cause = (
            "is a text in the column, or a column shifted? A missing value is an empty field or NaN"
        )
        raise place.error(row, "a number", array[row].as_py(), cause) from None


def is_text_column(cells: Sequence[str]) -> bool:
    """Whether cells hold texts: one that is neither a number nor missing, and no number.

    Examples
    --------
    >>> is_text_column(["wake", ""]), is_text_column(["NA", "1e-05"]), is_text_column(["0,5"])
    (True, False, False)
    """
    present = [text for cell in cells if (text := cell.strip()) not in _MISSING]

    def is_number(text: str) -> bool:
        try:
            return float(text.replace(",", ".")) is not None
        except ValueError:
            return False

    return bool(present) and not any(map(is_number, present))


def first_invalid(array: pa.Array, kind: pa.DataType) -> int:
    """The first row that cannot be cast, found by halving; the number of rows if all can."""
    low, high = 0, len(array)
    while low < high:
        middle = (low + high + 1) // 2
        try:
            array[low:middle].cast(kind)
            low = middle
        except pa.ArrowInvalid:
            high = middle - 1
    return low


def epoch_unit(array: pa.Array, unit: str | None) -> str | None:
    """The unit (``unit`` if given) in which the first number counts from 1970 to our time, if any.

    Examples
    --------
    >>> epoch_unit(pa.array([1700000000000]), None), epoch_unit(pa.array([0.02]), "s")
    ('ms', None)
    """
    with suppress(IndexError, TypeError, ValueError):
        first = float(array.drop_null()[0].as_py())
        for possible in (unit,) if unit else ("s", "ms", "us", "ns"):
            if 631152000 <= first * TIME_UNITS[possible] < 4102444800:  # years 1990 to 2100
                return possible
    return None


def integers(array: pa.Array, place: ColumnPlace) -> NDArray[np.int64]:
    """A column of whole numbers as int64; a missing or fractional one is an error."""
    small = pa.types.is_integer(array.type) and array.type.bit_width < 64
    if small and not array.null_count:
        return to_numpy(array).astype(np.int64)
    values = numbers(array, place)
    is_whole = (np.abs(values) < LARGEST) & (values == np.floor(values))
    place.check(is_whole, "a whole number below 2^53", values)
    return values.astype(np.int64)


def values32(array: pa.Array, place: ColumnPlace) -> NDArray[np.float32]:
    """A channel as float32, NaN where it is missing; an infinite value is an error."""
    if pa.types.is_float32(array.type) and not array.null_count:
        values: NDArray[Any] = to_numpy(array)
        single = values
    else:
        values = numbers(array, place)
        with np.errstate(over="ignore"):
            single = values.astype(np.float32)
    cause = "a missing sample is an empty field or NaN"
    place.check(~np.isinf(single), "a finite number", values, cause)
    return single


def names(array: pa.Array, place: ColumnPlace) -> tuple[list[str], NDArray[np.integer]]:
    """Distinct texts of a column and each row's index among them.

    Whole numbers are taken as text (a numeric id keeps its digits).
    """
    if not pa.types.is_dictionary(array.type):
        if pa.types.is_floating(array.type) or pa.types.is_nested(array.type):
            raise place.error(0, "text or a whole number", f"a column of type {array.type}")
        array = array.dictionary_encode()
    if array.null_count:
        raise place.error(first_null(array), "a name", None)
    distinct = array.dictionary.to_pylist()
    codes = to_numpy(array.indices)
    if "" in distinct or not {*map(type, distinct)} <= _NAMES:
        for code, value in enumerate(distinct):
            if (type(value) not in _NAMES or value == "") and (codes == code).any():
                raise place.error(int(np.argmax(codes == code)), "a name", value)
    return [*map(str, distinct)], codes
