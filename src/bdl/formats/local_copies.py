"""Local copies of files at addresses, in a bounded cache.

``BDL_CACHE`` names its folder, ``BDL_CACHE_BYTES`` its size (10 GB by default); the least recently
used copies are removed first. A copy is used again as long as the server names the same version.
"""

from __future__ import annotations

import errno
import hashlib
import math
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from bdl.errors import InputError
from bdl.formats.addresses import access, address_of, version_of

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EACCES, errno.EROFS)
_LARGEST = 10_000_000_000  # bytes of the cache
_SHARE = 64  # the cache is looked through when this part of it has been fetched since
_fetched: float = math.inf  # bytes that this process has fetched since it looked


def fetch(path: Path, *, beside: bool = False) -> Path:
    """A local copy of a file at an address, with files of its stem ``beside`` it (WFDB records)."""
    with access(path) as (fs, name):
        versions = {name: version_of(fs.info(name))}

        def names() -> dict[str, str]:
            by_name = {name: path.name}
            if beside:
                others = fs.ls(str(Path(name).parent), detail=False)
                by_name |= {
                    other: Path(other).name for other in others if Path(other).stem == path.stem
                }
            return by_name

        return _copy(path, versions, fs, names) / path.name


def fetch_folder(path: Path, suffixes: Iterable[str]) -> Path:
    """A local copy of the files with one of the suffixes in a folder at an address, or below it."""
    endings = tuple(suffixes)
    with access(path) as (fs, name):
        fs.invalidate_cache()
        known = fs.find(name, detail=True)
        files = {file: known[file] for file in sorted(known) if file.lower().endswith(endings)}
        if not files:
            raise InputError(
                f"{address_of(path)}: no file there has a suffix among {', '.join(endings)}"
            )
        versions = {file: version_of(about) for file, about in files.items()}
        below = {file: file.removeprefix(f"{name.rstrip('/')}/") for file in files}
        return _copy(path, versions, fs, lambda: below)


def _copy(
    path: Path, versions: Mapping[str, str], fs: Any, names: Callable[[], Mapping[str, str]]
) -> Path:
    """The folder of the cache that holds files, by their names in it; fetched if it is new."""
    content = "\0".join([f"{address_of(path)}", *(f"{n} {v}" for n, v in versions.items())])
    folder = _cache_folder() / hashlib.sha256(content.encode()).hexdigest()[:24]
    if folder.exists():
        with suppress(OSError):  # another process may remove it
            os.utime(folder)
            return folder
    _fill(folder, fs, names())
    _evict(folder)
    return folder


def _fill(folder: Path, fs: Any, names: Mapping[str, str]) -> None:
    """Fetch files into a folder of the cache, all or none."""
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".part-") as part:
            for name, below in names.items():
                target = Path(part) / below
                target.parent.mkdir(parents=True, exist_ok=True)
                fs.get_file(name, str(target))
            with suppress(OSError):  # another process was faster
                os.rename(part, folder)
            os.makedirs(part, exist_ok=True)  # so that its removal finds something
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise
        raise InputError(
            f"{folder.parent}: the cache cannot be written: {error.strerror}; set BDL_CACHE to a "
            "folder with more room, or BDL_CACHE_BYTES to a smaller size"
        ) from error


def _cache_folder() -> Path:
    """Folder of the local copies."""
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(os.environ.get("BDL_CACHE") or Path(home) / "bdl" / "files")


def _evict(used: Path) -> None:
    """Remove the least recently used copies until the cache is small enough."""
    global _fetched
    limit = int(os.environ.get("BDL_CACHE_BYTES") or _LARGEST)
    _fetched += _size(used)
    if _fetched < limit / _SHARE:
        return
    _fetched = 0
    copies = []
    for folder in used.parent.iterdir():
        with suppress(OSError):
            copies.append((folder.stat().st_mtime_ns, _size(folder), folder))
    total = sum(size for _, size, _ in copies)
    for _, size, folder in sorted(copies):
        if total <= limit - limit / _SHARE:
            return
        if folder != used and not folder.name.startswith("."):
            shutil.rmtree(folder, ignore_errors=True)
            total -= size


def _size(folder: Path) -> int:
    """Bytes of the files of a folder and of those below."""
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file())
