"""Features of more recordings than fit into memory: the rest in a temporary file, mapped.

Windows are slices of the features, so that only what a batch reads is brought into memory, and
the system may drop it again. The file has no name: it is removed with the process. It is in the
folder for temporary files (``TMPDIR``), which should be on a disk.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.binning import Binned
from bdl.errors import OutputError
from bdl.memory import available_memory

SHARE = 4  # features may take the available memory divided by this
_ALIGNED = 64  # bytes


class _Place(NamedTuple):
    """Where an array is in the file."""

    offset: int
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


def keep(features: Iterable[Binned], memory: int | None = None) -> list[Binned]:
    """Return the features in order; those that exceed ``memory`` bytes are in a file.

    By default a quarter of the available memory is used.

    Examples
    --------
    >>> binned = Binned(np.ones((4, 2), np.float32), None, None, np.zeros(4, bool))
    >>> [type(part.values).__name__ for part in keep([binned, binned], memory=50)]
    ['ndarray', 'memmap']
    """
    left = available_memory() // SHARE if memory is None else memory
    entries: list[Binned | dict[str, _Place | None]] = []
    with tempfile.TemporaryFile(prefix="bdl-features-") as file:
        for binned in features:
            arrays = {name: getattr(binned, name) for name in Binned.__dataclass_fields__}
            left -= sum(array.nbytes for array in arrays.values() if array is not None)
            if left >= 0:
                entries.append(binned)
                continue
            try:
                entries.append({name: _append(file, array) for name, array in arrays.items()})
            except OSError as error:
                raise OutputError(
                    f"{tempfile.gettempdir()}: features do not fit into memory, and cannot be "
                    f"written there either: {error.strerror}; set TMPDIR to a folder with more room"
                ) from error
        file.flush()
        content = np.memmap(file, np.uint8, "r") if file.tell() else None
    return [entry if isinstance(entry, Binned) else _mapped(content, entry) for entry in entries]


def _append(file: Any, array: NDArray[Any] | None) -> _Place | None:
    if array is None:
        return None
    file.write(bytes(-file.tell() % _ALIGNED))
    place = _Place(file.tell(), array.shape, array.dtype)
    file.write(np.ascontiguousarray(array).data)
    return place


def _mapped(content: NDArray[np.uint8] | None, places: dict[str, _Place | None]) -> Binned:
    arrays: dict[str, Any] = {}
    for name, place in places.items():
        if place is None or content is None:
            arrays[name] = None
            continue
        size = int(np.prod(place.shape)) * place.dtype.itemsize
        part = content[place.offset : place.offset + size]
        arrays[name] = part.view(place.dtype).reshape(place.shape)
    return Binned(**arrays)
