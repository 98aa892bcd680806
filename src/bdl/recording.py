"""Recordings: sampled values with their clock, and lazy collections of them.

Time is in seconds from a recording's start: sample ``i`` is taken at ``i * period``. Missing
samples are NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError, some
from bdl.frames import Tabular
from bdl.recording_info import RecordingInfo
from bdl.value_readers import (
    ChangedReader,
    FunctionReader,
    JoinedReader,
    MemoryReader,
    ValueReader,
    Values,
)

__all__ = ["Recording", "RecordingInfo", "Recordings", "Values"]


@dataclass(frozen=True, eq=False)
class Recording:
    """One recording: its metadata and its values.

    Parameters
    ----------
    info
        The metadata.
    values
        Array of shape (samples, channels), float32, NaN where a sample is missing.

    Examples
    --------
    >>> Recording.of(np.zeros((720, 1)), id="a", period=5.0, channels=["enmo"])
    Recording 'a': 720 samples x 1 channel (enmo), every 5 s, 1.00 h
    """

    info: RecordingInfo
    values: Values = field(repr=False)

    def __post_init__(self) -> None:
        expected = (self.info.samples, len(self.info.channels))
        if self.values.shape != expected:
            raise InputError(
                f"recording {self.info.id!r}: values of shape {expected} (samples, channels) "
                f"expected, got {self.values.shape}"
            )
        if self.values.dtype != np.float32:
            raise InputError(
                f"recording {self.info.id!r}: float32 values expected, got {self.values.dtype}"
            )

    @classmethod
    def of(
        cls,
        values: NDArray[np.generic],
        *,
        id: str,
        period: float,
        channels: Iterable[str] | None = None,
        start: datetime | None = None,
        offset_changes: Iterable[tuple[int, int]] = (),
        group: str | None = None,
        units: Iterable[str] = (),
    ) -> Recording:
        """A recording from any array of shape (samples, channels) or (samples,)."""
        array = np.asarray(values, dtype=np.float32)
        if array.ndim == 1:
            array = array[:, None]
        if array.ndim != 2:
            raise InputError(
                f"recording {id!r}: values of shape (samples, channels) expected, got {array.shape}"
            )
        if np.isinf(array).any():
            row, column = np.argwhere(np.isinf(array))[0]
            raise InputError(
                f"recording {id!r}: infinite value at sample {row}, channel {column}; "
                "a missing sample is NaN"
            )
        if channels is None:
            channels = (f"channel_{i}" for i in range(array.shape[1]))
        info = RecordingInfo(
            id, len(array), tuple(channels), float(period), start, tuple(offset_changes), group,
            units=tuple(units),
        )  # fmt: skip
        return cls(info, array)

    @property
    def id(self) -> str:
        """The recording's unique name."""
        return self.info.id

    def __repr__(self) -> str:
        info = self.info
        channels = "channel" if len(info.channels) == 1 else "channels"
        group = f", group {info.group}" if info.group else ""
        return (
            f"Recording {info.id!r}: {info.samples:,} samples x {len(info.channels)} {channels} "
            f"({some(info.channels, most=4)}), every {info.period:g} s, "
            f"{info.duration / 3600:.2f} h{group}"
        )


