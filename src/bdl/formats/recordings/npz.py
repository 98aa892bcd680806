"""Recordings in NPZ archives: either one 1-D array per column, or ``values`` (samples, channels).

Beside a two-dimensional ``values`` there may be ``channels`` (names), ``units``, ``period``,
``start`` (ISO 8601 text with UTC offset), ``offset_changes`` (n, 2) and ``group``. Sizes that the
headers claim are checked against the archive before anything is read, and pickled objects are
refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.formats.files import reading
from bdl.formats.npz_arrays import WHAT, array_shapes, read_array
from bdl.formats.recordings.table_format import TableFormat
from bdl.formats.table_file import ROWS, TableFile
from bdl.limits import check_channels

_ABOUT = ("channels", "period", "start", "offset_changes", "group", "units")


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
        shapes = array_shapes(path)
        self._matrix = len(shapes.get("values", ())) == 2
        if self._matrix:
            super().__init__(path, *self._matrix_columns(shapes))
            return
        columns = [name for name, shape in shapes.items() if len(shape) == 1]
        lengths = {shapes[name][0] for name in columns}
        if len(columns) < len(shapes) or len(lengths) != 1:
            raise InputError(
                f"{path}: arrays of one length, or one array 'values' of (samples, channels) "
                f"expected, got {str(shapes)[:300]}"
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
        check_channels(width, self.path)
        arrays = {name: read_array(self.path, name) for name in _ABOUT if name in shapes}
        about: dict[str, Any] = {"samples": samples}
        with reading(self.path, WHAT):
            for name in ("start", "group"):
                if name in arrays:
                    about[name] = str(arrays[name].item())
            if "period" in arrays:
                about["period"] = float(arrays["period"].item())
            if "offset_changes" in arrays:
                about["offset_changes"] = arrays["offset_changes"].reshape(-1, 2).tolist()
        for name, what in (("units", "units"), ("channels", "names of channels")):
            if name in arrays:
                about[name] = [str(text) for text in arrays[name].reshape(-1)]
                if len(about[name]) != width:
                    raise InputError(
                        f"{self.path}: values of {width} channels, but {len(about[name])} {what}"
                    )
        return about.pop("channels", [f"channel_{i}" for i in range(width)]), samples, about

    def _batches(self, columns: Sequence[str], first: int) -> Iterator[pa.RecordBatch]:
        """Rows from ``first`` on; an archive cannot be read in part, so a column comes whole."""
        with reading(self.path, WHAT):
            if self._matrix:
                values = read_array(self.path, "values")
                arrays = [values[:, self._places[name]] for name in columns]
            else:
                arrays = [read_array(self.path, name) for name in columns]
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
