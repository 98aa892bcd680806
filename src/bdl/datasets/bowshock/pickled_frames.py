"""Pickled data frames of numbers with a time index, read without running what they name.

A pickle is a program: loading it calls the functions that it names. Here no name is resolved. The
names that a data frame needs, in old and new versions of pandas and NumPy, become records of the
name, its arguments and its state; any other name is refused. The arrays are then built from the
bytes of the records, as plain numbers, and the shape must match the number of bytes. The Python
implementation of pickle is used, since the one in C allocates memory for any index that a pickle
contains. A caller must still ask the user whether the file is trusted.
"""

from __future__ import annotations

import io
import math
import pickle
import re
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.formats.files import reading
from bdl.limits import CHANNELS

_ALLOWED = {
    "builtins": {"slice"},
    "__builtin__": {"slice"},
    "_codecs": {"encode"},
    "numpy": {"ndarray", "dtype"},
    "numpy.core.multiarray": {"_reconstruct"},
    "numpy._core.multiarray": {"_reconstruct"},
    "numpy.core.numeric": {"_frombuffer"},
    "numpy._core.numeric": {"_frombuffer"},
    "pandas": {"DataFrame", "Index", "DatetimeIndex", "RangeIndex"},
    "pandas.arrays": {"DatetimeArray"},
    "pandas.core.frame": {"DataFrame"},
    "pandas.core.internals.managers": {"BlockManager"},
    "pandas._libs.internals": {"_unpickle_block"},
    "pandas._libs.arrays": {"__pyx_unpickle_NDArrayBacked"},
    "pandas.core.indexes.base": {"_new_Index", "Index"},
    "pandas.core.indexes.range": {"RangeIndex"},
    "pandas.core.indexes.datetimes": {"_new_DatetimeIndex", "DatetimeIndex"},
    "pandas.core.arrays.datetimes": {"DatetimeArray"},
    "pandas._libs.tslibs.offsets": {"Second"},
}
_NUMBER = re.compile(r"(?:f[248]|[iu][1248]|b1|M8)")
_UNITS = {b"s", b"ms", b"us", b"ns"}


class _Record:
    """The arguments and the state of one object of a pickle."""

    __slots__ = ("args", "state")

    def __init__(self, *args: Any) -> None:
        self.args = args
        self.state: Any = None

    def __setstate__(self, state: Any) -> None:
        self.state = state


class _NameRefusedError(pickle.UnpicklingError):
    """A pickle names something that is not accepted."""


class _RecordingUnpickler(pickle._Unpickler):
    """An unpickler that resolves every name to a kind of record."""

    def __init__(self, content: bytes) -> None:
        super().__init__(io.BytesIO(content))
        self._kinds: dict[str, type[_Record]] = {}

    def find_class(self, module: str, name: str) -> type[_Record]:
        if name not in _ALLOWED.get(module, ()):
            raise _NameRefusedError(f"{module}.{name}")
        if name not in self._kinds:
            self._kinds[name] = type(name, (_Record,), {"__slots__": ()})
        return self._kinds[name]

    def _load_bytearray(self) -> None:
        """Read the bytes that exist; pickle's own function first allocates the stated size."""
        (size,) = struct.unpack("<Q", self.read(8))  # type: ignore[attr-defined]
        self.append(bytearray(self.read(size)))  # type: ignore[attr-defined]

    dispatch: ClassVar[dict[int, Any]] = {
        **pickle._Unpickler.dispatch,
        pickle.BYTEARRAY8[0]: _load_bytearray,
    }


@dataclass(frozen=True)
class PlainFrame:
    """A data frame of which only numbers and times are read."""

    columns: tuple[str, ...]
    times: NDArray[np.datetime64] | None  # (rows,) index; None if it has no times
    blocks: tuple[tuple[range, Any], ...]  # indices of some columns, and the record of their values

    def values(self, name: str) -> NDArray[np.float32]:
        """The numbers of one column: (rows,)."""
        place = self.columns.index(name)
        for places, record in self.blocks:
            if place in places:
                array = _array(record)
                rows = None if self.times is None else len(self.times)
                if array.shape != (len(places), rows) or array.dtype.kind not in "fiub":
                    raise ValueError(f"column {name!r}: one number per row expected")
                values: NDArray[np.float32] = array[places.index(place)].astype(np.float32)
                return values
        raise ValueError(f"column {name!r} has no values")


