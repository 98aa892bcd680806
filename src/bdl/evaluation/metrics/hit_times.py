"""Times of hits: their timing error, and the delay with which they were issued."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
from pydantic import PositiveFloat

from bdl.arrays import Floats, Ints
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.metric import Metric
from bdl.evaluation.timing import Statistic, error_statistic

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
        return {name: {"statistic": name} for name in ("bias", "median", "p95")}

    @property
    def label(self) -> str:
        return self.statistic

    def better(self, value: float) -> float:
        return super().better(abs(value))  # a bias is best at zero

    def seconds(self, matches: Matches, rows: Ints, truths: Ints) -> Floats:
        return matches.hit_errors(rows, truths)

    def statistic_of(self, seconds: Floats) -> float:
        return error_statistic(seconds, self.statistic)


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
        return float(np.quantile(seconds, 0.5 if self.statistic == "median" else 0.95))
