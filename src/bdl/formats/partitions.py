"""A table as a data set of several Parquet files, which programs read as one."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from bdl.formats.atomic_files import atomic_folder
from bdl.formats.table_writing import write_table


def write_partitions(table: pa.Table, path: str | Path, *, ids: Sequence[str], size: int) -> None:
    """Write a folder of Parquet files, each with the rows of some recordings; whole or not at all.

    Parameters
    ----------
    table
        Rows with a column ``recording``.
    path
        The folder; one that exists is replaced.
    ids
        Recordings in the order in which they are distributed.
    size
        Recordings per file. A file without rows is written too.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "found"
    >>> table = pa.table({"recording": ["a", "c"], "time": [1.0, 2.0]})
    >>> write_partitions(table, folder, ids=["a", "b", "c"], size=2)
    >>> sorted(file.name for file in folder.iterdir())
    ['part-000000.parquet', 'part-000001.parquet']
    """
    number = {id: place // size for place, id in enumerate(ids)}
    parts = pa.array([number[id] for id in table["recording"].to_pylist()], pa.int64())
    with atomic_folder(path) as temporary:
        for part in range(max(1, -(-len(ids) // size))):
            rows = table.filter(pc.equal(parts, part))
            write_table(rows, temporary / f"part-{part:06d}.parquet")
