"""Delay of hits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import PositiveFloat

from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.metric import Floats, Metric


class Delay(Metric):
    """Delay of hits: seconds from a truth to the time its detection was issued.

    Names: ``delay@60``, ``delay-p95@60>=0.5:onset``.

    Parameters
    ----------
    statistic
        ``median`` or ``p95``, the 95 % quantile.
    threshold
        Least score of the hits that count. None counts all.
    type
        One event type. None takes the hits of all types together.

    Examples
    --------
    >>> Delay(statistic="p95", tolerance=5.0).name
    'delay-p95@5'
    """

    higher_is_better: ClassVar[bool] = False

    kind: Literal["delay"] = "delay"
    statistic: Literal["median", "p95"] = "median"
    tolerance: PositiveFloat
    threshold: float | None = None

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        return {"delay-p95": {"statistic": "p95"}}

    @property
    def label(self) -> str:
        return "delay" if self.statistic == "median" else "delay-p95"

    def values(self, matches: Matches, weights: Floats) -> Floats:
        types = matches.types if self.type is None else (self.type,)
        share = 0.5 if self.statistic == "median" else 0.95
        threshold = -np.inf if self.threshold is None else self.threshold
        delays, owners = [np.zeros(0)], [np.zeros(0, np.int32)]
        for name in types:
            rows, truths = matches.hits(name, self.tolerance)
            counted = matches.score[rows] >= threshold
            delays.append(matches.hit_delays(rows[counted], truths[counted]))
            owners.append(matches.recording[rows[counted]])
        seconds, owner = np.concatenate(delays), np.concatenate(owners)
        repeated = (np.repeat(seconds, row[owner]) for row in weights.astype(np.int64))
        return np.array([np.quantile(each, share) if len(each) else np.nan for each in repeated])
