"""Recordings: sampled values with their clock, and lazy collections of them.

Time is in seconds from a recording's start: sample ``i`` stands at ``i * period``. Missing
samples are NaN. Local time (hour of day, weekday) follows the UTC offset that the data carry,
through daylight-saving changes, and never the time zone of the machine.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError

Values = NDArray[np.float32]


@dataclass(frozen=True)
class RecordingInfo:
    """All that is known of a recording without reading its values.

    Parameters
    ----------
    id : unique name within a collection.
    samples : length in samples.
    channels : channel names, in the order of the columns of the values.
    period : seconds from one sample to the next.
    start : time-zone aware time of sample 0, or None where only relative time is known.
    offset_changes : ``(sample, seconds east of UTC)`` for every change of the UTC offset after
        sample 0, in order (daylight saving).
    group : subject, patient or site: what splits and bootstraps must not tear apart.

    >>> RecordingInfo(id="a", samples=720, channels=("enmo",), period=5.0).duration
    3600.0
    """

    id: str
    samples: int
    channels: tuple[str, ...]
    period: float
    start: datetime | None = None
    offset_changes: tuple[tuple[int, int], ...] = ()
    group: str | None = None

    def __post_init__(self) -> None:
        if not self.id:
            raise InputError("a recording needs an id, got an empty text")
        if not (np.isfinite(self.period) and self.period > 0):
            raise InputError(
                f"recording {self.id!r}: the period must be a positive number of seconds, "
                f"got {self.period}"
            )
        if self.samples < 0:
            raise InputError(f"recording {self.id!r}: {self.samples} samples; 0 or more expected")
        places = [sample for sample, _ in self.offset_changes]
        if sorted(set(places)) != places:
            raise InputError(f"recording {self.id!r}: offset changes out of order: {places}")
        if len(set(self.channels)) != len(self.channels):
            raise InputError(f"recording {self.id!r}: channel names repeat: {self.channels}")
        if self.start is not None and self.start.utcoffset() is None:
            raise InputError(
                f"recording {self.id!r}: start {self.start.isoformat()} has no UTC offset; "
                "local hours would be a guess"
            )

    @property
    def duration(self) -> float:
        """Length in seconds: samples times period."""
        return self.samples * self.period

    def local_time(
        self, samples: NDArray[np.integer]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Local hour of day (0 to 23) and weekday (Monday 0) of the given samples.

        >>> from datetime import timezone, timedelta
        >>> start = datetime(2018, 3, 11, 1, 30, tzinfo=timezone(timedelta(hours=-5)))
        >>> info = RecordingInfo("a", 4, ("x",), 1800.0, start, offset_changes=((1, -4 * 3600),))
        >>> [part.tolist() for part in info.local_time(np.arange(4))]
        [[1, 3, 3, 4], [6, 6, 6, 6]]
        """
        if self.start is None:
            raise InputError(
                f"recording {self.id!r} has no start time, so it has no hour of day or weekday; "
                "switch calendar features off or give a start"
            )
        offset = self.start.utcoffset()
        assert offset is not None
        changes = np.array([at for at, _ in self.offset_changes], dtype=np.int64)
        offsets = np.array([offset.total_seconds(), *(s for _, s in self.offset_changes)])
        current = offsets[np.searchsorted(changes, samples, side="right")]
        local = self.start.timestamp() + np.asarray(samples) * self.period + current
        seconds = np.floor(local + 1e-6).astype(np.int64)
        # 1970-01-01 was a Thursday, weekday 3.
        return seconds // 3600 % 24, (seconds // 86400 + 3) % 7


@dataclass(frozen=True, eq=False)
class Recording:
    """One recording: an info and its values.

    Parameters
    ----------
    info : the metadata.
    values : array of shape (samples, channels), float32, NaN where a sample is missing.

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
        names = tuple(channels) if channels is not None else _default_names(array.shape[1])
        info = RecordingInfo(
            id, len(array), names, float(period), start, tuple(offset_changes), group
        )
        return cls(info, array)

    @property
    def id(self) -> str:
        """The recording's unique name."""
        return self.info.id

    def __repr__(self) -> str:
        info = self.info
        channels = "channel" if len(info.channels) == 1 else "channels"
        names = ", ".join(info.channels[:4]) + (", ..." if len(info.channels) > 4 else "")
        group = f", group {info.group}" if info.group else ""
        return (
            f"Recording {info.id!r}: {info.samples:,} samples x {len(info.channels)} {channels} "
            f"({names}), every {info.period:g} s, {info.duration / 3600:.2f} h{group}"
        )


def _default_names(count: int) -> tuple[str, ...]:
    return tuple(f"channel_{i}" for i in range(count))


@dataclass(frozen=True, eq=False)
class Recordings:
    """A lazy collection: all infos at hand, values read one recording at a time.

    Parameters
    ----------
    infos : metadata of each recording; ids are unique.
    read : returns the values (samples, channels) of one recording; may be a memory map. It may
        have a method ``chunks`` that gives them in order, some rows at a time.
    notes : what was found or changed on opening, for a person to read.

    >>> pair = Recordings.of([Recording.of(np.ones(9), id=i, period=1.0) for i in "ab"])
    >>> len(pair), pair["b"].values.shape, pair.ids
    (2, (9, 1), ('a', 'b'))
    """

    infos: tuple[RecordingInfo, ...]
    read: Callable[[RecordingInfo], Values] = field(repr=False)
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for info in self.infos:
            if info.id in seen:
                raise InputError(f"two recordings have the id {info.id!r}; ids must be unique")
            seen.add(info.id)
        object.__setattr__(self, "_place", {info.id: i for i, info in enumerate(self.infos)})

    @classmethod
    def of(cls, recordings: Iterable[Recording]) -> Recordings:
        """A collection of recordings that are in memory already."""
        listed = [*recordings]
        held = {recording.info.id: recording.values for recording in listed}
        return cls(tuple(r.info for r in listed), lambda info: held[info.id])

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids, in order."""
        return tuple(info.id for info in self.infos)

    @property
    def groups(self) -> dict[str, str]:
        """Group of each recording; a recording without one is its own group."""
        return {info.id: info.group or info.id for info in self.infos}

    def info(self, id: str) -> RecordingInfo:
        """Metadata of one recording, by id."""
        place: dict[str, int] = self.__dict__["_place"]
        if id not in place:
            raise InputError(f"no recording {id!r} among {len(self)} ({_some(self.ids)})")
        return self.infos[place[id]]

    def __getitem__(self, id: str) -> Recording:
        info = self.info(id)
        return Recording(info, self.read(info))

    def __contains__(self, id: object) -> bool:
        return id in self.__dict__["_place"]

    def __len__(self) -> int:
        return len(self.infos)

    def __iter__(self) -> Iterator[Recording]:
        return (Recording(info, self.read(info)) for info in self.infos)

    def select(self, ids: Iterable[str]) -> Recordings:
        """The named recordings, in the order given."""
        return replace(self, infos=tuple(self.info(id) for id in ids))


def _some(ids: tuple[str, ...]) -> str:
    return ", ".join(ids[:3]) + (", ..." if len(ids) > 3 else "")
