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

from bdl.formats.addresses import address_of, uploaded
from bdl.formats.outputs import temporary_path, writing


@contextmanager
def atomic(path: str | Path, *, folder: bool = False) -> Iterator[Path]:
    """A temporary path beside ``path``, renamed to it when the block ends without an error.

    Parent folders are created. An error of the disk (no space left, no permission) becomes an
    `OutputError`; the target is then as it was before.

    Parameters
    ----------
    path
        The target.
    folder
        Whether it is a folder: the temporary one is empty, and replaces a folder that exists.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp()) / "many"
    >>> for name in ("a.txt", "b.txt"):
    ...     with atomic(folder, folder=True) as temporary:
    ...         _ = (temporary / name).write_text("whole")
    >>> with atomic(folder / "c.txt") as temporary:
    ...     _ = temporary.write_text("whole")
    >>> sorted(entry.name for entry in folder.iterdir())
    ['b.txt', 'c.txt']
    """
    if address_of(path) is not None:
        with uploaded(path, folder=folder) as temporary:
            yield temporary
        return
    target = Path(path)
    temporary = temporary_path(target)
    with writing(str(target), "nothing was changed"):
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            if folder:
                temporary.mkdir()
            yield temporary
            if folder and target.exists():
                old = temporary.with_suffix(".old")
                os.replace(target, old)
                os.replace(temporary, target)
                shutil.rmtree(old)
            else:
                os.replace(temporary, target)
        finally:
            if folder:
                shutil.rmtree(temporary, ignore_errors=True)
            else:
                with suppress(OSError):
                    temporary.unlink(missing_ok=True)
