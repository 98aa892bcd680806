"""Timing errors of matched events.

The error of a hit is the detection's time minus the event's, in seconds: positive is late. Bias is
the mean; median and 95 % error are quantiles of its absolute value, interpolated linearly.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, get_args

import numpy as np

from bdl.arrays import Floats
from bdl.evaluation.matches import Matches

Statistic = Literal["bias", "median", "p95"]
STATISTICS: tuple[Statistic, ...] = get_args(Statistic)
QUANTILES = {"median": 0.5, "p95": 0.95}


class Timing(NamedTuple):
    """Errors of the hits of one type and tolerance, in seconds; NaN without hits."""

    hits: int
    bias: float
    median: float
    p95: float


def timing(matches: Matches, type: str, tolerance: float, *, threshold: float = -np.inf) -> Timing:
    """Bias, median and 95 % absolute error of the hits of one type and tolerance.

    Parameters
    ----------
    matches
        Matches of one set of detections.
    type, tolerance
        Event type and matched tolerance.
    threshold
        Least score of the hits that count.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> detections = Events.of("a", "beat", [12.0, 19.0], score=[0.9, 0.8])
    >>> matches = match(Events.of("a", "beat", [10.0, 20.0]), detections, [5.0])
    >>> timing(matches, "beat", 5.0)
    Timing(hits=2, bias=0.5, median=1.5, p95=1.95)
    """
    seconds = matches.hit_errors(*matches.hits(type, tolerance, threshold))
    statistics = (error_statistic(seconds, name) for name in STATISTICS)
    return Timing(len(seconds), *statistics)


def error_statistic(seconds: Floats, statistic: str) -> float:
    """One statistic of timing errors, NaN without any."""
    if not len(seconds):
        return float("nan")
    if statistic == "bias":
        return float(seconds.mean())
    return float(np.quantile(np.abs(seconds), QUANTILES[statistic]))
