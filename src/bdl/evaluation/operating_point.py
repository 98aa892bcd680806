"""Operating points: counts and rates of the detections with at least a given score.

Detections are matched from the highest score down, so the hits among those that reach a threshold
are the hits they would have if the others did not exist.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bdl.evaluation.estimate import plain
from bdl.evaluation.matches import Matches
from bdl.evaluation.tally import Tally, ratio

ALL = "all"
RATES = ("precision", "recall", "F1", "false_alarms_per_day")


@dataclass(frozen=True)
class OperatingPoint(Tally[float]):
    """Counts at one threshold, of one event type or all, at one tolerance."""

    days: float | None = None  # scored days, or None where durations are unknown

    def to_dict(self) -> dict[str, float | None]:
        """Counts and rates; a rate without a denominator is None."""
        return {
            "detections": self.detections,
            "truths": self.truths,
            "hits": self.hits,
            "missed": self.missed,
            "false": self.false,
            "precision": plain(self.precision),
            "recall": plain(self.recall),
            "F1": plain(self.f1) if self.truths else None,
            "false_alarms_per_day": plain(ratio(self.false, self.days or 0.0)),
        }


def operating_points(matches: Matches, threshold: float) -> dict[str, dict[float, OperatingPoint]]:
    """Counts at a threshold by event type (and ``all`` together) and tolerance.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> truth = Events.of("a", "beat", [10.0, 20.0])
    >>> detections = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> operating_points(match(truth, detections, [5.0]), 0.8)["beat"][5.0]
    OperatingPoint(hits=1, detections=2, truths=2, days=None)
    """
    days = None if matches.durations is None else float(matches.seconds.sum()) / 86400
    tally = matches.tally(threshold)
    by_type = np.stack([tally.hits, tally.detections, tally.truths])
    hits, detections, truths = np.concatenate(
        [by_type, by_type.sum(axis=1, keepdims=True)], axis=1
    ).tolist()
    return {
        name: {
            tolerance: OperatingPoint(hits[j][k], detections[j][k], truths[j][k], days)
            for k, tolerance in enumerate(matches.tolerances)
        }
        for j, name in enumerate((*matches.types, ALL))
    }


def to_dict(points: Mapping[str, Mapping[float, OperatingPoint]]) -> dict[str, Any]:
    """Plain data by type and tolerance, ready for JSON."""
    return {
        name: {f"{tolerance:g}": point.to_dict() for tolerance, point in row.items()}
        for name, row in points.items()
    }


def to_text(points: Mapping[str, Mapping[float, OperatingPoint]], threshold: float) -> str:
    """The counts and rates as a table."""
    lines = [
        f"detections of score {threshold:g} and more",
        f"{'type':<16} {'tolerance':>10} {'detected':>8} {'hits':>8} {'missed':>8} {'false':>8} "
        f"{'precision':>9} {'recall':>8} {'F1':>8} {'false/day':>10}",
    ]
    for name, row in points.items():
        for tolerance, point in row.items():
            rates = [point.to_dict()[key] for key in RATES]
            texts = ["–" if rate is None else f"{rate:.4f}" for rate in rates]
            lines.append(
                f"{name:<16} {tolerance:>10g} {point.detections:>8} {point.hits:>8} "
                f"{point.missed:>8} {point.false:>8} {texts[0]:>9} {texts[1]:>8} {texts[2]:>8} "
                f"{texts[3]:>10}"
            )
    return "\n".join(lines)
