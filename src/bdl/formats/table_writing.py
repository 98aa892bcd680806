"""Writing Arrow tables as CSV, TSV, Parquet or Feather: one file or several, each whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from bdl.arrow import from_texts
from bdl.errors import ConfigError
from bdl.formats.atomic_files import atomic
from bdl.formats.outputs import check_output

_SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".feather", ".ftr", ".arrow")


def write_table(table: pa.Table, path: str | Path) -> None:
    """Write a table in the format of the suffix.

    That is ``.csv``, ``.tsv``, ``.parquet`` (``.pq``) or ``.feather`` (``.ftr``, ``.arrow``).

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> write_table(pa.table({"time": [0.1]}), file)
    >>> file.read_text().splitlines()
    ['"time"', '"0.1"']
    """
    target = Path(path)
    suffix = _suffix(target)
    with atomic(target) as temporary:
        if suffix in (".csv", ".tsv"):
            import pyarrow.csv as pacsv

            options = pacsv.WriteOptions(
                delimiter="\t" if suffix == ".tsv" else ",", quoting_style="needed"
            )
            pacsv.write_csv(_printable(table), temporary, options)
        elif suffix in (".parquet", ".pq"):
            import pyarrow.parquet as pq

            pq.write_table(table, temporary, write_page_checksum=True)
        else:
            import pyarrow.feather as feather

            feather.write_feather(table, str(temporary), compression="uncompressed")


def write_partitions(table: pa.Table, path: str | Path, *, ids: Sequence[str], size: int) -> None:
    """Write a folder of Parquet files, each with the rows of some recordings; whole or not at all.

    ``ids`` are distributed in their order, ``size`` recordings per file; a file without rows is
    written too. The table has a column ``recording``. A folder that exists is replaced.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "parts"
    >>> table = pa.table({"recording": ["a", "c"], "time": [1.0, 2.0]})
    >>> write_partitions(table, folder, ids=["a", "b", "c"], size=2)
    >>> sorted(file.name for file in folder.iterdir())
    ['part-000000.parquet', 'part-000001.parquet']
    """
    import pyarrow.compute as pc

    number = {id: place // size for place, id in enumerate(ids)}
    parts = pa.array([number[id] for id in table["recording"].to_pylist()], pa.int64())
    with atomic(path, folder=True) as temporary:
        for part in range(max(1, -(-len(ids) // size))):
            rows = table.filter(pc.equal(parts, part))
            write_table(rows, temporary / f"part-{part:06d}.parquet")


def check_table_output(path: str | Path, *, flag: str = "--out") -> None:
    """Raise an error at once if a table could not be written later; ``flag`` is its option.

    Examples
    --------
    >>> check_table_output("detections.txt")
    Traceback (most recent call last):
    bdl.errors.ConfigError: --out detections.txt: a suffix among .csv, .tsv, ... expected, got .txt
    """
    try:
        _suffix(Path(path))
    except ConfigError as error:
        raise ConfigError(f"{flag} {error}") from error
    check_output(path, flag=flag)


def _suffix(target: Path) -> str:
    suffix = target.suffix.lower()
    if suffix not in _SUFFIXES:
        raise ConfigError(
            f"{target}: a suffix among {', '.join(_SUFFIXES)} expected, got {suffix or 'none'}"
        )
    return suffix


def _printable(table: pa.Table) -> pa.Table:
    """Floats as their shortest exact text; Arrow may round."""
    for i, name in enumerate(table.column_names):
        if pa.types.is_floating(table.schema.field(i).type):
            texts = [None if v is None else repr(v) for v in table[name].to_pylist()]
            table = table.set_column(i, name, from_texts(texts))
    return table
