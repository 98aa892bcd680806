"""Sensitivity at a threshold."""

from __future__ import annotations

from typing import Literal

from pydantic import PositiveFloat

from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics._tallies import tally_at
from bdl.evaluation.metrics.metric import Floats, Metric


class Sensitivity(Metric):
    """Sensitivity (recall): the share of truths that are detected with at least a given score.

    Name: ``sensitivity@60>=0.5``.

    Parameters
    ----------
    tolerance
        One of the matched tolerances, in seconds.
    threshold
        Least score of the detections that count.
    type
        One event type. None takes all types together.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> detections = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> matches = match(Events.of("a", "beat", [10.0, 20.0]), detections, [5.0])
    >>> Sensitivity(tolerance=5.0, threshold=0.8).value(matches)
    0.5
    """

    kind: Literal["sensitivity"] = "sensitivity"
    tolerance: PositiveFloat
    threshold: float

    def values(self, matches: Matches, weights: Floats) -> Floats:
        """Sensitivity of each replicate, (replicates,)."""
        return tally_at(matches, weights, self.threshold, self.tolerance, self.type).recall
