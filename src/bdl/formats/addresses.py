"""Addresses of object stores and servers, in place of paths: s3://, gs://, https://, memory://.

An address may pass through `pathlib`, which writes ``s3://bucket/a`` as ``s3:/bucket/a``;
`address_of` restores it, so that paths and addresses are treated alike. fsspec does the rest;
credentials come from its configuration or the environment, and an address that holds them is
refused, since messages name addresses.

Parquet tables and prepared stores are read by ranges: only the bytes that are needed. A file that
must be local to be read (EDF, WFDB, other tables, models) is fetched: `bdl.formats.local_copies`.
"""

from __future__ import annotations

import io
import re
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from bdl.errors import BdlError, ConfigError, InputError, MissingExtraError, OutputError

T = TypeVar("T")
R = TypeVar("R")
_ADDRESS = re.compile(r"([a-z][a-z0-9+]+):/{1,2}(?!/)(.+)", re.DOTALL)
_REQUESTS = 16  # at a time
_SMALL = 1 << 16  # bytes of a file that is not worth several requests


def address_of(path: str | Path) -> str | None:
    """The address in a path or text; None if it is a local path.

    Examples
    --------
    >>> address_of("s3://bucket/a.edf"), address_of(Path("s3://bucket") / "a.edf")
    ('s3://bucket/a.edf', 's3://bucket/a.edf')
    >>> address_of("nights/a.edf") is None
    True
    """
    parts = _ADDRESS.fullmatch(str(path))
    if parts is None or parts[1] in ("file", "local"):
        return None
    if "@" in parts[2].partition("/")[0]:
        raise ConfigError(
            f"{parts[1]}://...: credentials do not belong into an address; give them by the "
            "environment or the configuration of fsspec"
        )
    return f"{parts[1]}://{parts[2]}"


@contextmanager
def access(path: str | Path) -> Iterator[tuple[Any, str]]:
    """The file system of an address and the name in it; errors become an `InputError`."""
    import fsspec

    address = address_of(path)
    assert address is not None
    try:
        yield fsspec.core.url_to_fs(address)
    except BdlError:
        raise
    except FileNotFoundError as error:
        raise InputError(f"{address}: no such file") from error
    except ImportError as error:
        raise MissingExtraError(f"{address}: {error}; pip install 'bdl[s3]' for s3://") from error
    except Exception as error:
        message = " ".join(str(error).split())[:300]
        raise InputError(
            f"{address}: cannot be reached: {type(error).__name__}: {message}"
        ) from error


def exists(path: Path) -> bool:
    """Whether a path or address exists."""
    if address_of(path) is None:
        return path.exists()
    with access(path) as (fs, name):
        fs.invalidate_cache()  # other processes write as well
        return bool(fs.exists(name))


def is_folder(path: Path) -> bool:
    """Whether a path or address is a folder."""
    if address_of(path) is None:
        return path.is_dir()
    with access(path) as (fs, name):
        return bool(fs.isdir(name))


def file_size(path: Path) -> int:
    """Bytes of a file."""
    if address_of(path) is None:
        return path.stat().st_size
    with access(path) as (fs, name):
        return int(fs.size(name))


def read_range(path: Path, start: int, stop: int) -> bytes:
    """Some bytes of a file."""
    if address_of(path) is None:
        with open(path, "rb") as stream:
            stream.seek(start)
            return stream.read(stop - start)
    with access(path) as (fs, name):
        content: bytes = fs.cat_file(name, start=start, end=stop)
    # A plain web server may not support ranges and send the whole file.
    return content if len(content) <= stop - start else content[start:stop]


class RangeFile(io.RawIOBase):
    """A file at an address that is read by ranges: one request per read, or one for a small file.

    Examples
    --------
    >>> import fsspec
    >>> fsspec.filesystem("memory").pipe("/doc/a.bin", b"0123456789")
    >>> with RangeFile(Path("memory://doc/a.bin")) as file:
    ...     file.seek(-4, io.SEEK_END), file.read(2)
    (6, b'67')
    """

    def __init__(self, path: Path) -> None:
        self.path, self.size, self._place = path, file_size(path), 0
        self._content = read_range(path, 0, self.size) if self.size <= _SMALL else None

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._place, io.SEEK_END: self.size}[whence]
        self._place = start + offset
        return self._place

    def readinto(self, buffer: Any) -> int:
        stop = min(self._place + len(buffer), self.size)
        if stop <= self._place:
            return 0
        if self._content is None:
            content = read_range(self.path, self._place, stop)
        else:
            content = self._content[self._place : stop]
        buffer[: len(content)] = content
        self._place += len(content)
        return len(content)


