"""Columns of data frames as codes and numbers, with errors that name the row."""

from __future__ import annotations

from typing import Any, Literal

import narwhals as nw
import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.arrow import to_numpy
from bdl.errors import InputError

Backend = Literal["pandas", "polars", "pyarrow"]
Codes = NDArray[np.int32]
Floats = NDArray[np.float64]


def encode(column: nw.Series[Any], where: str) -> tuple[tuple[str, ...], Codes]:
    """Sorted distinct names of a text column, and each row's index among them.

    >>> encode(nw.new_series("id", ["b", "a", "b"], backend="pyarrow"), "ids")
    (('a', 'b'), array([1, 0, 1], dtype=int32))
    """
    try:
        arrow = column.to_arrow()
    except (pa.ArrowException, UnicodeError, TypeError) as error:
        raise InputError(f"{where}: names of one type expected: {error}") from error
    if isinstance(arrow, pa.ChunkedArray):
        arrow = arrow.combine_chunks()
    if pa.types.is_dictionary(arrow.type):
        arrow = arrow.cast(pa.string())
    if arrow.null_count:
        row = int(np.flatnonzero(to_numpy(arrow.is_null()))[0])
        raise InputError(f"{where}: row {row} is empty, a name expected")
    if not (pa.types.is_string(arrow.type) or pa.types.is_large_string(arrow.type)):
        arrow = arrow.cast(pa.string())
    encoded = arrow.dictionary_encode()
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    rank = np.empty(len(names), np.int32)
    rank[order] = np.arange(len(names), dtype=np.int32)
    codes = to_numpy(encoded.indices)
    return tuple(names[i] for i in order), rank[codes]


def numbers(column: nw.Series[Any], where: str) -> Floats:
    """A column as float64, NaN where it is null; text is an error that names the row.

    >>> numbers(nw.new_series("time", ["1.5", None], backend="pyarrow"), "times").tolist()
    [1.5, nan]
    """
    if not column.dtype.is_numeric() and len(column):
        values = column.to_list()
        out = np.full(len(values), np.nan)
        for row, value in enumerate(values):
            try:
                out[row] = np.nan if value is None else float(value)
            except (TypeError, ValueError):
                raise InputError(f"{where}: row {row}: a number expected, got {value!r}") from None
        return out
    return np.array(to_numpy(column.to_arrow()), dtype=np.float64)


def backend_of(table: nw.DataFrame[Any]) -> Backend:
    """The kind of data frame behind a table."""
    name = str(table.implementation).split(".")[-1].lower()
    return name if name in ("pandas", "polars", "pyarrow") else "polars"  # type: ignore[return-value]


def merge(parts: list[tuple[tuple[str, ...], Codes]]) -> tuple[tuple[str, ...], Codes]:
    """One code book for several.

    >>> merge([(("b",), np.array([0], np.int32)), (("a",), np.array([0], np.int32))])
    (('a', 'b'), array([1, 0], dtype=int32))
    """
    names = tuple(sorted({name for part, _ in parts for name in part}))
    place = {name: i for i, name in enumerate(names)}
    codes = [np.array([place[name] for name in part], dtype=np.int32)[code] for part, code in parts]
    return names, np.concatenate(codes)
