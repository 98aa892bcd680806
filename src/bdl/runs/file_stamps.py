"""Stamps of files, which show without reading a file whether it has changed."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from bdl.formats.addresses import address_of, version
from bdl.formats.files import reading


def file_stamps(files: Iterable[Path], folder: Path) -> dict[str, list[int] | str]:
    """Size, times and inode of files, by their path from a folder.

    The time of the last change of the inode, which no program can set, is included. For a file at
    an address, the stamp is the version that its server names.
    """
    stamps: dict[str, list[int] | str] = {}
    for file in sorted(files):
        if (address := address_of(file)) is not None:
            stamps[address] = version(file)
            continue
        with reading(file, "a file of the data"):
            stat = file.stat()
        name = os.path.relpath(file, folder)
        stamps[name] = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    return stamps
