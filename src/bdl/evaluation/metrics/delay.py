"""Delay with which hits were issued."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from bdl.arrays import Floats, Ints
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.hit_times import MetricOfHits
from bdl.evaluation.timing import QUANTILES


class Delay(MetricOfHits):
    """Delay of hits: seconds from an event to the time its detection was issued.

    Names: ``delay@60``, ``delay-p95@60>=0.5:onset``.

    Parameters
    ----------
    statistic
        ``median`` or ``p95``, the 95 % quantile.

    Examples
    --------
    >>> Delay(statistic="p95", tolerance=5.0).name
    'delay-p95@5'
    """

    kind: Literal["delay"] = "delay"
    statistic: Literal["median", "p95"] = "median"

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        return {"delay-p95": {"statistic": "p95"}}

    @property
    def label(self) -> str:
        return "delay" if self.statistic == "median" else "delay-p95"

    def seconds(self, matches: Matches, rows: Ints, truths: Ints) -> Floats:
        return matches.hit_delays(rows, truths)

    def statistic_of(self, seconds: Floats) -> float:
        return float(np.quantile(seconds, QUANTILES[self.statistic]))
