"""One runner a run directory.

On a local path the lock is the kernel's (``flock``): it goes with the process, even a killed
one. On any other file system it is a lease, a file renewed every `BEAT` seconds that counts as
left behind after `STALE` seconds without renewal.
"""

from __future__ import annotations

import fcntl
import json
import os
import platform
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bdl.errors import StudyError
from bdl.study.background import repeated

BEAT = 20.0
STALE = 90.0


@contextmanager
def hold(fs: Any, root: str, *, local: bool) -> Iterator[None]:
    """Hold the lock of a run directory, or say who does.

    >>> import fsspec, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with hold(fsspec.filesystem("file"), folder, local=True):
    ...     with hold(fsspec.filesystem("file"), folder, local=True):
    ...         pass
    Traceback (most recent call last):
    bdl.errors.StudyError: ... another runner ...
    """
    with _flock(Path(root)) if local else _lease(fs, f"{root}/lock.json"):
        yield


@contextmanager
def _flock(root: Path) -> Iterator[None]:
    with (root / "lock").open("a+") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            raise StudyError(
                f"{root}: another runner is at work here ({file.read() or 'unknown'}); "
                "two runners need two directories"
            ) from None
        file.truncate(0)
        file.write(f"process {os.getpid()} on {platform.node()}")
        file.flush()
        yield


@contextmanager
def _lease(fs: Any, path: str) -> Iterator[None]:
    token = uuid.uuid4().hex

    def read() -> dict[str, Any]:
        try:
            data: dict[str, Any] = json.loads(fs.cat_file(path))
        except (FileNotFoundError, json.JSONDecodeError):
            return {}
        return data

    def write() -> None:
        who = {"token": token, "host": platform.node(), "pid": os.getpid(), "time": time.time()}
        fs.pipe_file(path, json.dumps(who).encode())

    def refuse_other() -> None:
        held = read()
        if held and held["token"] != token and time.time() - held["time"] < STALE:
            raise StudyError(
                f"{path}: another runner is at work here (process {held['pid']} on "
                f"{held['host']}); two runners need two directories"
            )

    refuse_other()
    write()
    refuse_other()

    def renew() -> None:
        with suppress(OSError):
            write()

    try:
        with repeated(renew, BEAT):
            yield
    finally:
        with suppress(FileNotFoundError):
            fs.rm_file(path)
