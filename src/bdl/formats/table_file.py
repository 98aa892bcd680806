"""Table files as streams of Arrow batches.

The columns of a table file are known at once; its rows are read in order, a bounded number at a
time, from any row on. Rows are counted from 0, the header not included. A file that claims more
values than its length can hold is refused (`bdl.limits`), and so are columns of lists or the like.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from bdl.column_values import is_text, is_text_column
from bdl.errors import InputError
from bdl.formats.files import stored_size
from bdl.limits import check_channels, check_expansion

# Rows at a time: small enough that their memory is used again and stays in the cache.
ROWS = 1 << 15


class TableFile(ABC):
    """A table file; ``rows`` and ``types`` are given if they are known without reading the rows.

    ``about`` is what the file says about the recording in it: ``period``, ``start``,
    ``offset_changes``, ``group``, ``samples``, ``units`` and ``date_order``.
    """

    left_out: tuple[str, ...] = ()  # columns that hold no values
    texts: tuple[str, ...] = ()  # columns whose first rows hold texts
    notes: tuple[str, ...] = ()  # what the file was recognised as

    def __init__(
        self,
        path: Path,
        columns: Sequence[str],
        rows: int | None = None,
        about: dict[str, Any] | None = None,
        types: Sequence[pa.DataType] = (),
    ) -> None:
        self.path = path
        self.columns = tuple(columns)
        self.rows = rows
        self.about = about or {}
        self._bytes = stored_size(path)
        check_channels(len(self.columns), path)
        self._check_size(rows or 0)
        self._places = {name: place for place, name in enumerate(self.columns)}
        self._types = tuple(types)
        for place, name in enumerate(self.columns):
            if place != self._places[name]:
                raise InputError(f"{path}: two columns are called {name!r}; rename one of them")

    def need(self, columns: Sequence[str]) -> None:
        """Raise an error if a column is missing, or holds neither numbers, times nor texts."""
        for name in columns:
            if name not in self._places:
                raise InputError(
                    f"{self.path}: column {name!r} is missing; it has {', '.join(self.columns)}; "
                    "name the channels (--channel)"
                )
            if self._types and not _is_plain(kind := self._types[self._places[name]]):
                raise InputError(
                    f"{self.path}: column {name!r}: numbers, times or texts expected, got a column "
                    f"of type {kind!s:.60}; name the channels (--channel)"
                )

    def typed_texts(self, columns: Sequence[str]) -> list[str]:
        """Those of the columns whose type is text and whose first rows hold no numbers."""
        kinds = zip(self.columns, self._types, strict=True) if self._types else ()
        texts = [name for name, kind in kinds if name in columns and is_text(kind)]
        batch = next(iter(self.batches(texts)), None) if texts else None
        if batch is None:
            return []
        cells = {name: [*filter(None, batch.column(name).to_pylist())] for name in texts}
        return [name for name in texts if is_text_column(cells[name])]

    def batches(self, columns: Sequence[str], first: int = 0) -> Generator[pa.RecordBatch]:
        """Some columns of the rows from number ``first`` on, in order."""
        self.need(columns)
        rows = first
        for batch in self._batches(columns, first):
            rows += len(batch)
            self._check_size(rows)
            yield batch

    @abstractmethod
    def _batches(self, columns: Sequence[str], first: int) -> Iterator[pa.RecordBatch]:
        """The rows for `batches`, whose columns exist."""

    def _check_size(self, rows: int) -> None:
        """Raise an error if this many rows of numbers are far more than the file can hold."""
        check_expansion(4 * rows * len(self.columns), self._bytes, self.path)


def _is_plain(kind: pa.DataType) -> bool:
    """Whether a column of this type can be a channel, a time or a name."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return bool(
        pa.types.is_primitive(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_null(kind)
        or pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
    )


def skip_rows(batches: Iterator[pa.RecordBatch], rows: int) -> Iterator[pa.RecordBatch]:
    """The batches without their first rows.

    Examples
    --------
    >>> batches = (pa.record_batch({"x": [i, i + 1]}) for i in range(0, 6, 2))
    >>> [batch["x"].to_pylist() for batch in skip_rows(batches, 3)]
    [[3], [4, 5]]
    """
    for batch in batches:
        if len(batch) <= rows:
            rows -= len(batch)
            continue
        yield batch.slice(rows)
        rows = 0
