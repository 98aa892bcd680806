"""Average precision."""

from __future__ import annotations

from typing import Literal

from bdl.arrays import Floats
from bdl.evaluation import replicates
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.metric import MeanMetric


class AveragePrecision(MeanMetric):
    """Average precision: mean over tolerances, then over types with events.

    Names: ``mAP``, ``AP@60``, ``AP@60:onset``.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> detections = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> matches = match(Events.of("a", "beat", [10.0, 20.0]), detections, [0.5, 5.0])
    >>> round(AveragePrecision(tolerance=5.0).value(matches), 4)
    0.8333
    """

    kind: Literal["AP"] = "AP"

    @property
    def needs_scores(self) -> bool:
        return True

    def values(self, matches: Matches, weights: Floats) -> Floats:
        return self.mean_of_types(replicates.average_precision(matches, weights), matches)
