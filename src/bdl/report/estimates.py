"""Scores of a report with 95 % confidence intervals, by bootstrap over recordings or groups."""

from __future__ import annotations

from math import isfinite, nan

from bdl.evaluation import Matches, bootstrap
from bdl.evaluation.metrics import evaluate
from bdl.evaluation.resampling import Estimate
from bdl.evaluation.scoring import number
from bdl.report.content import Content


def ap_estimates(content: Content, matches: Matches) -> dict[str, Estimate]:
    """mAP, and AP at each tolerance, of one system, by name of the metric.

    Without a bootstrap, or with a single recording, the bounds of the intervals are NaN.
    """
    metrics = ["mAP", *(f"AP@{number(tolerance)}" for tolerance in content.tolerances)]
    if not content.replicates or len(matches.recordings) < 2:
        return {metric: Estimate(evaluate(matches, metric), nan, nan) for metric in metrics}
    return {
        metric: bootstrap(
            {"system": matches},
            clusters=content.groups,
            replicates=content.replicates,
            seed=content.seed,
            metric=metric,
        ).systems["system"]
        for metric in metrics
    }


def paired_difference(content: Content, first: int, second: int) -> Estimate:
    """mAP of one system minus that of another, on the same draws of recordings.

    Parameters
    ----------
    content
        What the report shows.
    first, second
        Indices of the systems.
    """
    result = bootstrap(
        {"second": content.matches[second], "first": content.matches[first]},
        clusters=content.groups,
        replicates=content.replicates,
        seed=content.seed,
        metric="mAP",
    )
    return result.differences["first - second"]


def interval_text(estimate: Estimate) -> str:
    """The confidence interval as text; empty if there is none.

    Examples
    --------
    >>> interval_text(Estimate(0.7, 0.65, 0.75))
    '[0.650, 0.750]'
    """
    if not isfinite(estimate.low):
        return ""
    return f"[{_digits(estimate.low)}, {_digits(estimate.high)}]"


def estimate_text(estimate: Estimate) -> str:
    """Value and interval as text.

    Examples
    --------
    >>> estimate_text(Estimate(0.7, 0.65, 0.75))
    '0.700 [0.650, 0.750]'
    """
    return f"{_digits(estimate.value)} {interval_text(estimate)}".rstrip()


def estimate_html(estimate: Estimate) -> str:
    """Value and interval, the interval in its own element, which dense tables put below."""
    return f'{_digits(estimate.value)} <span class="range">{interval_text(estimate)}</span>'


def _digits(value: float) -> str:
    """Three digits, and no minus before a zero.

    >>> _digits(-0.0001)
    '0.000'
    """
    return f"{value:z.3f}"
