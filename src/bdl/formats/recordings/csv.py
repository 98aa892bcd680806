"""Recordings in CSV and TSV tables.

Every column comes as text: numbers are read from it later, where the row of an invalid one can be
named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar, Literal

import pyarrow as pa
import pyarrow.csv as pacsv

from bdl.formats.files import reading
from bdl.formats.recordings.table_format import TableFormat
from bdl.formats.table_file import TableFile, skip_rows

_WHAT = "a CSV or TSV file"


class CsvRecordings(TableFormat):
    """CSV and TSV tables with a header line."""

    kind: Literal["csv"] = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv")

    def open_table(self, path: Path, names: Sequence[str] = ()) -> TableFile:
        """The table; a file with suffix ``.tsv`` is separated by tabs, any other by commas."""
        return CsvFile(path)


class CsvFile(TableFile):
    """A CSV or TSV file."""

    def __init__(self, path: Path) -> None:
        self._parsing = pacsv.ParseOptions(delimiter="\t" if path.suffix.lower() == ".tsv" else ",")
        with reading(path, _WHAT):
            with open(path, "rb") as stream:
                # The first line names the columns; pyarrow would read a whole block for it.
                header = stream.readline(1 << 20)
                self._empty = not stream.read(1)
            line = pa.BufferReader(header.rstrip(b"\r\n") + b"\n")
            columns = pacsv.read_csv(line, parse_options=self._parsing).column_names
        super().__init__(path, columns)

    def batches(self, columns: Sequence[str], first: int = 0) -> Iterator[pa.RecordBatch]:
        """Rows from ``first`` on as text; those before it are read over. An empty field is null."""
        self.need(columns)
        if self._empty:
            return
        options = pacsv.ConvertOptions(
            column_types={name: pa.string() for name in self.columns},
            include_columns=[*columns],
            strings_can_be_null=True,
            null_values=[""],
        )
        with (
            reading(self.path, _WHAT),
            pacsv.open_csv(
                self.path,
                read_options=pacsv.ReadOptions(block_size=4 << 20, use_threads=False),
                parse_options=self._parsing,
                convert_options=options,
            ) as reader,
        ):
            yield from skip_rows(reader, first)
