"""Table files as streams of Arrow batches: CSV, TSV, Parquet, Arrow/Feather and NPZ.

A source knows its columns at once and hands out rows in order, a bounded number at a time,
starting anywhere (Parquet and Arrow skip what lies before; CSV reads over it). Text files give
text columns: numbers are read from them later, where the row of a bad one can be named. Rows
are counted from 0, the header not included.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.parquet as pq

from bdl.errors import InputError
from bdl.formats.files import existing, reading

# Rows at a time: small enough that their memory is used again and stays in the cache.
ROWS = 1 << 15
_BYTES = 1 << 18
SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".feather", ".ftr", ".arrow", ".ipc", ".npz")


class Source(Protocol):
    """A table file: its columns, what is written about it, and its rows in batches."""

    path: Path
    columns: tuple[str, ...]
    about: dict[str, Any]
    rows: int | None

    def batches(self, columns: Sequence[str], first: int = 0) -> Iterator[pa.RecordBatch]:
        """Rows from number ``first`` on, the named columns only, in order."""
        ...


def open_source(path: str | Path, *, text: Sequence[str] = ()) -> Source:
    """Open a table file by its suffix; ``text`` names columns with few distinct texts."""
    file = existing(path)
    kind = file.suffix.lower()
    if kind in (".csv", ".tsv"):
        return CsvSource(file)
    if kind in (".parquet", ".pq"):
        return ParquetSource(file, text)
    if kind in (".feather", ".ftr", ".arrow", ".ipc"):
        return ArrowSource(file)
    if kind == ".npz":
        from bdl.formats.npz import NpzSource

        return NpzSource(file)
    raise InputError(
        f"{file}: {kind or 'no suffix'} is not a table this package reads; "
        f"expected one of {', '.join(SUFFIXES)}"
    )


def need(source: Source, columns: Sequence[str]) -> None:
    """Raise where a named column is not in the table."""
    for name in columns:
        if name not in source.columns:
            raise InputError(
                f"{source.path}: column {name!r} is missing; it has {', '.join(source.columns)}"
            )


def unique(path: Path, names: Sequence[str]) -> tuple[str, ...]:
    """The names, if none repeats."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"{path}: two columns are called {name!r}; rename one of them")
        seen.add(name)
    return tuple(names)


def about(path: Path, metadata: dict[bytes, bytes] | None) -> dict[str, Any]:
    """What our own writer says about a recording in a file's schema (clock, group)."""
    told = (metadata or {}).get(b"bdl")
    if told is None:
        return {}
    with reading(path, "a table with a 'bdl' note in its schema"):
        data = json.loads(told)
    if not isinstance(data, dict):
        raise InputError(f"{path}: the 'bdl' note of the schema is not an object")
    return data


class ParquetSource:
    """A Parquet file, read row group by row group."""

    def __init__(self, path: Path, text: Sequence[str] = ()) -> None:
        self.path = path
        with reading(path, "a Parquet file"), pq.ParquetFile(path) as file:
            schema = file.schema_arrow
            self._footer = file.metadata
            self.columns = unique(path, schema.names)
            groups = range(file.num_row_groups)
            self._lengths = [self._footer.row_group(i).num_rows for i in groups]
            self.rows: int | None = self._footer.num_rows
        self._text = [name for name in text if name in self.columns]
        if any(length < 0 for length in self._lengths) or sum(self._lengths) != self.rows:
            raise InputError(
                f"{path}: its footer claims {self.rows} rows and row groups of "
                f"{sum(self._lengths)}; the file is damaged"
            )
        self.about = about(path, schema.metadata)

    def _open(self) -> pq.ParquetFile:
        """The file, opened anew: thousands of sources may be known, few are read at a time."""
        return pq.ParquetFile(
            self.path,
            metadata=self._footer,
            read_dictionary=self._text,
            page_checksum_verification=True,
            buffer_size=_BYTES,
            pre_buffer=False,
        )

    def batches(self, columns: Sequence[str], first: int = 0) -> Iterator[pa.RecordBatch]:
        """Rows from ``first`` on; row groups that end before it are not touched."""
        need(self, columns)
        group, skip = 0, first
        while group < len(self._lengths) and skip >= self._lengths[group]:
            skip -= self._lengths[group]
            group += 1
        remaining = [*range(group, len(self._lengths))]
        if not remaining:
            return
        seen = 0
        with reading(self.path, "a Parquet file"), self._open() as file:
            for batch in file.iter_batches(ROWS, remaining, [*columns], use_threads=False):
                seen += len(batch)
                if skip >= len(batch):
                    skip -= len(batch)
                    continue
                yield batch.slice(skip).select([*columns])
                skip = 0
        if seen != sum(self._lengths[group:]):
            raise InputError(
                f"{self.path}: {sum(self._lengths[group:])} rows expected, {seen} came; "
                "the file is damaged"
            )


