"""File systems whose n-th write fails: local files within this process, and an fsspec one."""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.memory import MemoryFileSystem


class Counter:
    """Counts the calls that change a file system, and lets one of them fail."""

    def __init__(self, failing: int | None) -> None:
        self.failing, self.calls = failing, 0

    def call(self) -> None:
        """Count a call; the chosen one fails as on a full disk, or as a broken one."""
        self.calls += 1
        if self.calls == self.failing:
            number = (errno.ENOSPC, errno.EIO)[self.calls % 2]
            raise OSError(number, os.strerror(number))


class _Written:
    """A file whose writes and closing are counted; a failing write leaves half of its bytes."""

    def __init__(self, file: Any, counter: Counter) -> None:
        self._file, self._counter = file, counter

    def write(self, data: Any) -> Any:
        try:
            self._counter.call()
        except OSError:
            self._file.write(data[: len(data) // 2])
            raise
        return self._file.write(data)

    def close(self) -> None:
        self._file.close()
        self._counter.call()

    def __enter__(self) -> _Written:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


@contextmanager
def local_faults(folder: Path, failing: int | None) -> Iterator[Counter]:
    """Let one of the calls fail that write into a folder: open, write, close, rename, mkdir."""
    counter, inside = Counter(failing), os.path.abspath(folder)
    real = {"open": io.open, "os_open": os.open}
    moves = {name: getattr(os, name) for name in ("replace", "rename", "mkdir")}

    def ours(path: Any) -> bool:
        return isinstance(path, str | os.PathLike) and os.path.abspath(path).startswith(inside)

    def opened(file: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
        if not ours(file) or not set(mode) & set("wax+"):
            return real["open"](file, mode, *rest, **options)
        counter.call()
        return _Written(real["open"](file, mode, *rest, **options), counter)

    def os_opened(path: Any, flags: int, *rest: Any, **options: Any) -> int:
        unnamed = flags & os.O_TMPFILE == os.O_TMPFILE  # tried only: others are made without it
        if ours(path) and flags & (os.O_WRONLY | os.O_RDWR) and not unnamed:
            counter.call()
        return int(real["os_open"](path, flags, *rest, **options))

    def counted(name: str) -> Callable[..., Any]:
        def call(path: Any, *rest: Any, **options: Any) -> Any:
            if ours(path) and not (name == "mkdir" and os.path.isdir(path)):
                counter.call()
            return moves[name](path, *rest, **options)

        return call

    builtins.open = io.open = opened  # type: ignore[assignment]
    os.open = os_opened  # type: ignore[assignment]
    for name in moves:
        setattr(os, name, counted(name))
    try:
        yield counter
    finally:
        builtins.open = io.open = real["open"]  # type: ignore[assignment]
        os.open = real["os_open"]  # type: ignore[assignment]
        for name, move in moves.items():
            setattr(os, name, move)


class FaultyFileSystem(MemoryFileSystem):  # type: ignore[misc]
    """Files in memory; of the calls that change them, one may fail before or after its work."""

    protocol = "faulty"
    store: dict[str, Any] = {}  # noqa: RUF012
    pseudo_dirs = [""]  # noqa: RUF012
    counter = Counter(None)
    after = False  # whether the failing call has done its work, as if its answer was lost

    @classmethod
    def _strip_protocol(cls, path: str) -> str:
        return str(super()._strip_protocol(path.removeprefix("faulty://")))

    def _changed(self, work: Callable[[], Any]) -> Any:
        if not self.after:
            self.counter.call()
            return work()
        result = work()
        self.counter.call()
        return result

    def pipe_file(self, path: str, value: bytes, **options: Any) -> None:
        self._changed(lambda: super(FaultyFileSystem, self).pipe_file(path, value, **options))

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        self._changed(lambda: super(FaultyFileSystem, self).makedirs(path, exist_ok=exist_ok))

    def rm_file(self, path: str) -> None:
        self._changed(lambda: super(FaultyFileSystem, self).rm_file(path))


fsspec.register_implementation("faulty", FaultyFileSystem, clobber=True)


@contextmanager
def remote_faults(failing: int | None, *, after: bool) -> Iterator[Counter]:
    """Let one of the calls to ``faulty://`` fail."""
    FaultyFileSystem.counter, FaultyFileSystem.after = Counter(failing), after
    try:
        yield FaultyFileSystem.counter
    finally:
        FaultyFileSystem.counter = Counter(None)
