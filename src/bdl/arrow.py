"""Arrow arrays to and from NumPy and Python without pandas.

pyarrow's own conversions (``pa.array``, ``pa.scalar``, ``to_numpy``) import pandas wherever it is
installed, which takes a second. These functions read and write Arrow's buffers instead.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

# From this length on, importing pandas costs less than encoding texts one by one.
LONG = 100_000


def to_numpy(array: pa.Array | pa.ChunkedArray) -> NDArray[Any]:
    """Values of an array of numbers or booleans; with nulls, float64 that is NaN there.

    Decimals become float64. Without nulls, numbers are not copied and the result is read-only.
    """
    if isinstance(array, pa.ChunkedArray):
        array = array.combine_chunks()
    if not pa.types.is_primitive(array.type):
        array = array.cast(pa.float64())
    validity, data = array.buffers()
    first, last = array.offset, array.offset + len(array)
    if pa.types.is_boolean(array.type):
        values: NDArray[Any] = _bits(data, first, last)
    else:
        kind = np.dtype(array.type.to_pandas_dtype())
        values = np.frombuffer(data or b"", kind, last if data else 0)[first:]
    if array.null_count:
        values = values.astype(np.float64)
        values[~_bits(validity, first, last)] = np.nan
    return values


def from_numpy(values: NDArray[Any]) -> pa.Array:
    """An array of numbers that shares the memory of ``values`` where it is contiguous."""
    kind = pa.from_numpy_dtype(values.dtype)
    buffer = pa.py_buffer(np.ascontiguousarray(values))
    return pa.Array.from_buffers(kind, len(values), [None, buffer])


def from_texts(texts: Sequence[str | None] | NDArray[Any]) -> pa.Array:
    """An array of texts; None becomes null, and other types are an error of pyarrow."""
    if len(texts) > LONG or "pandas" in sys.modules:
        return pa.array(texts, pa.string())
    encoded = [text.encode() for text in texts if isinstance(text, str)]
    if len(encoded) < len(texts):
        return pa.array(texts, pa.string())
    ends = np.zeros(len(encoded) + 1, np.int32)
    np.cumsum([len(text) for text in encoded], out=ends[1:])
    return pa.Array.from_buffers(
        pa.string(), len(encoded), [None, pa.py_buffer(ends), pa.py_buffer(b"".join(encoded))]
    )


def is_ascii(array: pa.Array) -> bool:
    """Whether an array holds strings of ASCII, which need no further check, and not other values.

    Examples
    --------
    >>> is_ascii(pa.array(["a", None])), is_ascii(pa.array(["\u00e4"])), is_ascii(pa.array([1]))
    (True, False, False)
    """
    if not pa.types.is_string(array.type) or not len(array):
        return False
    _, ends, data = array.buffers()
    first, last = np.frombuffer(ends, np.int32)[[array.offset, array.offset + len(array)]]
    text = np.frombuffer(data or b"", np.uint8)[first:last]
    return bool(text.max(initial=0) < 128)


def _bits(buffer: pa.Buffer | None, first: int, last: int) -> NDArray[np.bool_]:
    packed = np.frombuffer(buffer or b"", np.uint8)
    return np.unpackbits(packed, count=last, bitorder="little")[first:].astype(np.bool_)
