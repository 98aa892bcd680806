"""Timing error of hits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from bdl.arrays import Floats, Ints
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.hit_times import MetricOfHits
from bdl.evaluation.timing import STATISTICS, Statistic, error_statistic


class TimingError(MetricOfHits):
    """Timing error of hits: its mean, or the median or 95 % quantile of its absolute value.

    Names: ``bias@60``, ``median@60``, ``p95@60>=0.5:onset``.

    Parameters
    ----------
    statistic
        ``bias`` (mean of detection minus event), ``median`` or ``p95`` of the absolute error.

    Examples
    --------
    >>> TimingError(statistic="p95", tolerance=5.0).name
    'p95@5'
    """

    kind: Literal["timing-error"] = "timing-error"
    statistic: Statistic = "median"

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        return {name: {"statistic": name} for name in STATISTICS}

    @property
    def label(self) -> str:
        return self.statistic

    def better(self, value: float) -> float:
        return super().better(abs(value))  # a bias is best at zero

    def seconds(self, matches: Matches, rows: Ints, truths: Ints) -> Floats:
        return matches.hit_errors(rows, truths)

    def statistic_of(self, seconds: Floats) -> float:
        return error_statistic(seconds, self.statistic)
