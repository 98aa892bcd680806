"""Sensitivity at a threshold."""

from __future__ import annotations

from typing import Literal

from bdl.arrays import Floats
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.at_threshold import MetricAtThreshold
from bdl.evaluation.tally import Tallies


class Sensitivity(MetricAtThreshold):
    """Sensitivity (recall): the share of events that are detected with at least a given score.

    Name: ``sensitivity@60>=0.5``.

    Examples
    --------
    >>> from bdl.evaluation.metrics import Metric
    >>> Metric.parse("sensitivity@60>=0.5")
    Sensitivity(kind='sensitivity', tolerance=60.0, type=None, delay=None, threshold=0.5)
    """

    kind: Literal["sensitivity"] = "sensitivity"

    def rates(self, tally: Tallies, matches: Matches, weights: Floats) -> Floats:
        return tally.recall
