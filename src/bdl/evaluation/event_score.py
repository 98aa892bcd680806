"""All scores of one set of detections: `score` matches once and everything is read from that.

Printed, a score says which rule for event-free recordings was used and how many rows were left
out, since both change the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bdl.evaluation.coverage import (
    ScoringRules,
    matching_rules,
    undetected_text,
    warn_of_undetected,
    without,
)
from bdl.evaluation.error_table import ErrorTable, error_table
from bdl.evaluation.estimate import plain
from bdl.evaluation.given_events import as_events
from bdl.evaluation.matches import Matches
from bdl.evaluation.matching import match
from bdl.evaluation.metrics import Metric
from bdl.evaluation.metrics.metric import number
from bdl.evaluation.timing import timing
from bdl.events import Events
from bdl.frames import Frame, Tabular
from bdl.text_tables import number_text, text_table

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

EVENT_FREE = {
    "ignore": "recordings without events are ignored",
    "count": "detections in recordings without events count as false alarms",
}


@dataclass(frozen=True, eq=False)
class Score(Tabular):
    """Scores of one set of detections, made by `score`.

    Parameters
    ----------
    matches
        Matches from which all scores are computed.
    """

    matches: Matches

    @property
    def mean_average_precision(self) -> float:
        """Mean of AP over tolerances, then types."""
        return self.matches.mean_average_precision()

    @property
    def mean_f1(self) -> float:
        """Mean of the best F1 over tolerances, then types."""
        return self.matches.mean_f1()

    @property
    def average_precision(self) -> dict[str, dict[str, float | None]]:
        """AP by event type and tolerance; None for a type without events."""
        return by_name(self.matches, self.matches.average_precision())

    def metric(self, metric: str | Metric) -> float:
        """One metric, given as a value or by name such as ``AP@60:onset``."""
        return Metric.parse(metric).value(self.matches)

    def errors(self, tolerance: float | None = None, threshold: float | None = None) -> ErrorTable:
        """Errors by kind at one tolerance, by default the widest; see `error_table`."""
        widest = max(self.matches.tolerances)
        return error_table(
            self.matches, widest if tolerance is None else tolerance, threshold=threshold
        )

    def timing(self) -> dict[str, dict[str, dict[str, float | None]]]:
        """Errors in time of the hits at the best-F1 threshold, by type and tolerance."""
        matches = self.matches
        thresholds = matches.best_f1().threshold
        return {
            name: {
                number(tolerance): {
                    key: plain(value)
                    for key, value in timing(matches, name, tolerance, threshold=thresholds[j, k])
                    ._asdict()
                    .items()
                }
                for k, tolerance in enumerate(matches.tolerances)
            }
            for j, name in enumerate(matches.types)
        }

    def false_alarms_per_day(self) -> dict[str, dict[str, float | None]] | None:
        """False alarms per day at the best-F1 threshold; None without durations."""
        matches = self.matches
        if matches.durations is None:
            return None
        days = float(matches.seconds.sum()) / 86400
        thresholds = matches.best_f1().threshold
        rates = np.full(thresholds.shape, np.nan)
        for j, k in np.ndindex(rates.shape):
            if not np.isnan(thresholds[j, k]):
                rates[j, k] = matches.tally(float(thresholds[j, k])).false[j, k] / days
        return by_name(matches, rates)

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per event type and tolerance."""
        matches = self.matches
        best = matches.best_f1()
        places = [*np.ndindex(matches.count.shape)]
        rows = [
            timing(matches, matches.types[j], matches.tolerances[k], threshold=best.threshold[j, k])
            for j, k in places
        ]
        return {
            "event": [matches.types[j] for j, _ in places],
            "tolerance": [matches.tolerances[k] for _, k in places],
            "AP": matches.average_precision().ravel(),
            "F1": best.f1.ravel(),
            "threshold": best.threshold.ravel(),
            "bias": [row.bias for row in rows],
            "median": [row.median for row in rows],
            "p95": [row.p95 for row in rows],
        }

    def plot(self) -> Figure:
        """AP over tolerance and precision over recall, as a plotly figure."""
        from bdl.evaluation.score_plot import score_plot

        return score_plot(self.matches)

    def to_dict(self, threshold: float | None = None) -> dict[str, Any]:
        """All scores as plain data, ready for JSON.

        Parameters
        ----------
        threshold
            Least score of the detections in the error table; by default the best-F1 threshold.
        """
        matches = self.matches
        best = matches.best_f1()
        errors = self.errors(threshold=threshold)
        totals = (matches.truths.sum(axis=0), matches.detections.sum(axis=0))
        truths, detections = (dict(zip(matches.types, t.tolist(), strict=True)) for t in totals)
        return {
            "mAP": plain(self.mean_average_precision),
            "AP": self.average_precision,
            "mF1": plain(self.mean_f1),
            "F1": by_name(matches, best.f1),
            "F1_threshold": by_name(matches, best.threshold),
            "event_free": matches.event_free,
            "recordings": len(matches.recordings),
            "truths": truths,
            "detections": detections,
            "timing": self.timing(),
            "false_alarms_per_day": self.false_alarms_per_day(),
            "errors": {
                "tolerance": errors.tolerance,
                "reach": errors.reach,
                "threshold": {name: plain(value) for name, value in errors.threshold.items()},
                **errors.totals,
            },
            "undetected": [*matches.undetected],
            "left_out": matches.left_out.lines(),
        }

    def text(self, width: int | None = None) -> str:
        """All scores as a table; names of event types are shortened to fit the width."""
        matches, columns = self.matches, self.columns()
        head = f"mF1 {self.mean_f1:.4f}"
        if matches.ranked:
            head = f"mAP {self.mean_average_precision:.4f}   {head}"
        else:
            head += "; detections without scores: all are counted, there is no average precision"
        undetected = undetected_text(matches)
        lines = [
            head,
            f"{len(matches.recordings):,} recordings, {len(matches.truth_time):,} events, "
            f"{len(matches.time):,} detections",
            EVENT_FREE[matches.event_free],
            *([undetected] if undetected else []),
            *(f"left out: {line}" for line in matches.left_out.lines()),
        ]
        scores = {
            "AP": [number_text(value) for value in columns["AP"]],
            "best F1": [number_text(value) for value in columns["F1"]],
            "threshold": [number_text(value, ".4g") for value in columns["threshold"]],
        }
        errors = {"bias": "bias", "median": "median", "p95": "p95"}
        table = {
            "type": columns["event"],
            "tolerance": [number(tolerance) for tolerance in columns["tolerance"]],
            **(scores if matches.ranked else {"F1": scores["best F1"]}),
            **{k: [number_text(x, ".3g") for x in columns[v]] for k, v in errors.items()},
        }
        return "\n".join([*lines, *text_table(table, width=width)])

    __repr__ = text

    def _repr_html_(self) -> str:
        head = f"mAP {number_text(self.mean_average_precision)}, mF1 {self.mean_f1:.4f}"
        note = undetected_text(self.matches)
        return f"<p>{escape('; '.join(filter(None, [head, note])))}</p>{super()._repr_html_()}"


