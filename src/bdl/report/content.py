"""The content of a report: annotated events, one or more systems, and optional further data.

Only annotated events and detections are required. Recordings add the signals, densities add the
density curves and the calibration of counts, histories add the training curves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bdl.density import Density
from bdl.errors import ConfigError
from bdl.evaluation import Estimate, Matcher, Matches
from bdl.evaluation.matching import EventFree
from bdl.evaluation.scored_parts import scored_parts
from bdl.events import Events
from bdl.recording import Recordings

EpochCurve = tuple[list[float], list[float]]
NOT_DETECTED = np.uint32(0xFFFFFFFF)


@dataclass(frozen=True)
class SeedSpread(Estimate):
    """A mean over seeds; its bounds are one standard deviation away.

    Examples
    --------
    >>> SeedSpread.of(0.705, 0.005).text(digits=3)
    '0.705 ± 0.005'
    """

    @classmethod
    def of(cls, mean: float | None, sd: float | None) -> SeedSpread:
        """From mean and standard deviation; None is undefined."""
        value, spread = (np.nan if number is None else number for number in (mean, sd))
        return cls(value, value - spread, value + spread)

    def interval_text(self, digits: int = 4) -> str:
        """The standard deviation, empty where there is none."""
        return f"± {self.high - self.value:.{digits}f}" if self.has_interval else ""


@dataclass(frozen=True)
class System:
    """One set of detections with a name.

    Parameters
    ----------
    name
        Name in tables and legends.
    detections
        Events with scores.
    densities
        Densities by recording id, if available.
    history
        Training curves, (epochs, values) by quantity: ``loss``, and any score.
    scores
        Scores that are known, by name of the metric (``mAP``, ``AP@60``), shown instead of those
        of the detections.
    seeds
        Number of seeds that these scores are means over.
    difference
        mAP of the first system minus that of this one, if known.
    method, lag
        Of systems that differ in their lag: the name that they have in common, and the lag in
        seconds, infinite for a model that reads whole recordings. None where no lag is compared.
    """

    name: str
    detections: Events
    densities: Mapping[str, Density] = field(default_factory=dict)
    history: Mapping[str, EpochCurve] = field(default_factory=dict)
    scores: Mapping[str, Estimate] = field(default_factory=dict)
    seeds: int = 1
    difference: Estimate | None = None
    method: str = ""
    lag: float | None = None


@dataclass(frozen=True)
class Content:
    """The data of a report.

    Parameters
    ----------
    title
        Heading of the page.
    truth
        Annotated events.
    systems
        At least one system; the summary describes the first.
    tolerances
        Matching tolerances in seconds, at most 31.
    types
        Scored event types; None for all in ``truth``.
    event_free
        Whether recordings without events count (see `bdl.evaluation.match`).
    recordings
        Signals, durations, groups, and the annotated spans, outside of which nothing is scored.
    note
        A sentence below the heading, such as a limitation that readers must know.
    provenance
        Protocol, seeds, versions and hashes, shown unchanged.
    protocol
        Full text of a study's protocol, shown at the end; empty if there is none.
    training
        A sentence on what the training curves show, or why there are none.
    seed
        Seed of the bootstrap.
    replicates
        Bootstrap replicates; 0 leaves confidence intervals out.
    by
        What a replicate draws: groups of recordings as far as they are known, or recordings.

    Examples
    --------
    >>> truth = Events.of("a", "beat", [10.0])
    >>> system = System("mine", Events.of("a", "beat", [10.5], score=[1.0]))
    >>> Content("Test", truth, (system,), (2.0,)).matches[0].mean_average_precision()
    1.0
    """

    title: str
    truth: Events
    systems: tuple[System, ...]
    tolerances: tuple[float, ...]
    types: tuple[str, ...] | None = None
    event_free: EventFree = "ignore"
    recordings: Recordings | None = None
    note: str = ""
    provenance: Mapping[str, str] = field(default_factory=dict)
    protocol: str = ""
    training: str = ""
    seed: int = 0
    replicates: int = 1000
    by: Literal["group", "recording"] = "group"

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
        """Matches of each system, in the order of ``systems``."""
        prepare = partial(
            Matcher, self.truth, self.tolerances, types=self.types, event_free=self.event_free
        )
        if self.recordings is not None:
            matcher = prepare(**scored_parts(self.recordings.infos))
        elif self.event_free == "count":
            tables = (self.truth, *(system.detections for system in self.systems))
            matcher = prepare(recordings={name for table in tables for name in table.recordings})
        else:
            matcher = prepare()
        return tuple(matcher.match(system.detections) for system in self.systems)

    @property
    def bounds(self) -> str:
        """Name of the bounds of a score: a confidence interval or the spread over seeds."""
        if all(system.seeds == 1 for system in self.systems):
            return "95 % confidence interval"
        if all(system.seeds > 1 for system in self.systems):
            return "standard deviation over seeds"
        return "standard deviation over seeds, or for a single seed the 95 % confidence interval"

    @property
    def days(self) -> float | None:
        """Scored days; None without recordings, whose durations are needed."""
        matches = self.matches[0]
        return None if matches.durations is None else float(matches.seconds.sum()) / 86400

    @property
    def hours(self) -> dict[str, float]:
        """Hours of each recording; empty without recordings."""
        if self.recordings is None:
            return {}
        return {info.id: info.duration / 3600 for info in self.recordings.infos}

    @property
    def middle(self) -> float:
        """The middle tolerance, used by figures and tables that show only one."""
        return sorted(self.tolerances)[len(self.tolerances) // 2]

    @property
    def clusters(self) -> dict[str, str]:
        """What a bootstrap replicate draws: by scored recording its group, or itself."""
        drawn = None if self.by == "recording" else self.recordings
        groups = {} if drawn is None else drawn.groups
        return {id: groups.get(id, id) for id in self.matches[0].recordings}


def hit_masks(matches: Matches) -> NDArray[np.uint32]:
    """Bit ``k`` of a ranked detection's mask: whether it is a hit at tolerance ``k``."""
    masks = np.zeros(len(matches.score), np.uint32)
    for name in matches.types:
        for k, tolerance in enumerate(matches.tolerances):
            rows, _ = matches.hits(name, tolerance)
            masks[rows] |= np.uint32(1 << k)
    return masks


def matched_detections(matches: Matches) -> NDArray[np.uint32]:
    """For each tolerance and annotated event, in this order, the detection that hits it.

    An event without one has `NOT_DETECTED`.
    """
    rows = np.full((len(matches.tolerances), len(matches.truth_time)), NOT_DETECTED, np.uint32)
    for name in matches.types:
        for k, tolerance in enumerate(matches.tolerances):
            hits, truths = matches.hits(name, tolerance)
            rows[k, truths] = hits
    return rows.ravel()


def type_codes(matches: Matches) -> NDArray[np.int64]:
    """Index of the event type of each ranked detection."""
    return np.repeat(np.arange(len(matches.types)), np.diff(matches.start))


def timing_errors(matches: Matches, tolerance: float) -> NDArray[np.float64]:
    """Detected minus annotated time (seconds) of every hit at a tolerance, of all types."""
    parts = [matches.hit_errors(*matches.hits(name, tolerance)) for name in matches.types]
    return np.concatenate(parts) if parts else np.zeros(0)
