"""Scores of a report with 95 % confidence intervals, by bootstrap over recordings or groups."""

from __future__ import annotations

from bdl.evaluation import Estimate, Matches, Metric, bootstrap
from bdl.evaluation.metrics.metric import number
from bdl.report.content import Content


def ap_estimates(content: Content, matches: Matches) -> dict[str, Estimate]:
    """mAP, and AP at each tolerance, of one system, by name of the metric.

    Without a bootstrap, or with a single recording, the bounds of the intervals are NaN.
    """
    metrics = ["mAP", *(f"AP@{number(tolerance)}" for tolerance in content.tolerances)]
    if not content.replicates or len(matches.recordings) < 2:
        return {metric: Estimate(Metric.parse(metric).value(matches)) for metric in metrics}
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
    """mAP of one system minus that of another, on the same draws of recordings."""
    result = bootstrap(
        {"second": content.matches[second], "first": content.matches[first]},
        clusters=content.groups,
        replicates=content.replicates,
        seed=content.seed,
        metric="mAP",
    )
    return result.differences["first - second"]


def estimate_html(estimate: Estimate) -> str:
    """Value and interval, the interval in its own element, which dense tables put below."""
    interval = estimate.interval_text(digits=3)
    return f'{Estimate(estimate.value).text(digits=3)} <span class="range">{interval}</span>'
