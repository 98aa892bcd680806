"""The lock of a run directory: one runner at a time.

On a local path it is an operating-system lock (`filelock`), which ends with its process, even if
that is killed. On any other file system it is a lease: a file that is renewed every `BEAT` seconds
and expires `STALE` seconds after the last renewal. In both cases ``lock.json`` names the holder.
"""

from __future__ import annotations

import json
import os
import platform
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from filelock import FileLock, Timeout

from bdl.errors import StudyError
from bdl.runs.background import repeated
from bdl.runs.write_errors import write_errors

BEAT = 20.0
STALE = 90.0
_held: set[str] = set()  # tokens of the leases that this process holds


@contextmanager
def hold(fs: Any, root: str, *, local: bool) -> Iterator[None]:
    """Hold the lock of a run directory while the block runs; an error names another holder.

    Examples
    --------
    >>> import fsspec, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with hold(fsspec.filesystem("file"), folder, local=True):
    ...     with hold(fsspec.filesystem("file"), folder, local=True):
    ...         pass
    Traceback (most recent call last):
    bdl.errors.StudyError: ... another runner ...
    """
    holder = _Holder(fs, f"{root}/lock.json")
    with _file_lock(f"{root}/lock", holder) if local else _lease(holder):
        try:
            yield
        finally:
            with write_errors(root), suppress(FileNotFoundError):
                fs.rm_file(holder.path)


class _Holder:
    """The file that names the process that holds the lock."""

    def __init__(self, fs: Any, path: str) -> None:
        self.fs, self.path = fs, path
        self.token = uuid.uuid4().hex

    def read(self) -> dict[str, Any]:
        """The current holder; empty if there is none."""
        try:
            content: dict[str, Any] = json.loads(self.fs.cat_file(self.path))
            float(content["time"]), content["token"]
        except FileNotFoundError:
            return {}
        except (ValueError, TypeError, KeyError, RecursionError) as error:
            raise StudyError(
                f"{self.path}: damaged; if no other runner uses this directory, remove it"
            ) from error
        return content

    def is_stale(self, other: dict[str, Any]) -> bool:
        """Whether another entry has expired, or is of this process and no longer held."""
        ours = (other.get("host"), other.get("pid")) == (platform.node(), os.getpid())
        return time.time() - other["time"] >= STALE or (ours and other["token"] not in _held)

    def write(self) -> None:
        """Write that this process holds the lock."""
        process = {"host": platform.node(), "pid": os.getpid(), "time": time.time()}
        with write_errors(self.path):
            self.fs.pipe_file(self.path, json.dumps({"token": self.token, **process}).encode())

    def refusal(self) -> StudyError:
        """The error that names the holder of the lock."""
        other: dict[str, Any] = {}
        with suppress(StudyError):
            other = self.read()
        return StudyError(
            f"{self.path}: another runner uses this directory (process {other.get('pid', '?')} on "
            f"{other.get('host', '?')}); give each runner its own --out"
        )


@contextmanager
def _file_lock(path: str, holder: _Holder) -> Iterator[None]:
    lock = FileLock(path)
    with write_errors(path):
        try:
            lock.acquire(blocking=False)
        except Timeout:
            raise holder.refusal() from None
    try:
        holder.write()
        yield
    finally:
        lock.release()


@contextmanager
def _lease(holder: _Holder) -> Iterator[None]:
    def refuse_other() -> None:
        other = holder.read()
        if other and other["token"] != holder.token and not holder.is_stale(other):
            raise holder.refusal()

    def renew() -> None:
        with suppress(StudyError):
            holder.write()

    refuse_other()
    _held.add(holder.token)
    try:
        holder.write()
        refuse_other()  # of two that wrote at once, the last writer continues
        with repeated(renew, BEAT):
            yield
    finally:
        _held.discard(holder.token)
