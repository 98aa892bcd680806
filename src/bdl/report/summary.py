"""The summary: what was scored, four large numbers, and one row per system.

Confidence intervals are 95 %, by bootstrap over recordings or groups.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape

import numpy as np

from bdl.evaluation import BootstrapResult, Estimate, Matches, Metric, bootstrap
from bdl.evaluation.metrics.metric import number
from bdl.evaluation.timing import error_statistic
from bdl.report import html_tables
from bdl.report.content import Content, System, timing_errors
from bdl.text_tables import duration_text


@dataclass(frozen=True)
class SystemSummary:
    """The main scores of one system."""

    name: str
    ap: Mapping[str, Estimate]  # mAP, and AP at each tolerance, by name of the metric
    strict: Estimate  # AP at the smallest tolerance
    best_f1: float  # best F1, mean over tolerances and event types
    # Median absolute timing error of matched events at the widest tolerance, as text.
    median_error: str
    detections: int
    # mAP of the first system minus that of this one; None for the first, or without bootstrap.
    difference: Estimate | None


def summarise(content: Content) -> list[SystemSummary]:
    """The main scores of every system, in order.

    Examples
    --------
    >>> from bdl.events import Events
    >>> from bdl.report.content import System
    >>> mine = System("mine", Events.of("a", "beat", [1.0], score=[1.0]))
    >>> [row] = summarise(Content("t", Events.of("a", "beat", [1.0]), (mine,), (2.0,)))
    >>> row.best_f1, row.median_error
    (1.0, '0 s')
    """
    strict = f"AP@{number(min(content.tolerances))}"
    rows = []
    for index, (system, matches) in enumerate(zip(content.systems, content.matches, strict=True)):
        ap = {**_ap_estimates(content, system, matches), **system.scores}
        difference = system.difference
        # The detections are those of one seed.
        of_one_seed = content.systems[0].seeds == system.seeds == 1
        if index > 0 and difference is None and of_one_seed:
            difference = _paired_difference(content, index)
        rows.append(
            SystemSummary(
                name=system.name,
                ap=ap,
                strict=ap[strict],
                best_f1=ap["mF1"].value if "mF1" in ap else matches.mean_f1(),
                median_error=_median_error(content, matches),
                detections=len(matches.score),
                difference=difference,
            )
        )
    return rows


def lead(content: Content) -> str:
    """What was scored, and how, in a sentence or two."""
    matches = content.matches[0]
    rule = "ignored" if content.event_free == "ignore" else "counted as false alarms"
    length = "" if content.days is None else f", {duration_text(content.days * 86400)}"
    return (
        f"{_count(len(matches.truth_time), 'event')} of {_count(len(matches.types), 'type')} in "
        f"{_count(len(matches.recordings), 'recording')}{length}. "
        f"Detections in recordings without events are {rule}. {content.note}"
    ).rstrip()


def summary_section(content: Content, systems: Sequence[SystemSummary]) -> str:
    """Large numbers of the first system, then every system and its difference from the first."""
    strict = f"AP at {min(content.tolerances):g} s"
    first = systems[0]
    cards = html_tables.cards(
        [
            ("mAP", f"{first.ap['mAP'].value:.3f}", first.ap["mAP"].interval_text(3)),
            (strict, f"{first.strict.value:.3f}", first.strict.interval_text(3)),
            ("Mean best F1", f"{first.best_f1:.3f}", "over tolerances and types"),
            ("Median timing error", first.median_error, "of matched events"),
        ]
    )
    head = ["system", "mAP", strict, "mean best F1", "median error", "detections"]
    rows = [
        [
            escape(system.name),
            estimate_html(system.ap["mAP"]),
            estimate_html(system.strict),
            f"{system.best_f1:.3f}",
            system.median_error,
            f"{system.detections:,}",
        ]
        for system in systems
    ]
    caption = f"All systems, with {content.bounds}"
    if len(rows) == 1:
        return cards + html_tables.table(caption, head, rows)
    if content.replicates:
        head.append("difference")
        caption += (
            f"; difference: mAP of {first.name} minus that of the system, paired by recording, "
            "with its 95 % confidence interval"
        )
        for row, system in zip(rows, systems, strict=True):
            row.append("–" if system.difference is None else estimate_html(system.difference))
    heading = f"<p>The first system, {escape(first.name)}:</p>"
    return heading + cards + html_tables.table(caption, head, rows, dense=True)


def _median_error(content: Content, matches: Matches) -> str:
    median = error_statistic(timing_errors(matches, max(content.tolerances)), "median")
    return "–" if np.isnan(median) else f"{median:.3g} s"


def _count(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")


def _ap_estimates(content: Content, system: System, matches: Matches) -> dict[str, Estimate]:
    """mAP, and AP at each tolerance, by name of the metric, as far as they are not known."""
    metrics = {"mAP", *(f"AP@{number(tolerance)}" for tolerance in content.tolerances)}
    estimates = {}
    for metric in metrics - system.scores.keys():
        result = _bootstrap(content, {"system": matches}, metric)
        value = Metric.parse(metric).value(matches)
        estimates[metric] = Estimate(value) if result is None else result.systems["system"]
    return estimates


def _paired_difference(content: Content, index: int) -> Estimate | None:
    """mAP of the first system minus that of another, on the same draws."""
    systems = {"other": content.matches[index], "first": content.matches[0]}
    result = _bootstrap(content, systems, "mAP")
    return result.differences["first - other"] if result else None


def _bootstrap(
    content: Content, systems: Mapping[str, Matches], metric: str
) -> BootstrapResult | None:
    """The bootstrap of the report; None without replicates, or with a single cluster."""
    if not content.replicates or len({*content.clusters.values()}) < 2:
        return None
    return bootstrap(
        systems,
        clusters=content.clusters,
        replicates=content.replicates,
        seed=content.seed,
        metric=metric,
    )


def estimate_html(estimate: Estimate) -> str:
    """Value and confidence interval, the latter in an element that dense tables put below."""
    interval = estimate.interval_text(digits=3)
    return f'{Estimate(estimate.value).text(digits=3)} <span class="range">{interval}</span>'
