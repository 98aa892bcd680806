"""Recordings in NPZ archives: either one 1-D array per column, or ``values`` (samples, channels).

Beside a two-dimensional ``values`` there may be ``channels`` (names), ``period``, ``start`` (ISO
8601 text with UTC offset), ``offset_changes`` (n, 2) and ``group``. Sizes that the headers claim
are checked against the archive before anything is read, and pickled objects are refused.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.formats.files import reading
from bdl.formats.recordings.table_format import TableFormat
from bdl.formats.table_file import ROWS, TableFile

_WHAT = "an NPZ archive"
_ABOUT = ("channels", "period", "start", "offset_changes", "group")


class NpzRecordings(TableFormat):
    """NumPy archives (NPZ)."""

    kind: Literal["npz"] = "npz"
    suffixes: ClassVar[tuple[str, ...]] = (".npz",)

    def open_table(self, path: Path, names: Sequence[str] = ()) -> TableFile:
        """The archive as a table."""
        return NpzFile(path)


class NpzFile(TableFile):
    """An NPZ file; columns are known from the array headers alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(path, _WHAT):
            shapes = self._shapes()
        self._matrix = len(shapes.get("values", ())) == 2
        if self._matrix:
            super().__init__(path, *self._matrix_columns(shapes))
            return
        columns = [name for name, shape in shapes.items() if len(shape) == 1]
        lengths = {shapes[name][0] for name in columns}
        if len(columns) < len(shapes) or len(lengths) != 1:
            raise InputError(
                f"{path}: arrays of one length, or one array 'values' of (samples, channels) "
                f"expected, got {shapes}"
            )
        super().__init__(path, columns, lengths.pop())

    def _matrix_columns(
        self, shapes: dict[str, tuple[int, ...]]
    ) -> tuple[list[str], int, dict[str, Any]]:
        """Channels, number of samples, and what the archive says about the recording."""
        other = [name for name in shapes if name not in (*_ABOUT, "values")]
        if other:
            raise InputError(
                f"{self.path}: beside 'values' only {', '.join(_ABOUT)} expected, got {other[0]!r}"
            )
        samples, width = shapes["values"]
        arrays = {name: self._array(name) for name in _ABOUT if name in shapes}
        about: dict[str, Any] = {"samples": samples}
        with reading(self.path, _WHAT):
            for name in ("start", "group"):
                if name in arrays:
                    about[name] = str(arrays[name].item())
            if "period" in arrays:
                about["period"] = float(arrays["period"].item())
            if "offset_changes" in arrays:
                about["offset_changes"] = arrays["offset_changes"].reshape(-1, 2).tolist()
        if "channels" not in arrays:
            return [f"channel_{i}" for i in range(width)], samples, about
        channels = [str(name) for name in arrays["channels"].reshape(-1)]
        if len(channels) != width:
            raise InputError(
                f"{self.path}: values of {width} channels, but {len(channels)} names of channels"
            )
        return channels, samples, about

    def _shapes(self) -> dict[str, tuple[int, ...]]:
        """Shape of each array, from its header, checked against what the archive holds."""
        shapes: dict[str, tuple[int, ...]] = {}
        with zipfile.ZipFile(self.path) as archive:
            for member in archive.infolist():
                name = member.filename.removesuffix(".npy")
                if name in shapes:
                    raise InputError(f"{self.path}: two arrays are called {name!r}")
                with archive.open(member) as stream:
                    version = np.lib.format.read_magic(stream)
                    if version == (1, 0):
                        shape, _, kind = np.lib.format.read_array_header_1_0(stream)
                    elif version == (2, 0):
                        shape, _, kind = np.lib.format.read_array_header_2_0(stream)
                    else:
                        raise InputError(f"{self.path}: array {name!r} has an unknown version")
                    if kind.hasobject:
                        raise InputError(
                            f"{self.path}: array {name!r} holds pickled objects, which could run "
                            "code when loaded; save it as numbers or text"
                        )
                    claimed = stream.tell() + prod(shape) * kind.itemsize
                if min(shape, default=0) < 0 or claimed != member.file_size:
                    raise InputError(
                        f"{self.path}: array {name!r} claims {claimed} bytes, the archive holds "
                        f"{member.file_size}"
                    )
                shapes[name] = tuple(shape)
        return shapes

    def _array(self, name: str) -> NDArray[Any]:
        with reading(self.path, _WHAT), np.load(self.path, allow_pickle=False) as archive:
            array: NDArray[Any] = archive[name]
        return array

    def batches(self, columns: Sequence[str], first: int = 0) -> Iterator[pa.RecordBatch]:
        """Rows from ``first`` on; an archive cannot be read in part, so a column comes whole."""
        self.need(columns)
        with reading(self.path, _WHAT):
            if self._matrix:
                values = self._array("values")
                arrays = [values[:, self.columns.index(name)] for name in columns]
            else:
                arrays = [self._array(name) for name in columns]
            ready = [_arrow(array) for array in arrays]
        length = len(arrays[0])
        for row in range(first, length, ROWS):
            yield pa.RecordBatch.from_arrays(
                [column.slice(row, ROWS) for column in ready], [*columns]
            )


def _arrow(array: NDArray[Any]) -> pa.Array:
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind == "U":
        return pa.array(array.tolist(), pa.string())
    return pa.array(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)))
