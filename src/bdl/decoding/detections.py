"""What decoders pass around before a table is made: times and scores of one recording and type."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.density import Density
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.intervals import IntervalType

Floats = NDArray[np.floating[Any]]


class Detections(NamedTuple):
    """Times (seconds, increasing) and scores of one recording and event type.

    >>> Detections(np.array([1.0, 2.0]), np.array([0.5, 0.1])).above(0.2).time.tolist()
    [1.0]
    """

    time: Floats
    score: Floats

    def above(self, cutoff: float) -> Detections:
        """Those whose score reaches the cutoff."""
        return self.pick(self.score >= cutoff)

    def pick(self, rows: NDArray[np.bool_] | NDArray[np.int64]) -> Detections:
        """The chosen rows."""
        return Detections(self.time[rows], self.score[rows])


ByType = dict[str, Detections]


def to_events(found: Iterable[tuple[str, Mapping[str, Detections]]]) -> Events:
    """One table: recordings in the order given, types in theirs, then by time.

    >>> to_events([("a", {"beat": Detections(np.array([1.0]), np.array([0.5]))})])
    Events: 1 in 1 recording, scored
      beat  1
    """
    parts = [(id, event, one) for id, types in found for event, one in types.items()]
    if not parts:
        return Events.empty(scored=True)
    recordings = tuple(sorted({id for id, _, _ in parts}))
    types = tuple(sorted({event for _, event, _ in parts}))
    place = {name: i for i, name in enumerate(recordings)}
    kind = {name: i for i, name in enumerate(types)}
    counts = [len(one.time) for _, _, one in parts]
    codes = np.array([(place[id], kind[event]) for id, event, _ in parts], np.int32)
    return Events(
        recordings,
        types,
        np.repeat(codes[:, 0], counts),
        np.repeat(codes[:, 1], counts),
        np.concatenate([one.time for _, _, one in parts]),
        np.concatenate([one.score for _, _, one in parts]),
    )


def steps(seconds: float, step: float) -> int:
    """How many steps make at least so many seconds; a hair of rounding does not add one.

    >>> steps(1800.0, 5.0), steps(0.3, 0.1), steps(1.01, 1.0)
    (360, 3, 2)
    """
    return math.ceil(seconds / step - 1e-9)


def unique(densities: Iterable[Density]) -> Iterator[Density]:
    """Pass densities on; a second one of the same recording is an error."""
    seen: set[str] = set()
    for one in densities:
        if one.recording in seen:
            raise InputError(f"two densities of recording {one.recording!r}: its events would mix")
        seen.add(one.recording)
        yield one


def check_kind(density: Density, kind: str, decoder: str) -> None:
    """Refuse a density of the wrong kind, with the decoder that fits it."""
    if density.kind != kind:
        other = "Transitions" if density.kind == "state" else "Peaks or ExpectedAP"
        raise ConfigError(
            f"{decoder} decodes densities of kind {kind!r}, but that of recording "
            f"{density.recording!r} is of kind {density.kind!r}: use {other}"
        )


def check_intervals(intervals: tuple[IntervalType, ...], types: Iterable[str], why: str) -> None:
    """Refuse to work without interval types, or with one whose event types are not there."""
    if not intervals:
        raise ConfigError(f"{why} needs interval types, to know which event types alternate")
    known = set(types)
    for one in intervals:
        for name in (one.onset, one.offset):
            if name not in known:
                raise ConfigError(
                    f"{why}: interval {one.name!r} has event type {name!r}, which is not decoded; "
                    f"there are {', '.join(sorted(known))}"
                )
