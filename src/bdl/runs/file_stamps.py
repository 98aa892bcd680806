"""Stamps of files: what tells, without reading a file, that it is as it was."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from bdl.formats.addresses import address_of, version
from bdl.formats.files import reading


def file_stamps(files: Iterable[Path], folder: Path) -> dict[str, list[int] | str]:
    """Size, times and inode of files, by their path from a folder: equal stamps, equal files.

    Of a file at an address, it is the version that its server names.

    The time of the last change of the inode is among them, which no program can set back.
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
