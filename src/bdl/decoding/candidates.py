"""Times and scores of one recording, before they become a table of events."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.density import Density
from bdl.errors import ConfigError, InputError, some
from bdl.events import Events
from bdl.intervals import IntervalType


class Candidates(NamedTuple):
    """Candidate detections of one recording and one event type."""

    time: NDArray[np.floating[Any]]  # times in seconds, increasing
    score: NDArray[np.floating[Any]]
    # Seconds at which each was issued, where that is known: detectors with a lag.
    issued: NDArray[np.float64] | None = None

    @classmethod
    def in_order(
        cls, time: NDArray[np.floating[Any]], score: NDArray[np.floating[Any]]
    ) -> Candidates:
        """Candidates in order of time; of those at one time the highest score is first."""
        order = np.lexsort((-score, time))
        return cls(time[order], score[order])

    def above(self, threshold: float) -> Candidates:
        """Those whose score is at least the threshold."""
        return self.select(self.score >= threshold)

    def select(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Candidates:
        """The rows of a mask or of an index array."""
        issued = None if self.issued is None else self.issued[rows]
        return Candidates(self.time[rows], self.score[rows], issued)


ByType = dict[str, Candidates]


def above(candidates: ByType, threshold: float) -> ByType:
    """The candidates of each type whose score is at least the threshold."""
    return {event: part.above(threshold) for event, part in candidates.items()}


def to_events(decoded: Iterable[tuple[str, Mapping[str, Candidates]]]) -> Events:
    """One table of events: recordings in the order given, types in theirs, then by time.

    Examples
    --------
    >>> to_events([("a", {"beat": Candidates(np.array([1.0]), np.array([0.5]))})])
    Events: 1 in 1 recording, scored
      beat  1
    """
    parts = [(id, event, part) for id, by_type in decoded for event, part in by_type.items()]
    if not parts:
        return Events.empty(scored=True)
    recordings = tuple(sorted({id for id, _, _ in parts}))
    types = tuple(sorted({event for _, event, _ in parts}))
    recording_code = {id: code for code, id in enumerate(recordings)}
    type_code = {event: code for code, event in enumerate(types)}
    counts = [len(part.time) for _, _, part in parts]
    issued = [part.issued for _, _, part in parts if part.issued is not None]
    codes = np.array([(recording_code[id], type_code[event]) for id, event, _ in parts], np.int32)
    return Events(
        recordings,
        types,
        np.repeat(codes[:, 0], counts),
        np.repeat(codes[:, 1], counts),
        np.concatenate([part.time for _, _, part in parts], dtype=np.float64),
        np.concatenate([part.score for _, _, part in parts], dtype=np.float64),
        issued=np.concatenate(issued) if len(issued) == len(parts) else None,
    )


def steps(seconds: float, step: float) -> int:
    """The number of steps that last at least this many seconds, up to a millionth.

    Periods that differ by less than a millionth are one period and give one number of steps.

    Examples
    --------
    >>> steps(60.0, 5.0), steps(60.0, 5.000001), steps(61.0, 5.0)
    (12, 12, 13)
    """
    exact = min(seconds / step, 2.0**53)
    nearest = round(exact)
    return nearest if abs(exact - nearest) <= 1e-6 * exact else math.ceil(exact)


def unique(densities: Iterable[Density]) -> Iterator[Density]:
    """Yield the densities; a second one of the same recording is an error."""
    seen: set[str] = set()
    for density in densities:
        if density.recording in seen:
            raise InputError(
                f"two densities of recording {density.recording!r}: their events would be mixed"
            )
        seen.add(density.recording)
        yield density


def check_intervals(intervals: tuple[IntervalType, ...], types: Iterable[str]) -> None:
    """Raise an error if an end of an interval is none of the event types."""
    known = set(types)
    for interval in intervals:
        for event in (interval.onset, interval.offset):
            if event not in known:
                raise ConfigError(
                    f"interval {interval.name!r} (--interval): its end {event!r} is no event type "
                    f"of the densities, which have {some(sorted(known))}"
                )