class ArrowSource:
    """An Arrow IPC file or stream, Feather included, memory-mapped."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with reading(path, "an Arrow or Feather file"), self._open() as reader:
            schema = reader.schema
            self.columns = unique(path, schema.names)
            self.about = about(path, schema.metadata)
        self.rows: int | None = None

    def _open(self) -> Any:
        stored = pa.memory_map(str(self.path))
        head = stored.read(6)
        stored.seek(0)
        if head[:4] == b"FEA1":
            raise InputError(
                f"{self.path}: Feather version 1 is no longer read; write it again with version 2"
            )
        return pa.ipc.open_file(stored) if head == b"ARROW1" else pa.ipc.open_stream(stored)

    def _stored(self) -> Iterator[pa.RecordBatch]:
        with self._open() as reader:
            if hasattr(reader, "num_record_batches"):
                for i in range(reader.num_record_batches):
                    yield reader.get_batch(i)
            else:
                yield from reader

    def batches(self, columns: Sequence[str], first: int = 0) -> Iterator[pa.RecordBatch]:
        """Rows from ``first`` on; each stored batch is checked before it is used."""
        need(self, columns)
        skip = first
        with reading(self.path, "an Arrow or Feather file"):
            for stored in self._stored():
                if skip >= len(stored):
                    skip -= len(stored)
                    continue
                chosen = stored.select([*columns])
                # Offsets and lengths inside a damaged file would be followed blindly otherwise.
                chosen.validate(full=True)
                for at in range(skip, len(chosen), ROWS):
                    yield chosen.slice(at, ROWS)
                skip = 0


class CsvSource:
    """A CSV or TSV file with a header; every column comes as text."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._tab = path.suffix.lower() == ".tsv"
        with reading(path, "a CSV or TSV file"):
            with open(path, "rb") as stream:
                # The first line names the columns; pyarrow would read a whole block for it.
                head = stream.readline(1 << 20)
            table = pacsv.read_csv(
                pa.BufferReader(head.rstrip(b"\r\n") + b"\n"), parse_options=self._parsing()
            )
            self.columns = unique(path, table.column_names)
        self.about: dict[str, Any] = {}
        self.rows: int | None = None

    def _parsing(self) -> pacsv.ParseOptions:
        return pacsv.ParseOptions(delimiter="\t" if self._tab else ",")

    def batches(self, columns: Sequence[str], first: int = 0) -> Iterator[pa.RecordBatch]:
        """Rows from ``first`` on, as text columns; an empty field is null."""
        need(self, columns)
        options = pacsv.ConvertOptions(
            column_types={name: pa.string() for name in self.columns},
            include_columns=[*columns],
            strings_can_be_null=True,
            null_values=[""],
        )
        skip = first
        with reading(self.path, "a CSV or TSV file"):
            if self._only_header():
                return
            with pacsv.open_csv(
                self.path,
                read_options=pacsv.ReadOptions(block_size=4 << 20, use_threads=False),
                parse_options=self._parsing(),
                convert_options=options,
            ) as reader:
                for batch in reader:
                    if skip >= len(batch):
                        skip -= len(batch)
                        continue
                    yield batch.slice(skip)
                    skip = 0

    def _only_header(self) -> bool:
        with open(self.path, "rb") as stream:
            stream.readline(1 << 20)
            return not stream.read(1)
