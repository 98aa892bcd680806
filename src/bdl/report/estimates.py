"""Scores of a report with their 95 % intervals, from a bootstrap over recordings or groups."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

from bdl.evaluation import Matches, bootstrap
from bdl.evaluation.metrics import evaluate
from bdl.evaluation.scoring import number
from bdl.report.content import Content


@dataclass(frozen=True)
class Interval:
    """A value with the ends of its interval, equal to it where none was asked for.

    >>> str(Interval(0.7, 0.65, 0.75))
    '0.700 [0.650, 0.750]'
    """

    value: float
    low: float
    high: float

    @property
    def range(self) -> str:
        """The interval alone, as text."""
        if self.low == self.high == self.value or not isfinite(self.low):
            return ""
        return f"[{_digits(self.low)}, {_digits(self.high)}]"

    @property
    def html(self) -> str:
        """The same with the interval in an element of its own, which narrow tables put below."""
        return f'{_digits(self.value)} <span class="range">{self.range}</span>'

    def __str__(self) -> str:
        return f"{_digits(self.value)} {self.range}".rstrip()


def _digits(value: float) -> str:
    """Three digits, and no minus before a zero.

    >>> _digits(-0.0001)
    '0.000'
    """
    return f"{value:z.3f}"


def ap_bands(content: Content, matches: Matches) -> dict[str, Interval]:
    """mAP and AP at each tolerance of one system, under the metric's names."""
    metrics = ["mAP", *(f"AP@{number(tolerance)}" for tolerance in content.tolerances)]
    found = {}
    for metric in metrics:
        if not content.replicates or len(matches.recordings) < 2:
            value = evaluate(matches, metric)
            found[metric] = Interval(value, value, value)
            continue
        estimate = bootstrap(
            {"system": matches},
            clusters=content.groups,
            replicates=content.replicates,
            seed=content.seed,
            metric=metric,
        ).systems["system"]
        found[metric] = Interval(estimate.value, estimate.low, estimate.high)
    return found


def paired_difference(content: Content, one: int, other: int, metric: str = "mAP") -> Interval:
    """System ``one`` minus system ``other`` on the same draws of recordings."""
    result = bootstrap(
        {"other": content.matches[other], "one": content.matches[one]},
        clusters=content.groups,
        replicates=content.replicates,
        seed=content.seed,
        metric=metric,
    )
    estimate = result.differences["one - other"]
    return Interval(estimate.value, estimate.low, estimate.high)
