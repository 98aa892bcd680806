"""Recordings in Parquet tables, read row group by row group."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pyarrow as pa

from bdl.errors import InputError
from bdl.formats.files import reading
from bdl.formats.recordings.table_format import TableFormat
from bdl.formats.table_file import ROWS, TableFile, skip_rows

_WHAT = "a Parquet file"
_BUFFER = 1 << 18  # bytes


class ParquetRecordings(TableFormat):
    """Parquet tables."""

    kind: Literal["parquet"] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")

    def open_table(self, path: Path, names: Sequence[str] = ()) -> TableFile:
        """The table; columns in ``names`` come dictionary-encoded, which is fast for ids."""
        return ParquetFile(path, names)


class ParquetFile(TableFile):
    """A Parquet file."""

    def __init__(self, path: Path, names: Sequence[str] = ()) -> None:
        import pyarrow.parquet as pq

        with reading(path, _WHAT), pq.ParquetFile(path) as file:
            self._footer = file.metadata
            groups = range(file.num_row_groups)
            self._lengths = [self._footer.row_group(group).num_rows for group in groups]
            super().__init__(path, file.schema_arrow.names, self._footer.num_rows)
        self._names = [name for name in names if name in self.columns]
        if any(length < 0 for length in self._lengths) or sum(self._lengths) != self.rows:
            raise InputError(
                f"{path}: its footer claims {self.rows} rows and row groups of "
                f"{sum(self._lengths)}; the file is damaged"
            )

    def _open(self) -> Any:
        """The file, opened anew: thousands of tables may be known, few are read at a time."""
        import pyarrow.parquet as pq

        return pq.ParquetFile(
            self.path,
            metadata=self._footer,
            read_dictionary=self._names,
            page_checksum_verification=True,
            buffer_size=_BUFFER,
            pre_buffer=False,
        )

    def batches(self, columns: Sequence[str], first: int = 0) -> Iterator[pa.RecordBatch]:
        """Rows from ``first`` on; row groups that end before it are not touched."""
        self.need(columns)
        group, skip = 0, first
        while group < len(self._lengths) and skip >= self._lengths[group]:
            skip -= self._lengths[group]
            group += 1
        groups = [*range(group, len(self._lengths))]
        if not groups:
            return
        rows, expected = 0, sum(self._lengths[group:]) - skip
        with reading(self.path, _WHAT), self._open() as file:
            flow = file.iter_batches(ROWS, groups, [*columns], use_threads=False)
            for batch in skip_rows(flow, skip):
                rows += len(batch)
                yield batch.select([*columns])
        if rows != expected:
            raise InputError(
                f"{self.path}: {expected} rows expected, got {rows}; the file is damaged"
            )
