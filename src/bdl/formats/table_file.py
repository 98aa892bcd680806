"""Table files as streams of Arrow batches.

A table file knows its columns at once and gives its rows in order, a bounded number at a time,
starting anywhere. Rows are counted from 0, the header not included.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from bdl.errors import InputError

# Rows at a time: small enough that their memory is used again and stays in the cache.
ROWS = 1 << 15


class TableFile(ABC):
    """A table file.

    Parameters
    ----------
    path
        The file.
    columns
        Names of its columns, none of which may repeat.
    rows
        Number of its rows, if it is known without reading them.
    about
        What the file says about the recording in it: ``period``, ``start``, ``offset_changes``,
        ``group``, ``samples`` and ``date_order``, as far as it does.
    """

    left_out: tuple[str, ...] = ()  # columns that hold no values
    note = ""  # what the file was recognised as

    def __init__(
        self,
        path: Path,
        columns: Sequence[str],
        rows: int | None = None,
        about: dict[str, Any] | None = None,
    ) -> None:
        self.path = path
        self.columns = tuple(columns)
        self.rows = rows
        self.about = about or {}
        seen: set[str] = set()
        for name in self.columns:
            if name in seen:
                raise InputError(f"{path}: two columns are called {name!r}; rename one of them")
            seen.add(name)

    def need(self, columns: Sequence[str]) -> None:
        """Raise an error if a column is missing."""
        for name in columns:
            if name not in self.columns:
                raise InputError(
                    f"{self.path}: column {name!r} is missing; it has {', '.join(self.columns)}"
                )

    @abstractmethod
    def batches(self, columns: Sequence[str], first: int = 0) -> Iterator[pa.RecordBatch]:
        """Some columns of the rows from number ``first`` on, in order."""


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
