"""Files and folders that are written whole or not at all.

A writer works on a temporary file in the target's folder, which is renamed when it is whole: a
killed or failed write leaves the old file, or none.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bdl.errors import BdlError, OutputError
from bdl.formats.addresses import address_of, uploaded
from bdl.formats.outputs import temporary_path


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """A temporary path beside ``path``, renamed to it when the block ends without an error.

    Parent folders are created. An error of the disk (no space left, no permission) becomes an
    `OutputError`; the target is then as it was before.

    Parameters
    ----------
    path
        The target.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> with atomic(folder / "a.txt") as temporary:
    ...     _ = temporary.write_text("whole")
    >>> [entry.name for entry in folder.iterdir()]
    ['a.txt']
    """
    if address_of(path) is not None:
        with uploaded(path) as temporary:
            yield temporary
        return
    with _beside(path) as (target, temporary):
        try:
            yield temporary
            os.replace(temporary, target)
        finally:
            with suppress(OSError):
                temporary.unlink(missing_ok=True)


@contextmanager
def atomic_folder(path: str | Path) -> Iterator[Path]:
    """A temporary, empty folder that replaces ``path`` when the block ends without an error.

    Parameters
    ----------
    path
        The target.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "many"
    >>> for name in ("a.txt", "b.txt"):
    ...     with atomic_folder(folder) as temporary:
    ...         _ = (temporary / name).write_text("whole")
    >>> [entry.name for entry in folder.iterdir()]
    ['b.txt']
    """
    if address_of(path) is not None:
        with uploaded(path, folder=True) as temporary:
            yield temporary
        return
    with _beside(path) as (target, temporary):
        try:
            temporary.mkdir()
            yield temporary
            if target.exists():
                old = temporary.with_suffix(".old")
                os.replace(target, old)
                os.replace(temporary, target)
                shutil.rmtree(old)
            else:
                os.replace(temporary, target)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)


@contextmanager
def _beside(path: str | Path) -> Iterator[tuple[Path, Path]]:
    """The target, its parents created, and a temporary path; errors become `OutputError`."""
    target = Path(path)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        yield target, temporary_path(target)
    except OSError as error:
        if isinstance(error, BdlError):
            raise
        raise OutputError(
            f"{target}: cannot be written: {error.strerror or error}; nothing was changed"
        ) from error
