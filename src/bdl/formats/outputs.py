"""Outputs: checks before hours of work that they can be written, and leftovers of killed writers.

A writer's temporary file is named by its machine, process and a random number of that process, so
that a later run can distinguish leftovers of a killed run from files that another run is writing.
"""

from __future__ import annotations

import os
import platform
import re
import secrets
import shutil
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bdl.errors import BdlError, OutputError
from bdl.formats.addresses import access, address_of

_MACHINE = f"{zlib.crc32(platform.node().encode()):08x}"
_PROCESS = secrets.token_hex(4)
_TEMPORARY = re.compile(r"^\.(.+)\.([0-9a-f]{8})-(\d+)-([0-9a-f]{8})-[0-9a-f]{8}\.(tmp|old)$")


def temporary_path(target: Path) -> Path:
    """A new name beside the target, hidden and never taken.

    Examples
    --------
    >>> temporary_path(Path("a/b.csv")).parent
    PosixPath('a')
    """
    name = target.name.encode()[:100].decode(errors="ignore")
    number = secrets.token_hex(4)
    return target.with_name(f".{name}.{_MACHINE}-{os.getpid()}-{_PROCESS}-{number}.tmp")


def check_output(path: str | Path, *, folder: bool = False, flag: str = "--out") -> None:
    """Raise an error at once if a file or folder could not be written later.

    Nothing is created; parents need not exist yet. Temporary files that a killed run left beside
    the target are removed. The message names the option (``flag``) that gave the target.

    Examples
    --------
    >>> check_output("/dev/null/model")
    Traceback (most recent call last):
    bdl.errors.OutputError: --out /dev/null/model: cannot be written: Not a directory; ...
    """
    target = Path(path)
    if address_of(path) is not None:
        with access(path) as (fs, name):
            fs.exists(name)  # says at once that a bucket cannot be reached
        return
    with writing(f"{flag} {str(target)[:300]}", "nothing was done"):
        if target.exists() and target.is_dir() != folder:
            expected, other = ("folder", "file") if folder else ("file", "folder")
            raise OutputError(f"{flag} {target}: a {other}; the name of a {expected} expected")
        place = target if folder else target.absolute().parent
        while not place.exists():
            place = place.absolute().parent
        tempfile.TemporaryFile(dir=place).close()
        remove_leftovers(target.absolute().parent, target.name)
        if folder:
            remove_leftovers(target)


@contextmanager
def writing(name: str, outcome: str) -> Iterator[None]:
    """Turn an error of the disk into an `OutputError` that names the target and the outcome."""
    try:
        yield
    except BdlError:
        raise
    except OSError as error:
        raise OutputError(
            f"{name}: cannot be written: {error.strerror or error}; {outcome}"
        ) from error


def remove_leftovers(folder: Path, name: str | None = None) -> None:
    """Remove the temporary files of ended processes, of one target or of all in a folder.

    A folder whose replacement was interrupted (`bdl.formats.atomic`) gets its name back.
    """
    try:
        entries = [*os.scandir(folder)]
    except OSError:
        return
    for entry in entries:
        parts = _TEMPORARY.match(entry.name)
        if parts is None or parts[2] != _MACHINE or not (name is None or name.startswith(parts[1])):
            continue
        if not _is_alive(int(parts[3]), parts[4]):
            with suppress(OSError):
                target = folder / parts[1]
                if parts[5] == "old" and not target.exists():
                    os.replace(entry.path, target)
                elif entry.is_dir(follow_symlinks=False):
                    shutil.rmtree(entry.path, ignore_errors=True)
                else:
                    os.unlink(entry.path)


def _is_alive(process: int, number: str) -> bool:
    """Whether the process that made a temporary file runs: it may have our id, and not be us."""
    if process == os.getpid():
        return number == _PROCESS
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        pass
    return True
