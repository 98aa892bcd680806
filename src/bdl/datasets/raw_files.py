"""Checks of raw files that several data sets share; errors name what is missing."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from bdl.errors import InputError, some


def published_files(folder: Path, *names: str, what: str) -> list[Path]:
    """Paths of named files in a folder."""
    if not folder.is_dir():
        raise InputError(f"{folder}: not a folder; {what} expected in it")
    missing = [name for name in names if not (folder / name).exists()]
    if missing:
        raise InputError(
            f"{folder}: {' and '.join(missing)} missing; {what} needs {', '.join(names)}; "
            f"the folder contains {contents(folder)}"
        )
    return [folder / name for name in names]


def contents(folder: Path) -> str:
    """The first names in a folder, for error messages."""
    return some(sorted(entry.name for entry in folder.iterdir()), most=4)


def check_columns(present: Sequence[str], needed: Sequence[str], file: Path) -> None:
    """Raise an error if a table lacks columns."""
    missing = [name for name in needed if name not in present]
    if missing:
        columns = "column" if len(missing) == 1 else "columns"
        raise InputError(
            f"{file}: {columns} {', '.join(missing)} missing; it has {', '.join(present)}"
        )
