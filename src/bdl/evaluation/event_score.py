"""All scores of one set of detections: `score` matches once and everything is read from that.

Printed, a score says which rule for event-free recordings was used and how many rows were left
out, since both change the values.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np

from bdl.evaluation.error_table import ErrorTable, error_table
from bdl.evaluation.estimate import plain
from bdl.evaluation.matches import Matches
from bdl.evaluation.matching import MatchingRules, match
from bdl.evaluation.metrics import Metric
from bdl.evaluation.metrics.metric import number
from bdl.evaluation.timing import timing
from bdl.events import Events
from bdl.frames import Tabular

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

EVENT_FREE = {
    "ignore": "recordings without truths are ignored",
    "count": "detections in recordings without truths count as false alarms",
}


@dataclass(frozen=True, eq=False)
class Score(Tabular):
    """Scores of one set of detections, made by `score`.

    Parameters
    ----------
    matches
        What everything is read from.
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
        """AP by event type and tolerance; None for a type without truths."""
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
        """False alarms per 24 hours at the best-F1 threshold; None without durations."""
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
            "left_out": matches.left_out.lines(),
        }

    def __str__(self) -> str:
        matches = self.matches
        rows = [
            f"mAP {self.mean_average_precision:.4f}   mF1 {self.mean_f1:.4f}",
            f"{len(matches.recordings):,} recordings, {len(matches.truth_time):,} truths, "
            f"{len(matches.time):,} detections; {EVENT_FREE[matches.event_free]}",
            *(f"left out: {line}" for line in matches.left_out.lines()),
            f"{'type':<16} {'tolerance':>10} {'AP':>8} {'best F1':>8} {'at score':>10} "
            f"{'bias':>8} {'median':>8} {'95 %':>8}",
        ]
        for event, tolerance, ap, f1, threshold, *errors in zip(
            *self.columns().values(), strict=True
        ):
            rows.append(
                f"{event:<16} {number(tolerance):>10} {ap:8.4f} {f1:8.4f} {threshold:10.4g} "
                + " ".join(f"{error:8.3g}" for error in errors)
            )
        return "\n".join(rows)

    def _repr_html_(self) -> str:
        head = f"mAP {self.mean_average_precision:.4f}, mF1 {self.mean_f1:.4f}"
        return f"<p>{head}</p>{super()._repr_html_()}"


def score(
    truth: Events, detections: Events, tolerances: Sequence[float], **rules: Unpack[MatchingRules]
) -> Score:
    """Match and score.

    Parameters
    ----------
    truth, detections, tolerances, **rules
        As in `bdl.evaluation.match`: annotated events, events with scores, seconds, and what is
        scored (`bdl.evaluation.MatchingRules`).

    Returns
    -------
    Score
        All scores; it prints as a table, and shows itself in a notebook.

    Examples
    --------
    >>> truth = Events.of("a", "beat", [10.0, 20.0])
    >>> detections = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> score(truth, detections, [5.0, 0.5]).average_precision
    {'beat': {'5': 0.8333333333333333, '0.5': 0.0}}
    """
    return Score(match(truth, detections, tolerances, **rules))


def by_name(matches: Matches, table: Any) -> dict[str, dict[str, float | None]]:
    """A (types, tolerances) table as {type: {tolerance: value}}, None for NaN."""
    names = [number(tolerance) for tolerance in matches.tolerances]
    return {
        kind: {name: plain(value) for name, value in zip(names, row, strict=True)}
        for kind, row in zip(matches.types, table.tolist(), strict=True)
    }
