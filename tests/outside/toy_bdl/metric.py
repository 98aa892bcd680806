"""A metric: detections per truth."""

import numpy as np

from bdl.evaluation.metrics import Metric


class PerTruth(Metric):
    """Detections per truth, all recordings counted once."""

    kind: str = "detections-per-truth"
    higher_is_better = False

    def values(self, matches, weights):
        ratio = len(matches.score) / max(1, int(matches.truths.sum()))
        return np.full(len(weights), ratio)
