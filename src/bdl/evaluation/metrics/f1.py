"""F1, at the best threshold or at a given one."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import model_validator

from bdl.arrays import Floats
from bdl.errors import ConfigError
from bdl.evaluation import replicates
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.at_threshold import tally_at
from bdl.evaluation.metrics.metric import MeanMetric


class F1(MeanMetric):
    """F1: best over thresholds (mean over tolerances, then types), or at one threshold.

    Names: ``mF1``, ``F1@60``, ``F1@60:onset`` (best), ``F1@60>=0.5`` (at a threshold).

    Parameters
    ----------
    type
        One event type. None takes the mean over types, or with a threshold all types together.
    threshold
        Least score of the detections that count. None takes the best threshold of each type and
        tolerance.

    Examples
    --------
    >>> import bdl
    >>> truth = bdl.Events.of("a", "beat", [10.0, 20.0])
    >>> detections = bdl.Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> score = bdl.score(truth, detections, [5.0])
    >>> score.metric(F1()), score.metric("F1@5>=0.8")
    (0.8, 0.5)
    """

    kind: Literal["F1"] = "F1"
    threshold: float | None = None

    @model_validator(mode="after")
    def _threshold_needs_tolerance(self) -> Self:
        if self.threshold is not None and self.tolerance is None:
            raise ConfigError("a threshold needs a tolerance, as in F1@60>=0.5")
        return self

    def values(self, matches: Matches, weights: Floats) -> Floats:
        if self.threshold is not None and self.tolerance is not None:
            return tally_at(matches, weights, self.threshold, self.tolerance, self.type).f1
        return self.mean_of_types(replicates.best_f1(matches, weights), matches)
