"""Operating points: counts and rates of the detections with at least a given score.

Detections are matched from the highest score down, so the hits among those that reach a threshold
are the hits they would have if the others did not exist. Among all types together, the two ends of
an interval are one false alarm (`bdl.evaluation.alarms`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from bdl.evaluation.alarms import false_alarms
from bdl.evaluation.estimate import plain
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.metric import number
from bdl.evaluation.tally import Tally, ratio
from bdl.frames import Tabular
from bdl.intervals import IntervalType
from bdl.table_plots import Drawing
from bdl.text_tables import duration_text, number_text, text_table

ALL = "all"


@dataclass(frozen=True)
class CountsAtThreshold(Tally[float]):
    """Counts at one threshold, of one event type or all, at one tolerance."""

    alarms: int = 0  # false alarms: false detections, the two ends of an interval counted once
    days: float | None = None  # scored days, or None where durations are unknown

    @property
    def false_alarms_per_day(self) -> float:
        """False alarms per day, NaN where durations are unknown."""
        return ratio(float(self.alarms), self.days or 0.0)

    def to_dict(self) -> dict[str, float | None]:
        """Counts and rates; a rate without a denominator is None."""
        return {
            "detections": self.detections,
            "truths": self.truths,
            "hits": self.hits,
            "missed": self.missed,
            "false": self.false,
            "false_alarms": self.alarms,
            "precision": plain(self.precision),
            "recall": plain(self.recall),
            "F1": plain(self.f1) if self.truths else None,
            "false_alarms_per_day": plain(self.false_alarms_per_day),
        }


@dataclass(frozen=True, eq=False)
class OperatingPoints(Tabular):
    """Counts of the detections above one threshold, made by `operating_points`.

    Parameters
    ----------
    threshold
        Least score of the detections that count; None where they have no scores.
    points
        By event type (and ``all`` together) and tolerance.
    intervals
        Interval types whose two ends are one false alarm of ``all``.
    """

    drawing = Drawing("tolerance", "F1", by=("event",))

    threshold: float | None
    points: dict[str, dict[float, CountsAtThreshold]]
    intervals: tuple[IntervalType, ...] = ()

    def __getitem__(self, name: str) -> dict[float, CountsAtThreshold]:
        return self.points[name]

    def _rows(self) -> Iterator[tuple[str, float, CountsAtThreshold]]:
        for name, row in self.points.items():
            for tolerance, point in row.items():
                yield name, tolerance, point

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per event type and tolerance."""
        rows = [*self._rows()]
        rates = [point.to_dict() for _, _, point in rows]
        return {
            "event": [name for name, _, _ in rows],
            "tolerance": [tolerance for _, tolerance, _ in rows],
            **{
                key: [np.nan if rate[key] is None else rate[key] for rate in rates]
                for key in rates[0]
            },
        }

    def to_dict(self) -> dict[str, Any]:
        """Plain data by type and tolerance, ready for JSON."""
        return {
            name: {number(tolerance): point.to_dict() for tolerance, point in row.items()}
            for name, row in self.points.items()
        }

    def text(self, width: int | None = None) -> str:
        """The counts and rates as a table."""
        rows = [*self._rows()]
        points = [point for _, _, point in rows]
        days = points[0].days
        counted = (
            "all detections, which have no scores"
            if self.threshold is None
            else f"detections with score >= {self.threshold:g}"
        )
        columns = {
            "type": [name for name, _, _ in rows],
            "tolerance": [number(tolerance) for _, tolerance, _ in rows],
            **{
                name: [f"{getattr(point, name):,}" for point in points]
                for name in ("hits", "missed", "false")
            },
            "precision": [number_text(point.precision) for point in points],
            "recall": [number_text(point.recall) for point in points],
            "F1": [number_text(point.f1 if point.truths else None) for point in points],
        }
        if days is not None:
            counted += f", in {duration_text(days * 86400)}"
            columns["false/day"] = [
                number_text(point.false_alarms_per_day, ".4g") for point in points
            ]
        lines = [counted, *text_table(columns, width=width)]
        if days is not None and self.intervals:
            ends = ", ".join(f"{kind.onset} to {kind.offset}" for kind in self.intervals)
            lines.append(f"false/day of all counts an interval ({ends}) once")
        return "\n".join(lines)

    __repr__ = text


def operating_points(matches: Matches, threshold: float | None) -> OperatingPoints:
    """Counts at a threshold by event type (and ``all`` together) and tolerance.

    Parameters
    ----------
    matches
        Matches of one set of detections.
    threshold
        Least score of the detections that count; None counts all.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> truth = Events.of("a", "beat", [10.0, 20.0])
    >>> detections = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> operating_points(match(truth, detections, [5.0]), 0.8)["beat"][5.0]
    CountsAtThreshold(hits=1, detections=2, truths=2, alarms=1, days=None)
    """
    least = -np.inf if threshold is None else threshold
    days = None if matches.durations is None else float(matches.seconds.sum()) / 86400
    tally = matches.tally(least)
    by_type = np.stack([tally.hits, tally.detections, tally.truths, tally.false])
    together = by_type.sum(axis=1, keepdims=True)
    for k, tolerance in enumerate(matches.tolerances):
        together[3, 0, k] = false_alarms(matches, [least], tolerance).sum()
    hits, detections, truths, alarms = np.concatenate([by_type, together], axis=1).tolist()
    points = {
        name: {
            tolerance: CountsAtThreshold(
                hits[j][k], detections[j][k], truths[j][k], alarms[j][k], days
            )
            for k, tolerance in enumerate(matches.tolerances)
        }
        for j, name in enumerate((*matches.types, ALL))
    }
    return OperatingPoints(threshold, points, matches.intervals)
