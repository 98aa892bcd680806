"""Timing error of hits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import PositiveFloat

from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.metric import Floats, Metric
from bdl.evaluation.timing import Statistic, error_statistic, timing_errors


class TimingError(Metric):
    """Timing error of hits: its mean, or the median or 95 % quantile of its absolute value.

    Names: ``bias@60``, ``median@60``, ``p95@60>=0.5:onset``.

    Parameters
    ----------
    statistic
        ``bias`` (mean of detection minus truth), ``median`` or ``p95`` of the absolute error.
    threshold
        Least score of the hits that count. None counts all.
    type
        One event type. None takes the hits of all types together.

    Examples
    --------
    >>> TimingError(statistic="p95", tolerance=5.0).name
    'p95@5'
    """

    higher_is_better: ClassVar[bool] = False

    kind: Literal["timing-error"] = "timing-error"
    statistic: Statistic = "median"
    tolerance: PositiveFloat
    threshold: float | None = None

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        return {name: {"statistic": name} for name in ("bias", "median", "p95")}

    @property
    def label(self) -> str:
        return self.statistic

    def better(self, value: float) -> float:
        return super().better(abs(value))  # a bias is best at zero

    def values(self, matches: Matches, weights: Floats) -> Floats:
        types = matches.types if self.type is None else (self.type,)
        threshold = -np.inf if self.threshold is None else self.threshold
        parts = [
            timing_errors(matches, name, self.tolerance, threshold=threshold) for name in types
        ]
        seconds = np.concatenate([part[0] for part in parts])
        owner = np.concatenate([part[1] for part in parts])
        repeats = weights.astype(np.int64)
        return np.array(
            [error_statistic(np.repeat(seconds, row[owner]), self.statistic) for row in repeats]
        )
