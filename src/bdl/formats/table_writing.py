"""Writing Arrow tables as CSV, TSV, Parquet or Feather, whole or not at all."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from bdl.arrow import from_texts
from bdl.errors import ConfigError
from bdl.formats.files import atomic

_SUFFIXES = (".csv", ".tsv", ".parquet", ".pq", ".feather", ".ftr", ".arrow")


def write_table(table: pa.Table, path: str | Path) -> None:
    """Write a table in the format that the suffix tells.

    Parameters
    ----------
    table
        An Arrow table.
    path
        A file with suffix ``.csv``, ``.tsv``, ``.parquet`` (``.pq``) or ``.feather`` (``.ftr``,
        ``.arrow``).

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.csv"
    >>> write_table(pa.table({"time": [0.1]}), file)
    >>> file.read_text().splitlines()
    ['"time"', '"0.1"']
    """
    target = Path(path)
    suffix = target.suffix.lower()
    if suffix not in _SUFFIXES:
        raise ConfigError(
            f"{target}: a suffix among {', '.join(_SUFFIXES)} expected, got {suffix or 'none'}"
        )
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


def _printable(table: pa.Table) -> pa.Table:
    """Floats as their shortest exact text; Arrow may round."""
    for i, name in enumerate(table.column_names):
        if pa.types.is_floating(table.schema.field(i).type):
            texts = [None if v is None else repr(v) for v in table[name].to_pylist()]
            table = table.set_column(i, name, from_texts(texts))
    return table
