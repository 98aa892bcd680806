"""Intervals: (recording, label, start, end), and the onset and offset events they stand for.

Every interval is two events, named by an `IntervalType`. Back from events, the k-th onset of a
recording and type is paired with its k-th offset, both in order of time; an onset without its
offset, or an end before its start, is an error: nothing is lost silently.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bdl.errors import InputError
from bdl.events import Events, IntervalType

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Intervals:
    """A table of intervals in seconds from each recording's start; rows keep their order.

    >>> rest = Intervals.of("a", "rest", [0.0, 9.0], [4.0, 9.5])
    >>> rest.to_events().time.tolist()
    [0.0, 9.0, 4.0, 9.5]
    >>> rest
    Intervals: 2 in 1 recording, 4.5 s in all
      rest  2
    """

    recording: tuple[str, ...]
    label: tuple[str, ...]
    start: Floats
    end: Floats

    def __post_init__(self) -> None:
        bad = ~(self.start <= self.end) | ~np.isfinite(self.start) | ~np.isfinite(self.end)
        if bad.any():
            at = int(np.flatnonzero(bad)[0])
            raise InputError(
                f"interval {self.label[at]!r} of recording {self.recording[at]!r}, row {at}: a "
                f"start not after its end expected, got {self.start[at]} to {self.end[at]}"
            )

    @classmethod
    def of(
        cls,
        recording: str | Sequence[str],
        label: str | Sequence[str],
        start: ArrayLike,
        end: ArrayLike,
    ) -> Intervals:
        """Intervals from arrays of one length; a single name stands for all rows."""
        starts = np.atleast_1d(np.asarray(start, dtype=np.float64))
        ends = np.atleast_1d(np.asarray(end, dtype=np.float64))
        names = [
            (column,) * len(starts) if isinstance(column, str) else tuple(column)
            for column in (recording, label)
        ]
        lengths = {len(starts), len(ends), *map(len, names)}
        if len(lengths) != 1:
            raise InputError(f"intervals need columns of one length, got {sorted(lengths)}")
        return cls(names[0], names[1], starts, ends)

    @property
    def types(self) -> tuple[IntervalType, ...]:
        """An interval type with the usual names for every label, sorted."""
        return tuple(IntervalType.named(name) for name in sorted(set(self.label)))

    def to_events(self, types: Iterable[IntervalType] | None = None) -> Events:
        """All onsets, then all offsets, in the rows' order; labels without a type are an error.

        >>> Intervals.of("a", "sleep", 1.0, 2.0).to_events(
        ...     [IntervalType("sleep", "onset", "wakeup")]
        ... ).types
        ('onset', 'wakeup')
        """
        named = {kind.name: kind for kind in (self.types if types is None else types)}
        for label in self.label:
            if label not in named:
                raise InputError(
                    f"interval label {label!r} has no interval type; there are "
                    f"{', '.join(named) or 'none'}"
                )
        onsets = [named[label].onset for label in self.label]
        offsets = [named[label].offset for label in self.label]
        return Events.of(
            [*self.recording, *self.recording],
            [*onsets, *offsets],
            np.concatenate([self.start, self.end]),
        )

    @classmethod
    def from_events(cls, events: Events, types: Iterable[IntervalType]) -> Intervals:
        """Intervals of the given types; events of other types are left out.

        >>> events = Events.of("a", ["x:onset", "x:offset"], [1.0, 3.0])
        >>> Intervals.from_events(events, [IntervalType.named("x")]).end.tolist()
        [3.0]
        """
        parts = [cls._paired(events, kind) for kind in types]
        return cls(
            tuple(name for part in parts for name in part.recording),
            tuple(name for part in parts for name in part.label),
            np.concatenate([np.zeros(0), *(part.start for part in parts)]),
            np.concatenate([np.zeros(0), *(part.end for part in parts)]),
        )

    @classmethod
    def _paired(cls, events: Events, kind: IntervalType) -> Intervals:
        first, last = pairs(events, kind)
        names = tuple(events.recording[first].tolist())
        return cls(names, (kind.name,) * len(names), events.time[first], events.time[last])

    @classmethod
    def none(cls) -> Intervals:
        """No intervals."""
        return cls((), (), np.zeros(0), np.zeros(0))

    def __len__(self) -> int:
        return len(self.start)

    def __repr__(self) -> str:
        used = len(set(self.recording))
        head = (
            f"Intervals: {len(self):,} in {used:,} recording{'' if used == 1 else 's'}, "
            f"{float((self.end - self.start).sum()):g} s in all"
        )
        names = sorted(set(self.label))
        width = max(map(len, names), default=0)
        return "\n".join([head, *(f"  {n:<{width}}  {self.label.count(n):,}" for n in names)])


def pairs(events: Events, kind: IntervalType) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Rows of the onsets and of their offsets, by recording and time.

    >>> events = Events.of("a", ["x:offset", "x:onset"], [2, 1])
    >>> first, last = pairs(events, IntervalType.named("x"))
    >>> first.tolist(), last.tolist()
    ([1], [0])
    """
    rows = []
    for name in (kind.onset, kind.offset):
        wanted = events.types.index(name) if name in events.types else -1
        of_type = np.flatnonzero(events.type_code == wanted)
        rows.append(of_type[np.lexsort((events.time[of_type], events.recording_code[of_type]))])
    first, last = rows
    counts = [np.bincount(events.recording_code[r], minlength=len(events.recordings)) for r in rows]
    if (counts[0] != counts[1]).any():
        at = int(np.flatnonzero(counts[0] != counts[1])[0])
        raise InputError(
            f"recording {events.recordings[at]!r}: {counts[0][at]} {kind.onset!r} but "
            f"{counts[1][at]} {kind.offset!r}; every interval needs both"
        )
    return first, last
