"""What a reader in a hurry sees: what was scored, four large figures, and a line a system."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

import numpy as np

from bdl.evaluation import Matches
from bdl.evaluation.scoring import number
from bdl.report import html_tables
from bdl.report.content import Content, timing_errors
from bdl.report.estimates import Interval, paired_difference

Bands = Sequence[dict[str, Interval]]


def lead(content: Content) -> str:
    """What was scored, and how, in a sentence or two.

    >>> from bdl.events import Events
    >>> from bdl.report.content import System
    >>> mine = System("mine", Events.of("a", "beat", [1.0], score=[1.0]))
    >>> lead(Content("t", Events.of("a", "beat", [1.0]), (mine,), (2.0,)))
    '1 event of 1 type in 1 recording. Detections in recordings without events are left out.'
    """
    matches = content.matches[0]
    rule = "left out" if content.event_free == "ignore" else "counted as false alarms"
    days = "" if content.days is None else f", {content.days:,.1f} days"
    return (
        f"{_many(len(matches.truth_time), 'event')} of {_many(len(matches.types), 'type')} in "
        f"{_many(len(matches.recordings), 'recording')}{days}. "
        f"Detections in recordings without events are {rule}. {content.note}"
    ).rstrip()


def summary(content: Content, bands: Bands) -> str:
    """Large figures of the first system, then every system with its difference from the first."""
    strict = min(content.tolerances)
    first, matches = content.systems[0].name, content.matches[0]
    at = f"AP@{number(strict)}"
    large = [
        ("mAP", f"{bands[0]['mAP'].value:.3f}", bands[0]["mAP"].range),
        (f"AP at {strict:g} s", f"{bands[0][at].value:.3f}", bands[0][at].range),
        ("Mean best F1", f"{matches.mean_f1():.3f}", "over tolerances and types"),
        ("Median timing error", _median_error(content, matches), "of matched events"),
    ]
    head = ["system", "mAP", f"AP at {strict:g} s", "mean best F1", "median error", "detections"]
    rows = [
        [
            escape(system.name),
            band["mAP"].html,
            band[at].html,
            f"{found.mean_f1():.3f}",
            _median_error(content, found),
            f"{len(found.score):,}",
        ]
        for system, found, band in zip(content.systems, content.matches, bands, strict=True)
    ]
    caption = "Every system, with 95 % intervals in brackets"
    if len(rows) == 1:
        return html_tables.cards(large) + html_tables.table(caption, head, rows)
    if content.replicates:
        head.append("difference")
        caption += f"; difference: mAP of {first} minus that of the system, paired by recording"
        for i, row in enumerate(rows):
            row.append(paired_difference(content, 0, i).html if i else "–")
    speaks_of = f"<p>The first system, {escape(first)}:</p>"
    return speaks_of + html_tables.cards(large) + html_tables.table(caption, head, rows, dense=True)


def _median_error(content: Content, matches: Matches) -> str:
    errors = np.abs(timing_errors(matches, max(content.tolerances)))
    return f"{np.median(errors):.3g} s" if len(errors) else "–"


def _many(count: int, noun: str) -> str:
    return f"{count:,} {noun}" + ("" if count == 1 else "s")
