"""Precision at a threshold."""

from __future__ import annotations

from typing import Literal

from bdl.arrays import Floats
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.at_threshold import MetricAtThreshold
from bdl.evaluation.tally import Tallies


class Precision(MetricAtThreshold):
    """Precision: the share of detections of at least a given score that are hits.

    Name: ``precision@60>=0.5``.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> detections = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> matches = match(Events.of("a", "beat", [10.0, 20.0]), detections, [5.0])
    >>> Precision(tolerance=5.0, threshold=0.9).value(matches)
    1.0
    """

    kind: Literal["precision"] = "precision"

    def rates(self, tally: Tallies, matches: Matches, weights: Floats) -> Floats:
        return tally.precision
