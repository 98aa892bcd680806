"""Recordings in CSV and TSV tables.

Every column comes as text: numbers are read from it later, where the row of an invalid one can be
named. In a file that is not separated by commas, a comma in a number is its decimal point.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
import pyarrow.csv as pacsv

from bdl.column_values import is_text_column
from bdl.errors import InputError
from bdl.formats.csv_header import UNNAMED, read_csv_header, split_fields
from bdl.formats.files import reading
from bdl.formats.recordings.table_format import TableFormat
from bdl.formats.table_file import TableFile, skip_rows

_WHAT = "a CSV or TSV file"
_UTF8, _OTHER = "utf-8-sig", "latin-1"  # one byte per character, so that any file can be read
_BEGIN = 1 << 20  # bytes that show the encoding of a file
_LINES = 200  # more than any device writes before its table
_FIRST = 20  # rows that show which columns hold texts
_DECIMAL_COMMA = r"^(\s*[-+]?\d+),(\d+\s*)$"


class CsvRecordings(TableFormat):
    """CSV and TSV tables with a header line, also as ActiGraph, Actiwatch and GENEActiv export."""

    kind: Literal["csv"] = "csv"
    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv")

    def open_table(self, path: Path, names: Sequence[str] = ()) -> TableFile:
        """The table; separated by tabs if its suffix is ``.tsv``, else as its header line is."""
        return CsvFile(path)


class CsvFile(TableFile):
    """A CSV or TSV file."""

    def __init__(self, path: Path) -> None:
        with reading(path, _WHAT):
            self.encoding = _encoding(path)
            with open(path, encoding=self.encoding, errors="replace") as stream:
                lines = [line[: 1 << 20] for line in islice(stream, _LINES)]
        if not any(line.strip() for line in lines):
            raise InputError(f"{path}: a header line expected, the file begins with an empty one")
        self.header = header = read_csv_header(lines, path.suffix.lower() == ".tsv")
        rows = lines[header.skip :]
        self._empty = not rows
        # In a table of one column an empty line is a missing value.
        self._one = len(header.names) == 1
        self._parsing = pacsv.ParseOptions(
            delimiter=header.delimiter, ignore_empty_lines=not self._one
        )
        self._comma = header.delimiter != "," and any(re.search(r"\d,\d", row) for row in rows)
        super().__init__(path, header.names, about=header.about)
        self.left_out = (UNNAMED, "Line") if header.device else (UNNAMED,)
        cells = [split_fields(row, header.delimiter) for row in rows[:_FIRST]]
        self.texts = tuple(
            name
            for place, name in enumerate(header.names)
            if name not in self.left_out
            and is_text_column([row[place] for row in cells if place < len(row)])
        )
        if header.device is not None:
            self.notes = (f"{path}: {header.device} export, {header.skip} lines skipped",)
        elif header.skip == 0:
            self.notes = (f"{path}: no line of names; columns are {', '.join(header.names)}",)
        elif header.skip > 1:
            self.notes = (f"{path}: {header.skip} lines skipped before the rows",)
        if self.encoding == _OTHER:
            self.notes += (f"{path}: its text is not UTF-8 and was read as Latin-1",)

    def _batches(self, columns: Sequence[str], first: int) -> Iterator[pa.RecordBatch]:
        """Rows from ``first`` on as text; those before it are read over. An empty field is null."""
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
            _whole_rows(self.path),
            pacsv.open_csv(
                self.path,
                read_options=pacsv.ReadOptions(
                    block_size=4 << 20,
                    use_threads=False,
                    skip_rows=self.header.skip,
                    column_names=self.columns,
                    encoding="utf-8" if self.encoding == _UTF8 else self.encoding,
                ),
                parse_options=self._parsing,
                convert_options=options,
            ) as reader,
        ):
            batches = skip_rows(reader, first)
            for batch in _without_end(batches) if self._one else batches:
                yield self._points(batch) if self._comma else batch

    def _points(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Numbers with a decimal point in place of a comma."""
        import pyarrow.compute as pc

        points = [
            pc.replace_substring_regex(column, _DECIMAL_COMMA, r"\1.\2") for column in batch.columns
        ]
        return pa.record_batch(points, batch.schema.names)


def _without_end(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """The batches of one column without the missing values at their end: lines after the table.

    Examples
    --------
    >>> batches = (pa.record_batch({"x": x}) for x in ([1, None], [None, 2, None], [None]))
    >>> [batch["x"].to_pylist() for batch in _without_end(batches)]
    [[1], [None], [None, 2]]
    """
    held: list[pa.RecordBatch] = []  # missing values that may be the last ones
    for batch in batches:
        present = np.flatnonzero(batch.column(0).is_valid())
        if len(present):
            yield from held
            end = int(present[-1]) + 1
            yield batch.slice(0, end)
            held, batch = [], batch.slice(end)
        if len(batch):
            held.append(batch)


def _encoding(path: Path) -> str:
    """The encoding of a text: UTF-16 if it says so, UTF-8 if its beginning is, else Latin-1."""
    with open(path, "rb") as stream:
        begin = stream.read(_BEGIN)
    if begin.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    try:
        codecs.getincrementaldecoder("utf-8")().decode(begin)  # may end inside a character
    except UnicodeDecodeError:
        return _OTHER
    return _UTF8


@contextmanager
def _whole_rows(path: Path) -> Iterator[None]:
    """Name the line that has another number of fields than the header, or is not UTF-8."""
    try:
        yield
    except pa.ArrowInvalid as error:
        place = re.search(r"Row #(\d+): .*invalid UTF8", str(error))
        if place is not None:
            raise InputError(
                f"{path}: line {place[1]}: UTF-8 text expected, as in the lines before it; save "
                "the table as UTF-8"
            ) from error
        match = re.search(r"Row #(\d+): Expected (\d+) columns, got (\d+)", str(error))
        if match is None:
            raise
        line, expected, got = match.groups()
        raise InputError(
            f"{path}: line {line}: {expected} fields expected, as in its header, got {got}; is a "
            "delimiter missing or a field cut?"
        ) from error
