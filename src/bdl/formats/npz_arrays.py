"""Arrays of an NPZ archive, whose headers are checked before anything is read.

The size that an array claims must be the size of its member, all members together must fit what
the archive's length allows (`bdl.limits`), and pickled objects are refused.
"""

from __future__ import annotations

import zipfile
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.formats.files import existing, reading
from bdl.limits import CHANNELS, check_expansion

WHAT = "an NPZ archive"
Shapes = dict[str, tuple[int, ...]]


def array_shapes(path: Path) -> Shapes:
    """Shape of each array of an archive, from its header.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.npz"
    >>> np.savez(file, values=np.zeros((4, 2)))
    >>> array_shapes(file)
    {'values': (4, 2)}
    """
    shapes: Shapes = {}
    with reading(existing(path), WHAT), zipfile.ZipFile(path) as archive:
        members = archive.infolist()
        if len(members) > CHANNELS:
            raise InputError(f"{path}: {len(members):,} arrays; at most {CHANNELS:,} expected")
        total = sum(member.file_size for member in members)
        check_expansion(total, path.stat().st_size, path)
        for member in members:
            name = member.filename.removesuffix(".npy")
            if name in shapes:
                raise InputError(f"{path}: two arrays are called {name!r}")
            shapes[name] = _shape(path, archive, member, name)
    return shapes


def _shape(
    path: Path, archive: zipfile.ZipFile, member: zipfile.ZipInfo, name: str
) -> tuple[int, ...]:
    with archive.open(member) as stream:
        version = np.lib.format.read_magic(stream)
        if version == (1, 0):
            shape, _, kind = np.lib.format.read_array_header_1_0(stream)
        elif version == (2, 0):
            shape, _, kind = np.lib.format.read_array_header_2_0(stream)
        else:
            raise InputError(f"{path}: array {name!r} has an unknown version")
        if kind.hasobject:
            raise InputError(
                f"{path}: array {name!r} holds pickled objects, which could run code when loaded; "
                "save it as numbers or text"
            )
        claimed = stream.tell() + prod(shape) * kind.itemsize
    if min(shape, default=0) < 0 or claimed != member.file_size:
        raise InputError(
            f"{path}: array {name!r} claims {claimed} bytes, the archive holds {member.file_size}"
        )
    return tuple(shape)


def read_array(path: Path, name: str) -> NDArray[Any]:
    """One array of an archive whose headers `array_shapes` has checked.

    Examples
    --------
    >>> import tempfile
    >>> file = Path(tempfile.mkdtemp()) / "a.npz"
    >>> np.savez(file, values=np.arange(3))
    >>> read_array(file, "values").tolist()
    [0, 1, 2]
    """
    with reading(path, WHAT), np.load(path, allow_pickle=False) as archive:
        array: NDArray[Any] = archive[name]
    return array
