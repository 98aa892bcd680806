"""Readers of the values of recordings, in chunks or at once.

Every collection of recordings has one `ValueReader`. It returns the values of a recording in order,
some rows at a time, so that a recording need not fit into memory, and the files that they come
from, so that changes of the files are noticed.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bdl.arrays import Singles
from bdl.errors import InputError
from bdl.recording_info import RecordingInfo

Values = Singles

CHUNK = 1 << 21  # numbers per chunk of values that are in memory, or mapped into it: 8 MiB


class ValueReader(ABC):
    """Reads the values of recordings. A subclass defines `chunks`, and `files` if there are any."""

    @abstractmethod
    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        """Values of one recording in order, some rows at a time: arrays (rows, channels)."""

    def read(self, info: RecordingInfo) -> Values:
        """All values of one recording: (samples, channels)."""
        values = np.empty((info.samples, len(info.channels)), np.float32)
        row = 0
        for chunk in self.chunks(info):
            if row + len(chunk) > info.samples:
                raise InputError(
                    f"recording {info.id!r}: {info.samples} samples expected, got more"
                )
            values[row : row + len(chunk)] = chunk
            row += len(chunk)
        if row != info.samples:
            raise InputError(f"recording {info.id!r}: {info.samples} samples expected, got {row}")
        return values

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        """The files that the values of one recording come from; none if it is not from files."""
        return ()

    def only(self, ids: Collection[str]) -> ValueReader:
        """A reader of some recordings, without what the others need: it is sent to workers."""
        return self


class WholeReader(ValueReader):
    """Reads recordings whole, or maps them into memory. A subclass defines `read`."""

    @abstractmethod
    def read(self, info: RecordingInfo) -> Values:
        """All values of one recording: (samples, channels)."""

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        values = self.read(info)
        rows = max(1, CHUNK // max(1, len(info.channels)))
        for first in range(0, info.samples, rows):
            yield values[first : first + rows]


@dataclass(frozen=True)
class FunctionReader(WholeReader):
    """Values that a function returns."""

    function: Callable[[RecordingInfo], Values] = field(repr=False)

    def read(self, info: RecordingInfo) -> Values:
        return self.function(info)


@dataclass(frozen=True)
class MemoryReader(WholeReader):
    """Arrays in memory by id, and the files that all of them come from."""

    arrays: Mapping[str, Values] = field(repr=False)
    sources: tuple[Path, ...] = ()

    def read(self, info: RecordingInfo) -> Values:
        return self.arrays[info.id]

    def only(self, ids: Collection[str]) -> MemoryReader:
        return MemoryReader({id: self.arrays[id] for id in ids}, self.sources)

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        return self.sources


@dataclass(frozen=True)
class ChangedReader(ValueReader):
    """Values of another reader, changed row by row."""

    reader: ValueReader
    infos: Mapping[str, RecordingInfo] = field(repr=False)
    change: Callable[[RecordingInfo, Values], Values] = field(repr=False)

    def read(self, info: RecordingInfo) -> Values:
        return self.change(info, self.reader.read(self.infos[info.id]))

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        for chunk in self.reader.chunks(self.infos[info.id]):
            yield self.change(info, chunk)

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        return self.reader.files(self.infos[info.id])

    def only(self, ids: Collection[str]) -> ChangedReader:
        infos = {id: self.infos[id] for id in ids}
        return ChangedReader(self.reader.only(ids), infos, self.change)


@dataclass(frozen=True)
class JoinedReader(ValueReader):
    """Recordings of several readers: the reader of each id."""

    readers: Mapping[str, ValueReader] = field(repr=False)

    def read(self, info: RecordingInfo) -> Values:
        return self.readers[info.id].read(info)

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        return self.readers[info.id].chunks(info)

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        return self.readers[info.id].files(info)

    def only(self, ids: Collection[str]) -> JoinedReader:
        return JoinedReader({id: self.readers[id].only([id]) for id in ids})