def load_frame(path: Path) -> PlainFrame:
    """Read the data frame of a pickle that the caller trusts."""
    with reading(path, "a pickled data frame"):
        try:
            frame = _RecordingUnpickler(path.read_bytes()).load()
        except _NameRefusedError as refused:
            raise InputError(
                f"{path}: the pickle names {refused}, which no data frame needs; nothing was run. "
                "Do not open this file by other means unless you know its author"
            ) from refused
        _expect(frame, "DataFrame")
        manager = _expect(_mapping(frame.state)["_mgr"], "BlockManager")
        if manager.state is not None:  # before pandas 1.3
            inner = _mapping(_mapping(manager.state[3])["0.14.1"])
            axes, blocks = inner["axes"], [(b["mgr_locs"], b["values"]) for b in inner["blocks"]]
        else:
            records, axes = manager.args
            blocks = [
                (block.args[1], block.args[0])
                for block in (_expect(record, "_unpickle_block") for record in records)
            ]
        columns = _names(_expect(axes[0], "_new_Index").args[1]["data"])
        placed = tuple((_places(place), values) for place, values in blocks)
        return PlainFrame(columns, _times(axes[1]), placed)


def _expect(record: Any, *names: str) -> Any:
    if not isinstance(record, _Record) or type(record).__name__ not in names:
        raise ValueError(f"{' or '.join(names)} expected, got {type(record).__name__}")
    return record


def _mapping(value: Any) -> dict[Any, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"a mapping expected, got {type(value).__name__}")
    return value


def _names(record: Any) -> tuple[str, ...]:
    """The texts of an array of column names."""
    _, shape, kind, _, names = _expect(record, "_reconstruct").state
    if str(_expect(kind, "dtype").args[0])[:1] != "O" or not isinstance(names, list):
        raise ValueError("names of columns expected")
    if shape != (len(names),) or len(names) > CHANNELS:
        raise ValueError(f"{len(names)} names of columns in a shape of {shape!r:.60}")
    if not all(isinstance(name, str) for name in names):
        raise ValueError("texts expected as names of columns")
    return tuple(names)


def _times(record: Any) -> NDArray[np.datetime64] | None:
    """The times of an index; None if it has none."""
    if type(record).__name__ != "_new_DatetimeIndex":
        return None
    arguments = _mapping(_expect(record, "_new_DatetimeIndex").args[1])
    if arguments.get("tz") is not None:
        raise ValueError("times without a zone expected")
    data = arguments["data"]
    if type(data).__name__ == "__pyx_unpickle_NDArrayBacked":
        data = next(part for part in data.state if type(part).__name__ != "dtype")
    times = _array(data)
    if times.ndim != 1 or times.dtype.kind != "M" or np.isnat(times).any():
        raise ValueError("an index of times expected")
    return times


def _places(record: Any) -> range:
    """The indices of the columns of a block."""
    if type(record).__name__ == "slice":
        start, stop, step = _expect(record, "slice").args
        places = range(start, stop, step)
    else:
        listed = _array(record)
        steps = np.diff(listed)
        if listed.ndim != 1 or not len(listed) or listed.dtype.kind not in "iu":
            raise ValueError("places of columns expected")
        step = int(steps[0]) if len(steps) else 1
        if (steps != step).any() or not step:
            raise ValueError("places of columns in equal steps expected")
        places = range(int(listed[0]), int(listed[-1]) + step, step)
    if len(places) > CHANNELS:
        raise ValueError(f"{len(places)} columns in a block")
    return places


def _array(record: Any) -> NDArray[Any]:
    """An array of plain numbers or times, whose shape matches its number of bytes."""
    if type(_expect(record, "_frombuffer", "_reconstruct")).__name__ == "_frombuffer":
        content, kind, shape, order = record.args
    else:
        _, shape, kind, fortran, content = record.state
        order = "F" if fortran else "C"
    if type(content).__name__ == "encode":  # how old protocols store bytes
        text, encoding = _expect(content, "encode").args
        if encoding != "latin1":
            raise ValueError(f"bytes encoded as {encoding!r:.60}")
        content = text.encode("latin1")
    if not isinstance(content, bytes | bytearray):
        raise ValueError(f"bytes expected, got {type(content).__name__}")
    dtype = _number_type(kind)
    sizes = [size for size in shape if type(size) is int and 0 <= size <= len(content)]
    if len(sizes) != len(shape) or math.prod(sizes) * dtype.itemsize != len(content):
        raise ValueError(f"{len(content)} bytes in a shape of {shape!r:.60}")
    array: NDArray[Any] = np.frombuffer(content, dtype).reshape(
        sizes, order="F" if order == "F" else "C"
    )
    return array


def _number_type(record: Any) -> np.dtype[Any]:
    code = _expect(record, "dtype").args[0]
    state = record.state
    if not isinstance(code, str) or not _NUMBER.fullmatch(code) or state[1] not in ("<", ">", "|"):
        raise ValueError(f"an array of numbers or times expected, got {code!r:.60}")
    order: str = state[1]
    if code != "M8":
        return np.dtype(order + code)
    unit, count = state[8][1][0], state[8][1][1]
    if type(unit).__name__ == "encode":
        unit = unit.args[0].encode("latin1")
    if unit not in _UNITS or count != 1:
        raise ValueError(f"times in {unit!r:.60}")
    return np.dtype(f"{order}M8[{unit.decode()}]")