@dataclass(frozen=True, eq=False)
class Recordings(Tabular):
    """A lazy collection: the metadata of all recordings, and values that are read on demand.

    Parameters
    ----------
    infos
        Metadata of each recording; ids are unique.
    reader
        Source of the values: a `bdl.value_readers.ValueReader`, or a function that returns the
        values (samples, channels) of one recording.
    notes
        Messages for the user about how the recordings were opened.
    left_out
        Those of the notes that name a file or recording which could not be read and was left out.

    Examples
    --------
    >>> pair = Recordings.of([Recording.of(np.ones(9), id=i, period=1.0) for i in "ab"])
    >>> len(pair), pair["b"].values.shape, pair.ids
    (2, (9, 1), ('a', 'b'))
    """

    infos: tuple[RecordingInfo, ...]
    reader: ValueReader | Callable[[RecordingInfo], Values] = field(repr=False)
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        index = {info.id: number for number, info in enumerate(self.infos)}
        for number, info in enumerate(self.infos):
            if index[info.id] != number:
                raise InputError(f"two recordings have the id {info.id!r}; ids must be unique")
        object.__setattr__(self, "_index", index)
        if not isinstance(self.reader, ValueReader):
            object.__setattr__(self, "reader", FunctionReader(self.reader))

    @classmethod
    def of(cls, recordings: Iterable[Recording], *, files: Iterable[Path] = ()) -> Recordings:
        """A collection of recordings that are in memory, and of the files they come from."""
        listed = [*recordings]
        arrays = {recording.info.id: recording.values for recording in listed}
        return cls(tuple(r.info for r in listed), MemoryReader(arrays, tuple(files)))

    @classmethod
    def concat(cls, parts: Iterable[Recordings]) -> Recordings:
        """Several collections as one; ids must be unique over all of them.

        Examples
        --------
        >>> parts = [Recordings.of([Recording.of(np.ones(9), id=i, period=1.0)]) for i in "ab"]
        >>> Recordings.concat(parts).ids
        ('a', 'b')
        """
        listed = [*parts]
        readers = {info.id: part._reader for part in listed for info in part.infos}
        return cls(
            tuple(info for part in listed for info in part.infos),
            JoinedReader(readers),
            tuple(note for part in listed for note in part.notes),
            tuple(note for part in listed for note in part.left_out),
        )

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, in order."""
        return tuple(info.id for info in self.infos)

    @property
    def groups(self) -> dict[str, str]:
        """Group of each recording; a recording without one is its own group."""
        return {info.id: info.group or info.id for info in self.infos}

    def __repr__(self) -> str:
        hours = sum(info.duration for info in self.infos) / 3600
        return f"Recordings: {len(self.infos):,} of {hours:.2f} h in all ({some(self.ids, most=4)})"

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per recording, its period in seconds."""
        return {
            "recording": [*self.ids],
            "period": [info.period for info in self.infos],
            "samples": [info.samples for info in self.infos],
            "channels": [", ".join(info.channels) for info in self.infos],
            "group": [*self.groups.values()],
        }

    def info(self, id: str) -> RecordingInfo:
        """Metadata of one recording, by id."""
        index: dict[str, int] = self.__dict__["_index"]
        if id not in index:
            raise InputError(f"no recording {id!r} among {len(self)} ({some(self.ids)})")
        return self.infos[index[id]]

    def chunks(self, id: str) -> Iterator[Values]:
        """Values of one recording in order, some rows at a time; some sources are read whole.

        Examples
        --------
        >>> pair = Recordings.of([Recording.of(np.ones(9), id=i, period=1.0) for i in "ab"])
        >>> [chunk.shape for chunk in pair.chunks("a")]
        [(9, 1)]
        """
        return self._reader.chunks(self.info(id))

    def files(self, id: str) -> tuple[Path, ...]:
        """The files that the values of one recording come from; none if it is not from files."""
        return self._reader.files(self.info(id))

    def change(
        self,
        change: Callable[[RecordingInfo, Values], Values],
        infos: Iterable[RecordingInfo] | None = None,
    ) -> Recordings:
        """The same recordings with changed values; chunks and files stay those of the source.

        Parameters
        ----------
        change
            Called with the new metadata and some rows (rows, channels); returns as many rows.
            It must not depend on other rows, so that chunks give the same values as the whole.
        infos
            New metadata of each recording, with the same ids; None keeps them.

        Examples
        --------
        >>> ones = Recordings.of([Recording.of(np.ones(3), id="a", period=1.0)])
        >>> ones.change(lambda info, values: values * 2)["a"].values.ravel().tolist()
        [2.0, 2.0, 2.0]
        """
        old = {info.id: info for info in self.infos}
        changed = self.infos if infos is None else tuple(infos)
        return replace(self, infos=changed, reader=ChangedReader(self._reader, old, change))

    @property
    def _reader(self) -> ValueReader:
        assert isinstance(self.reader, ValueReader)
        return self.reader

    def __getitem__(self, id: str) -> Recording:
        info = self.info(id)
        return Recording(info, self._reader.read(info))

    def __contains__(self, id: object) -> bool:
        return id in self.__dict__["_index"]

    def __len__(self) -> int:
        return len(self.infos)

    def __iter__(self) -> Iterator[Recording]:
        return (Recording(info, self._reader.read(info)) for info in self.infos)

    def annotate(self, spans: Mapping[str, Iterable[tuple[float, float]]]) -> Recordings:
        """The recordings that have annotated spans; nothing is learned or scored outside them.

        Parameters
        ----------
        spans
            For each recording (start, end) in seconds; a recording without any is left out, and
            a note says so.

        Examples
        --------
        >>> pair = Recordings.of([Recording.of(np.ones(9), id=i, period=1.0) for i in "ab"])
        >>> pair.annotate({"a": [(0.0, 5.0)]}).notes
        ('1 of 2 recordings have no annotated span and are left out',)
        """
        for id in spans:
            self.info(id)
        infos = tuple(
            replace(info, annotated=tuple(sorted(spans[info.id])))
            for info in self.infos
            if info.id in spans
        )
        out = len(self) - len(infos)
        note = f"{out} of {len(self)} recordings have no annotated span and are left out"
        return replace(self, infos=infos, notes=self.notes + ((note,) if out else ()))

    def select(self, ids: Iterable[str]) -> Recordings:
        """The recordings with the given ids, in that order."""
        infos = tuple(self.info(id) for id in ids)
        return replace(self, infos=infos, reader=self._reader.only([info.id for info in infos]))
