"""Metrics of the times of hits."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar

import numpy as np
from pydantic import PositiveFloat

from bdl.arrays import Floats, Ints
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.metric import Metric

_NONE: Ints = np.zeros(0, np.int32)


class MetricOfHits(Metric):
    """Base class of statistics of seconds, one number per hit; types are pooled.

    Parameters
    ----------
    tolerance
        One of the matched tolerances, in seconds.
    threshold
        Least score of the hits that count. None counts all.
    type
        One event type. None takes the hits of all types together.
    """

    higher_is_better: ClassVar[bool] = False

    tolerance: PositiveFloat
    threshold: float | None = None

    @abstractmethod
    def seconds(self, matches: Matches, rows: Ints, truths: Ints) -> Floats:
        """Seconds of each hit, given its detection and its event."""

    @abstractmethod
    def statistic_of(self, seconds: Floats) -> float:
        """The metric of some hits, at least one."""

    def values(self, matches: Matches, weights: Floats) -> Floats:
        types = matches.types if self.type is None else (self.type,)
        hits = [matches.hits(name, self.tolerance, self.threshold) for name in types]
        rows = np.concatenate([_NONE, *(rows for rows, _ in hits)])
        truths = np.concatenate([_NONE, *(truths for _, truths in hits)])
        seconds, recording = self.seconds(matches, rows, truths), matches.recording[rows]
        samples = (np.repeat(seconds, row[recording]) for row in weights.astype(np.int64))
        return np.array(
            [self.statistic_of(sample) if len(sample) else np.nan for sample in samples]
        )
