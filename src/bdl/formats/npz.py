"""NPZ archives as tables: either one 1-D array a column, or ``values`` (samples, channels).

Beside a two-dimensional ``values`` may stand ``channels`` (names), ``period``, ``start`` (ISO
8601 text with offset), ``offset_changes`` (n, 2) and ``group``. Sizes that the headers
claim are checked against the archive before anything is read, and pickled objects are refused.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.formats.files import reading
from bdl.formats.sources import ROWS, need, unique

_WHAT = "an NPZ archive"
_ABOUT = ("channels", "period", "start", "offset_changes", "group")


class NpzSource:
    """An NPZ file; columns are known from the array headers alone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(path, _WHAT):
            shapes = self._shapes()
        self.about: dict[str, Any] = {}
        if len(shapes.get("values", ())) == 2:
            columns = self._matrix_columns(shapes)
        else:
            columns = [name for name, shape in shapes.items() if len(shape) == 1]
            lengths = {shapes[name][0] for name in columns}
            if len(columns) < len(shapes) or len(lengths) != 1:
                raise InputError(
                    f"{path}: arrays of one length, or one array 'values' of (samples, channels) "
                    f"expected, got {shapes}"
                )
            self.rows: int | None = lengths.pop()
        self._matrix = len(shapes.get("values", ())) == 2
        self.columns = unique(path, columns)

    def _matrix_columns(self, shapes: dict[str, tuple[int, ...]]) -> list[str]:
        other = [name for name in shapes if name not in (*_ABOUT, "values")]
        if other:
            raise InputError(
                f"{self.path}: beside 'values' only {', '.join(_ABOUT)} expected, got {other[0]!r}"
            )
        self.rows, width = shapes["values"]
        told = {name: self._array(name) for name in _ABOUT if name in shapes}
        with reading(self.path, _WHAT):
            for name in ("start", "group"):
                if name in told:
                    self.about[name] = str(told[name].item())
            if "period" in told:
                self.about["period"] = float(told["period"].item())
            if "offset_changes" in told:
                self.about["offset_changes"] = told["offset_changes"].reshape(-1, 2).tolist()
        self.about["samples"] = self.rows
        if "channels" not in told:
            return [f"channel_{i}" for i in range(width)]
        channels = [str(name) for name in told["channels"].reshape(-1)]
        if len(channels) != width:
            raise InputError(
                f"{self.path}: values of {width} channels, but {len(channels)} names of channels"
            )
        return channels

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
        need(self, columns)
        with reading(self.path, _WHAT):
            if self._matrix:
                values = self._array("values")
                arrays = [values[:, self.columns.index(name)] for name in columns]
            else:
                arrays = [self._array(name) for name in columns]
            ready = [_arrow(array) for array in arrays]
        length = len(arrays[0])
        for at in range(first, length, ROWS):
            yield pa.RecordBatch.from_arrays(
                [column.slice(at, ROWS) for column in ready], [*columns]
            )


def _arrow(array: NDArray[Any]) -> pa.Array:
    if array.dtype.kind == "S":
        array = np.char.decode(array, "utf-8")
    if array.dtype.kind == "U":
        return pa.array(array.tolist(), pa.string())
    return pa.array(np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="), copy=False)))