def version(path: Path) -> str:
    """What changes when a file changes, known without reading it: its ETag, or size and time."""
    if address_of(path) is None:
        status = path.stat()
        return f"{status.st_size} {status.st_mtime_ns}"
    with access(path) as (fs, name):
        fs.invalidate_cache(name)  # a listing may be older than a change
        return version_of(fs.info(name))


def versions(paths: Sequence[Path]) -> list[str]:
    """The `version` of each file; several requests to servers run at a time."""
    return ask_all(version, paths, any(address_of(path) is not None for path in paths))


def ask_all(ask: Callable[[T], R], items: Sequence[T], remote: bool) -> list[R]:
    """Results of a function for items in order; several at a time if it asks a server."""
    if not remote:
        return [ask(item) for item in items]
    with ThreadPoolExecutor(_REQUESTS) as several:
        return [*several.map(ask, items)]


def version_of(about: Mapping[str, Any]) -> str:
    """The version of a file by what a server says about it: its size, and the first tag it has."""
    tags = ("ETag", "etag", "md5Hash", "LastModified", "mtime", "created")
    return f"{about.get('size')} {next((about[tag] for tag in tags if about.get(tag)), '')}"


def listed(path: str | Path, suffixes: Iterable[str], pattern: str | None) -> list[Path]:
    """The files of an address, a folder or a glob, sorted; see `bdl.formats.files.matching`."""
    endings = tuple(suffixes)
    with access(path) as (fs, name):
        fs.invalidate_cache()
        if any(mark in name for mark in "*?["):
            refuse_pattern(path, pattern)
            names = fs.glob(name)
        elif fs.isdir(name):
            entries = fs.glob(f"{name}/{pattern}") if pattern else fs.ls(name, detail=False)
            names = [entry for entry in entries if pattern or entry.lower().endswith(endings)]
        else:
            names = [name]
            if fs.isfile(name):
                refuse_pattern(path, pattern)
        files = [Path(fs.unstrip_protocol(entry)) for entry in names if fs.isfile(entry)]
    files = [file for file in files if not file.name.startswith(".")]
    if not files:
        expected = pattern or f"a suffix among {', '.join(endings)}"
        raise InputError(f"{address_of(path)}: no file there matches {expected} (--pattern)")
    return sorted(files)


def refuse_pattern(path: str | Path, pattern: str | None) -> None:
    """Raise an error for a pattern beside a path that is no folder."""
    if pattern is not None:
        raise ConfigError(
            f"--pattern {pattern}: chooses files of a folder, so it has no effect with {path}; "
            "leave it out, or give the folder"
        )


@contextmanager
def uploaded(path: str | Path, *, folder: bool = False) -> Iterator[Path]:
    """A temporary local file or folder that is put to an address when the block ends.

    An object appears whole or not at all; ``manifest.json`` of a folder comes last.
    """
    address = address_of(path)
    with tempfile.TemporaryDirectory() as temporary:
        place = Path(temporary) / (Path(path).name or "out")
        if folder:
            place.mkdir()
        yield place
        try:
            with access(path) as (fs, name):
                if not folder:
                    fs.makedirs(str(Path(name).parent), exist_ok=True)
                    fs.put_file(str(place), name)
                    return
                made = sorted(
                    place.iterdir(), key=lambda file: (file.name == "manifest.json", file)
                )
                for file in made:
                    fs.put_file(str(file), f"{name}/{file.name}")
                names = {file.name for file in made}
                for old in fs.ls(name, detail=False):
                    if Path(old).name not in names:
                        fs.rm_file(old)
        except InputError as error:
            raise OutputError(f"{address}: cannot be written: {error}") from error


def remove(path: Path) -> None:
    """Remove a file, if it exists."""
    if address_of(path) is None:
        path.unlink(missing_ok=True)
        return
    with access(path) as (fs, name):
        if fs.exists(name):
            fs.rm_file(name)