def score(
    truth: Events | Frame,
    detections: Events | Frame,
    tolerances: Sequence[float],
    **rules: Unpack[ScoringRules],
) -> Score:
    """Score detections against annotated events.

    Parameters
    ----------
    truth, detections
        Annotated events and detected ones: `Events`, or data frames of pandas, polars or pyarrow
        with the columns recording, event, time (seconds) and, for detections, score. Without
        scores all metrics but average precision are given.
    tolerances
        Seconds, positive and distinct; a hit is *strictly* nearer.
    **rules
        What is scored (`bdl.evaluation.coverage.ScoringRules`).

    Returns
    -------
    Score
        All scores; it prints as a table, and shows itself in a notebook.

    Warns
    -----
    CoverageWarning
        Recordings with events have no detection, and ``undetected`` does not say what that means.

    Examples
    --------
    >>> truth = Events.of("a", "beat", [10.0, 20.0])
    >>> detections = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> score(truth, detections, [5.0, 0.5]).average_precision
    {'beat': {'5': 0.8333333333333333, '0.5': 0.0}}
    >>> import pyarrow as pa
    >>> table = pa.table({"recording": ["a"], "event": ["beat"], "time": [9.0]})
    >>> score(truth, table, tolerances=[5.0]).metric("F1@5")
    0.6666666666666666
    """
    true = as_events(truth, "table of annotated events")
    detected = as_events(detections, "table of detections")
    matching, lost = matching_rules(true, [detected], rules)
    matches = without(match(true, detected, tolerances, **matching), lost, true)
    warn_of_undetected({"detections": [matches]}, rules)
    return Score(matches)


def by_name(matches: Matches, table: Any) -> dict[str, dict[str, float | None]]:
    """A (types, tolerances) table as {type: {tolerance: value}}, None for NaN."""
    names = [number(tolerance) for tolerance in matches.tolerances]
    return {
        kind: {name: plain(value) for name, value in zip(names, row, strict=True)}
        for kind, row in zip(matches.types, table.tolist(), strict=True)
    }
