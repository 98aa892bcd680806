"""Tile indexes of recordings: each pyramid is built once, stored in a file, opened on demand."""

from __future__ import annotations

import hashlib
import json
import threading
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bdl.density import Density
from bdl.errors import BdlError, InputError
from bdl.explore.pyramid import Pyramid, build, stored
from bdl.recording import Recordings

OPEN = 8  # recordings that are kept open
SMALL = 1 << 22  # numbers; a recording of fewer is indexed while the page waits


@dataclass
class TileIndex:
    """Pyramids of recordings by id, kept in a folder, or in memory if that is None.

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> index = TileIndex(Recordings.of([Recording.of(np.ones(9), id="a", period=1.0)]), None)
    >>> index.ready("a"), index.open("a").tile(0, 0, [0]).shape
    (1.0, (1, 9))
    """

    recordings: Recordings
    folder: Path | None
    _open: OrderedDict[str, tuple[Pyramid, object]] = field(default_factory=OrderedDict, init=False)
    _progress: dict[str, float | BdlError] = field(default_factory=dict, init=False)
    _lock: threading.RLock = field(default_factory=threading.RLock, init=False)

    def open(self, id: str) -> Pyramid:
        """The pyramid of a recording, built first if necessary."""
        with self._lock:
            stamp = self._stamp(id)
            if id in self._open and self._open[id][1] == stamp:
                self._open.move_to_end(id)
                return self._open[id][0]
            pyramid = self._opened(id, stamp)
            self._open[id] = (pyramid, stamp)
            while len(self._open) > OPEN:
                self._open.popitem(last=False)
            return pyramid

    def is_open(self, id: str) -> bool:
        """Whether a recording is open, so that its tiles can be read at once."""
        return id in self._open

    def ready(self, id: str) -> float:
        """Share of a recording that is indexed; 1 if it can be drawn, otherwise indexing starts.

        A recording that is missing or damaged raises its error.
        """
        info = self.recordings.info(id)
        with self._lock:
            progress = self._progress.get(id)
            if isinstance(progress, BdlError):
                del self._progress[id]  # another attempt may succeed
                raise progress
            if progress is not None:
                return progress
            stamp = self._stamp(id)
            is_current = id in self._open and self._open[id][1] == stamp
            file = self._file(id, stamp)
            small = info.samples * len(info.channels) <= SMALL
            if is_current or small or (file is not None and file.exists()):
                self.open(id)
                return 1.0
            self._progress[id] = 0.0
        threading.Thread(target=self._build, args=(id, stamp), daemon=True).start()
        return 0.0

    def _build(self, id: str, stamp: object) -> None:
        def report(done: int, total: int) -> None:
            self._progress[id] = min(done / max(total, 1), 0.999)

        try:
            pyramid = self._opened(id, stamp, report)
        except BdlError as error:
            self._progress[id] = error
        except Exception as error:
            self._progress[id] = InputError(f"recording {id!r}: cannot be indexed: {error}")
        else:
            with self._lock:
                self._open[id] = (pyramid, stamp)
                self._progress.pop(id, None)

    def _opened(
        self, id: str, stamp: object, progress: Callable[[int, int], None] | None = None
    ) -> Pyramid:
        info = self.recordings.info(id)
        file = self._file(id, stamp)
        size = (info.samples, len(info.channels))
        if file is None:
            entries = build(self.recordings.chunks(id), *size, progress=progress)
        else:
            if not file.exists():
                self._remove_others(file)
            entries = stored(file, lambda: self.recordings.chunks(id), *size, progress)
        return Pyramid(self.recordings[id].values, entries)

    def _stamp(self, id: str) -> object:
        """Names, sizes and times of the files of a recording."""
        stamps = []
        for file in self.recordings.files(id):
            try:
                status = file.stat()
            except OSError as error:
                raise InputError(
                    f"recording {id!r}: {file} cannot be read: {error.strerror}"
                ) from error
            stamps.append((file.name, status.st_size, status.st_mtime_ns))
        return tuple(stamps)

    def _file(self, id: str, stamp: object) -> Path | None:
        """Path of the index; ids may contain any character, so the name is a hash."""
        if self.folder is None:
            return None
        info = self.recordings.info(id)
        content = json.dumps([stamp, info.samples, info.channels])
        return self.folder / f"{_hash(id)}-{_hash(content)}.npy"

    def _remove_others(self, file: Path) -> None:
        """Remove indexes of earlier versions of the recording."""
        for other in file.parent.glob(f"{file.name.partition('-')[0]}-*.npy"):
            with suppress(OSError):
                other.unlink()


def density_pyramid(density: Density) -> Pyramid:
    """The pyramid of a density, in memory; its samples are the bins, its channels the types.

    Examples
    --------
    >>> density = Density("a", np.zeros((3, 1), np.float32), ("beat",), 1.0, 10, 25)
    >>> density_pyramid(density).levels
    2
    """
    values = np.ascontiguousarray(density.values)
    return Pyramid(values, build([values], *values.shape))


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:20]
