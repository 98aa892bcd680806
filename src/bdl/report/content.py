"""What a report is made of: the truth, one or more systems, and whatever else is at hand.

Only truth and detections are needed. Recordings bring the signal, densities the density and the
calibration of counts, histories the training curves, provenance the last section.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bdl.density import Density
from bdl.errors import ConfigError
from bdl.evaluation import Matches, match
from bdl.evaluation.matching import EventFree
from bdl.events import Events
from bdl.recording import Recordings

EpochCurve = tuple[list[float], list[float]]
NOBODY = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True)
class System:
    """One set of detections under a name.

    Parameters
    ----------
    name : shown in tables and legends.
    detections : scored events.
    densities : by recording id, where they are at hand.
    history : training curves, (epochs, values) by quantity: ``loss``, and any score.
    """

    name: str
    detections: Events
    densities: Mapping[str, Density] = field(default_factory=dict)
    history: Mapping[str, EpochCurve] = field(default_factory=dict)


@dataclass(frozen=True)
class Content:
    """All that a page shows.

    Parameters
    ----------
    title : heading of the page.
    truth : annotated events.
    systems : at least one; the first is the one the summary speaks of.
    tolerances : seconds, at most 31 of them.
    event_free : whether recordings without events count (see `bdl.evaluation.match`).
    recordings : signals and durations.
    note : a sentence after the heading, on what a reader must know first.
    provenance : protocol, seeds, versions and hashes, shown as they are.
    protocol : its whole text, shown at the end; empty where there is none.
    training : a sentence on what the training curves are, or why there are none.
    seed : of the bootstrap.
    replicates : of the bootstrap; 0 leaves intervals out.

    >>> truth = Events.of("a", "beat", [10.0])
    >>> found = System("mine", Events.of("a", "beat", [10.5], score=[1.0]))
    >>> Content("Test", truth, (found,), (2.0,)).matches[0].mean_average_precision()
    1.0
    """

    title: str
    truth: Events
    systems: tuple[System, ...]
    tolerances: tuple[float, ...]
    event_free: EventFree = "ignore"
    recordings: Recordings | None = None
    note: str = ""
    provenance: Mapping[str, str] = field(default_factory=dict)
    protocol: str = ""
    training: str = ""
    seed: int = 0
    replicates: int = 1000

    def __post_init__(self) -> None:
        if not self.systems:
            raise ConfigError("a report needs at least one table of detections")
        if not 1 <= len(self.tolerances) <= 31:
            raise ConfigError(f"a report takes 1 to 31 tolerances, got {len(self.tolerances)}")
        names = [system.name for system in self.systems]
        if len(set(names)) != len(names):
            raise ConfigError(f"systems need distinct names, got {names}")

    @cached_property
    def matches(self) -> tuple[Matches, ...]:
        """Kept matches of each system."""
        universe: Collection[str] | None = None
        if self.recordings is not None:
            universe = self.recordings.ids
        elif self.event_free == "count":
            tables = (self.truth, *(system.detections for system in self.systems))
            universe = {name for table in tables for name in table.recordings}
        return tuple(
            match(
                self.truth,
                system.detections,
                self.tolerances,
                event_free=self.event_free,
                recordings=universe,
            )
            for system in self.systems
        )

    @property
    def days(self) -> float | None:
        """Scored days, where the recordings and so their durations are known."""
        if self.recordings is None:
            return None
        return sum(self.recordings.info(id).duration for id in self.matches[0].recordings) / 86400

    @property
    def hours(self) -> dict[str, float]:
        """Duration of each recording, where the recordings are at hand."""
        if self.recordings is None:
            return {}
        return {info.id: info.duration / 3600 for info in self.recordings.infos}

    @property
    def middle(self) -> float:
        """The middle tolerance: what figures that show only one are drawn at."""
        return sorted(self.tolerances)[len(self.tolerances) // 2]

    @property
    def groups(self) -> dict[str, str] | None:
        """Group of each scored recording, where recordings are at hand."""
        return None if self.recordings is None else self.recordings.groups


def hit_masks(matches: Matches) -> NDArray[np.uint32]:
    """For each ranked detection a bit a tolerance: whether it hits there.

    >>> truth = Events.of("a", "beat", [10.0])
    >>> found = Events.of("a", "beat", [10.5, 12.0], score=[1.0, 0.5])
    >>> hit_masks(match(truth, found, [0.2, 2.0])).tolist()
    [2, 0]
    """
    masks = np.zeros(len(matches.score), np.uint32)
    for name in matches.types:
        for k, tolerance in enumerate(matches.tolerances):
            rows, _ = matches.hits(name, tolerance)
            masks[rows] |= np.uint32(1 << k)
    return masks


def found_by(matches: Matches) -> NDArray[np.uint32]:
    """For each tolerance and truth, in this order, the detection that hits it, or `NOBODY`.

    >>> truth = Events.of("a", "beat", [10.0, 20.0])
    >>> found = Events.of("a", "beat", [19.5, 10.1], score=[1.0, 0.5])
    >>> (found_by(match(truth, found, [0.2])) == [1, NOBODY]).tolist()
    [True, True]
    """
    rows = np.full((len(matches.tolerances), len(matches.truth_time)), NOBODY, np.uint32)
    for name in matches.types:
        for k, tolerance in enumerate(matches.tolerances):
            hits, truths = matches.hits(name, tolerance)
            rows[k, truths] = hits
    return rows.ravel()


def type_codes(matches: Matches) -> NDArray[np.int64]:
    """Type index of each ranked detection."""
    return np.repeat(np.arange(len(matches.types)), np.diff(matches.start))


def timing_errors(matches: Matches, tolerance: float) -> NDArray[np.float64]:
    """Detected minus true time (s) of every hit at a tolerance, all types together."""
    parts = []
    for name in matches.types:
        rows, truths = matches.hits(name, tolerance)
        parts.append(matches.time[rows] - matches.truth_time[truths])
    return np.concatenate(parts) if parts else np.zeros(0)
