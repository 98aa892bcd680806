"""Recordings in Arrow IPC files and streams, Feather included, mapped into memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pyarrow as pa

from bdl.errors import InputError
from bdl.formats.files import reading
from bdl.formats.recordings.table_format import TableFormat
from bdl.formats.table_file import ROWS, TableFile, skip_rows

_WHAT = "an Arrow or Feather file"


class ArrowRecordings(TableFormat):
    """Arrow IPC and Feather tables."""

    kind: Literal["arrow"] = "arrow"
    suffixes: ClassVar[tuple[str, ...]] = (".arrow", ".feather", ".ftr", ".ipc")

    def open_table(self, path: Path, names: Sequence[str] = ()) -> TableFile:
        """The table."""
        return ArrowFile(path)


class ArrowFile(TableFile):
    """An Arrow IPC file or stream."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(path, _WHAT), self._open() as reader:
            super().__init__(path, reader.schema.names, types=reader.schema.types)

    def _open(self) -> Any:
        mapped = pa.memory_map(str(self.path))
        magic = mapped.read(6)
        mapped.seek(0)
        if magic[:4] == b"FEA1":
            raise InputError(
                f"{self.path}: Feather version 1 is no longer read; write it again with version 2"
            )
        return pa.ipc.open_file(mapped) if magic == b"ARROW1" else pa.ipc.open_stream(mapped)

    def _stored(self) -> Iterator[pa.RecordBatch]:
        with self._open() as reader:
            if hasattr(reader, "num_record_batches"):
                for number in range(reader.num_record_batches):
                    yield reader.get_batch(number)
            else:
                yield from reader

    def _batches(self, columns: Sequence[str], first: int) -> Iterator[pa.RecordBatch]:
        """Rows from ``first`` on; each stored batch is checked before it is used."""
        with reading(self.path, _WHAT):
            for stored in skip_rows(self._stored(), first):
                chosen = stored.select([*columns])
                # Otherwise offsets and lengths of a damaged file would be used without a check.
                chosen.validate(full=True)
                for row in range(0, len(chosen), ROWS):
                    yield chosen.slice(row, ROWS)
