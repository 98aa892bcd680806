"""F1 of detections at an operating point, without a further threshold."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bdl.arrays import Floats
from bdl.evaluation import Matches, Metric
from bdl.evaluation.metrics import F1


class ReportedF1(Metric):
    """F1 of all given detections and of all types together, averaged over tolerances."""

    kind: Literal["reported-F1"] = "reported-F1"

    def values(self, matches: Matches, weights: Floats) -> Floats:
        """F1 of each replicate, (replicates,)."""
        tolerances = matches.tolerances if self.tolerance is None else (self.tolerance,)
        lowest = float(matches.score.min(initial=0.0))
        metrics = [
            F1(tolerance=tolerance, threshold=lowest, type=self.type) for tolerance in tolerances
        ]
        mean: Floats = np.mean([metric.values(matches, weights) for metric in metrics], axis=0)
        return mean
