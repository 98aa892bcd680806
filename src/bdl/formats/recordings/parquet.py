"""Recordings in Parquet tables, read row group by row group.

For a table at an address, only the footer and the needed columns of the needed row groups are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, ClassVar, Literal

import pyarrow as pa

from bdl.arrow import is_ascii
from bdl.errors import InputError
from bdl.formats.addresses import RangeFile, address_of
from bdl.formats.files import reading
from bdl.formats.recordings.table_format import TableFormat
from bdl.formats.table_file import ROWS, TableFile, skip_rows

_WHAT = "a Parquet file"
_BUFFER = 1 << 18  # bytes
_REQUEST = 1 << 22  # bytes of a column that are asked for at once, at an address
# A buffer grows to what the header of a page claims, up to 2 GiB; in smaller files than this, the
# columns of a row group are read at once instead, which the file's size bounds.
_BUFFERED = 1 << 28  # bytes


class ParquetRecordings(TableFormat):
    """Parquet tables."""

    kind: Literal["parquet"] = "parquet"
    suffixes: ClassVar[tuple[str, ...]] = (".parquet", ".pq")
    by_range: ClassVar[bool] = True

    def open_table(self, path: Path, names: Sequence[str] = ()) -> TableFile:
        """The table; columns in ``names`` come dictionary-encoded, which is fast for ids."""
        return ParquetFile(path, names)


class ParquetFile(TableFile):
    """A Parquet file."""

    def __init__(self, path: Path, names: Sequence[str] = ()) -> None:
        import pyarrow.parquet as pq

        with reading(path, _WHAT), pq.ParquetFile(self._source(path)) as file:
            self._footer = file.metadata
            groups = range(file.num_row_groups)
            self._lengths = [self._footer.row_group(group).num_rows for group in groups]
            schema = file.schema_arrow
            super().__init__(path, schema.names, self._footer.num_rows, types=schema.types)
        self._names = [name for name in names if name in self.columns]
        if any(length < 0 for length in self._lengths) or sum(self._lengths) != self.rows:
            raise InputError(
                f"{path}: its footer claims {self.rows} rows and row groups of "
                f"{sum(self._lengths)}; the file is damaged"
            )

    @staticmethod
    def _source(path: Path) -> Any:
        return path if address_of(path) is None else RangeFile(path)

    def _open(self) -> Any:
        """The file, opened again: thousands of tables may be known, few are read at a time."""
        import pyarrow.parquet as pq

        buffer = _BUFFER if address_of(self.path) is None else _REQUEST
        return pq.ParquetFile(
            self._source(self.path),
            metadata=self._footer,
            read_dictionary=self._names,
            page_checksum_verification=True,
            buffer_size=buffer if self._bytes >= _BUFFERED else 0,
            pre_buffer=False,
        )

    def _batches(self, columns: Sequence[str], first: int) -> Iterator[pa.RecordBatch]:
        """Rows from ``first`` on; row groups that end before it are not touched."""
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
                for column in batch.columns:
                    if not is_ascii(column):  # texts need not be valid Unicode in Parquet
                        column.validate(full=True)
                yield batch.select([*columns])
        if rows != expected:
            raise InputError(
                f"{self.path}: {expected} rows expected, got {rows}; the file is damaged"
            )
