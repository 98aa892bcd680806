"""Timing errors of matched events.

The error of a hit is the detection's time minus the truth's, in seconds: positive is late. Bias is
the mean; median and 95 % error are quantiles of its absolute value, interpolated linearly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.evaluation.matches import Matches

Floats = NDArray[np.float64]
Statistic = Literal["bias", "median", "p95"]


class Timing(NamedTuple):
    """Errors of the hits of one type and tolerance, in seconds; NaN without hits."""

    hits: int
    bias: float
    median: float
    p95: float


def errors(
    matches: Matches, type: str, tolerance: float, *, threshold: float = -np.inf
) -> tuple[Floats, NDArray[np.int32]]:
    """Error in seconds and recording of each hit with at least the given score, by rank."""
    rows, truths = matches.hits(type, tolerance)
    good = matches.score[rows] >= threshold
    rows, truths = rows[good], truths[good]
    return matches.time[rows] - matches.truth_time[truths], matches.recording[rows]


def timing(matches: Matches, type: str, tolerance: float, *, threshold: float = -np.inf) -> Timing:
    """Bias, median and 95 % absolute error of the hits of one type and tolerance.

    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> found = Events.of("a", "beat", [12.0, 19.0], score=[0.9, 0.8])
    >>> kept = match(Events.of("a", "beat", [10.0, 20.0]), found, [5.0])
    >>> timing(kept, "beat", 5.0)
    Timing(hits=2, bias=0.5, median=1.5, p95=1.95)
    """
    found, _ = errors(matches, type, tolerance, threshold=threshold)
    return Timing(len(found), *(_statistic(found, name) for name in ("bias", "median", "p95")))


@dataclass(frozen=True)
class TimingError:
    """A statistic of the timing error as a metric for `bdl.evaluation.bootstrap`.

    ``type`` None takes the hits of all types together.
    """

    statistic: Statistic
    tolerance: float
    type: str | None = None
    threshold: float = -np.inf

    def __call__(self, matches: Matches, weights: Floats) -> Floats:
        types = matches.types if self.type is None else (self.type,)
        parts = [errors(matches, t, self.tolerance, threshold=self.threshold) for t in types]
        found = np.concatenate([part[0] for part in parts])
        who = np.concatenate([part[1] for part in parts])
        times = weights.astype(np.int64)
        return np.array([_statistic(np.repeat(found, row[who]), self.statistic) for row in times])


def _statistic(found: Floats, name: str) -> float:
    if not len(found):
        return float("nan")
    if name == "bias":
        return float(found.mean())
    return float(np.quantile(np.abs(found), 0.5 if name == "median" else 0.95))
