"""Scoring of baselines, and their choices on calibration groups."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from bdl import Events, Recordings
from bdl.evaluation import Matches, Regions, match
from bdl.evaluation.matching import EventFree


@dataclass(frozen=True)
class Scoring:
    """Event types, tolerances in seconds, and whether event-free recordings count.

    ``annotated`` has the spans outside which nothing is scored, in seconds by recording; recordings
    that it does not name are scored as a whole.
    """

    types: tuple[str, ...]
    tolerances: tuple[float, ...]
    event_free: EventFree = "ignore"
    annotated: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)

    def match(self, truth: Events, detections: Events, recordings: Sequence[str]) -> Matches:
        """Match the detections in these recordings."""
        return match(
            truth.select(recordings=recordings),
            detections,
            self.tolerances,
            types=self.types,
            event_free=self.event_free,
            recordings=recordings,
            regions=self.regions(recordings),
        )

    def regions(self, recordings: Sequence[str]) -> Regions | None:
        """The scored spans of these recordings; None if all are scored as a whole."""
        if not any(id in self.annotated for id in recordings):
            return None
        spans: dict[str, Any] = {id: self.annotated.get(id, [(0.0, np.inf)]) for id in recordings}
        return Regions.of(spans)

    def is_scored(self, recording: str, times: Any) -> Any:
        """Whether each time, in seconds, is in a scored span."""
        bounds = np.ravel(self.annotated.get(recording, [(0.0, np.inf)]))
        return np.searchsorted(bounds, times, side="right") % 2 == 1


class Detected(NamedTuple):
    """All ranked detections in the test recordings, and those at the chosen operating point."""

    ranked: Events
    reported: Events


def calibration_groups(
    recordings: Recordings, share: float = 0.25, seed: int = 0
) -> tuple[list[str], list[str]]:
    """Ids of the recordings to fit on and of those to choose on; no group is in both."""
    groups = recordings.groups
    names = np.random.default_rng(seed).permutation(sorted(set(groups.values()))).tolist()
    calibration = {*names[: max(1, round(share * len(names)))]}
    fitting_ids = [id for id in recordings.ids if groups[id] not in calibration]
    return fitting_ids, [id for id in recordings.ids if groups[id] in calibration]


def best_threshold(matches: Matches, steps: int = 200) -> float:
    """The score with the highest F1 of all types together, averaged over tolerances."""
    if not len(matches.score):
        return 0.0
    candidates = np.unique(np.quantile(matches.score, np.linspace(0, 1, steps), method="lower"))
    tallies = [matches.tally(threshold) for threshold in candidates]
    f1 = [np.mean(2 * t.hits.sum(0) / (t.detections + t.truths).sum(0)) for t in tallies]
    return float(candidates[np.argmax(f1)])
