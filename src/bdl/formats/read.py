"""Reading recordings from any source: the kind is told by the suffix, or by what a folder holds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bdl.errors import InputError
from bdl.formats.files import matching
from bdl.formats.layout import Layout
from bdl.formats.sources import SUFFIXES
from bdl.formats.store import is_store, open_store
from bdl.formats.tables import read_tables
from bdl.recording import Recordings

EDF = (".edf", ".bdf")
WFDB = (".hea",)


def read_recordings(
    path: str | Path, *, pattern: str | None = None, layout: Layout | None = None, **options: Any
) -> Recordings:
    """Open recordings; their values are read on demand.

    Parameters
    ----------
    path : a file, a folder, a glob, or a prepared store.
    pattern : which files of a folder, such as ``**/*.parquet``.
    layout : columns and clock of tables; ``options`` are its fields, by name.

    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "walk.csv"
    >>> _ = file.write_text("x,y\\n1,2\\n3,4\\n")
    >>> read_recordings(file, period=0.02)["walk"].values.tolist()
    [[1.0, 2.0], [3.0, 4.0]]
    """
    chosen = (layout or Layout()).replace(**options) if layout else Layout(**options)
    place = Path(path)
    if place.is_dir() and pattern is None and is_store(place):
        return open_store(place)
    files = matching(path, (*SUFFIXES, *EDF, *WFDB), pattern)
    kinds = {file.suffix.lower() for file in files}
    families = [family for family in (SUFFIXES, EDF, WFDB) if kinds & set(family)]
    odd = kinds.difference(SUFFIXES, EDF, WFDB)
    if odd or len(families) > 1:
        raise InputError(
            f"{path}: files of one kind expected, got {', '.join(sorted(kinds))}; choose by a "
            "pattern such as '*.parquet'"
        )
    if families[0] is EDF:
        from bdl.formats.edf import read_edf

        return read_edf(files, chosen)
    if families[0] is WFDB:
        from bdl.formats.wfdb import read_wfdb

        return read_wfdb(files, chosen)
    return read_tables(files, chosen)
