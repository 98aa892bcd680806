"""Curves over the threshold: precision and recall, sensitivity and false alarms per day.

The latter is what a screening device is judged by. A false alarm is a detection that is not a hit.
Rates are per 24 hours of scored recording; recordings without events are included only where
matching counted them (``event_free="count"``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bdl.arrays import Flags, Floats
from bdl.evaluation.tally import ratio
from bdl.frames import Tabular
from bdl.table_plots import Drawing

if TYPE_CHECKING:
    from bdl.evaluation.matches import Matches


@dataclass(frozen=True, eq=False)
class PrecisionRecall(Tabular):
    """Precision and recall, (n,), of the detections down to each distinct score, highest first."""

    drawing = Drawing("recall", "precision", mode="lines")

    threshold: Floats
    precision: Floats
    recall: Floats


@dataclass(frozen=True, eq=False)
class Screening(Tabular):
    """Sensitivity and false alarms per day, (n,), down to each distinct score, highest first."""

    drawing = Drawing("false_alarms_per_day", "sensitivity", mode="lines")

    threshold: Floats
    sensitivity: Floats
    false_alarms_per_day: Floats

    def sensitivity_at(self, false_alarms_per_day: float) -> float:
        """Highest sensitivity at no more than this many false alarms per day.

        Examples
        --------
        >>> curve = Screening(np.array([0.9, 0.5]), np.array([0.5, 1.0]), np.array([0.0, 3.0]))
        >>> curve.sensitivity_at(1.0), curve.sensitivity_at(3.0)
        (0.5, 1.0)
        """
        rates = self.false_alarms_per_day
        return float(highest_sensitivity(self.sensitivity, rates, false_alarms_per_day))

    def threshold_at(self, false_alarms_per_day: float) -> float:
        """Highest threshold that has this sensitivity; NaN where none is allowed.

        Examples
        --------
        >>> curve = Screening(np.array([0.9, 0.5]), np.array([0.5, 1.0]), np.array([0.0, 3.0]))
        >>> curve.threshold_at(1.0), curve.threshold_at(3.0)
        (0.9, 0.5)
        """
        best = is_allowed(self.false_alarms_per_day, false_alarms_per_day) & (
            self.sensitivity == self.sensitivity_at(false_alarms_per_day)
        )
        return float(self.threshold[best].max()) if best.any() else float("nan")


class BestThreshold(NamedTuple):
    """Best F1 over all thresholds and the threshold that reaches it, both (types, tolerances)."""

    f1: Floats
    threshold: Floats


def screening(matches: Matches, type: str, tolerance: float) -> Screening:
    """Sensitivity and false alarms per day over the threshold, for one type and tolerance.

    Parameters
    ----------
    matches
        Matches with ``durations``.
    type, tolerance
        Event type and matched tolerance.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> detections = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> truth = Events.of("a", "beat", [10.0, 20.0])
    >>> matches = match(truth, detections, [5.0], durations={"a": 43200.0})
    >>> screening(matches, "beat", 5.0).false_alarms_per_day.tolist()
    [0.0, 2.0, 2.0]
    """
    threshold, _ = matches.tallies(type, tolerance)
    weights = np.ones((1, len(matches.recordings)))
    [sensitivity], [rates] = screening_rates(matches, matches, type, tolerance, weights)
    return Screening(threshold, sensitivity, rates)


def screening_rates(
    matches: Matches, timely: Matches, type: str, tolerance: float, weights: Floats
) -> tuple[Floats, Floats]:
    """Sensitivity and false alarms per day by (replicate, distinct score), highest score first.

    ``weights`` (replicates, recordings) is how often each recording counts. Only the hits of
    ``timely`` count for sensitivity; other hits are not false alarms either.
    """
    j = matches.type_index(type)
    first, stop = int(matches.start[j]), int(matches.start[j + 1])
    last = np.unique(matches.end[first:stop]) - first - 1  # of each distinct score
    drawn = weights[:, matches.recording[first:stop]]
    hit, false = np.zeros(stop - first), np.ones(stop - first)
    hit[timely.hits(type, tolerance)[0] - first] = 1.0
    false[matches.hits(type, tolerance)[0] - first] = 0.0
    hits, alarms = (np.cumsum(drawn * rows, axis=1)[:, last] for rows in (hit, false))
    truths, days = weights @ matches.truths[:, j], weights @ matches.seconds / 86400
    return ratio(hits, truths[:, None]), ratio(alarms, days[:, None])


def highest_sensitivity(sensitivity: Floats, rates: Floats, per_day: float) -> Floats:
    """Highest sensitivity at allowed rates of false alarms, over the last axis."""
    undefined = np.isnan(sensitivity)  # there are no events
    counted = is_allowed(rates, per_day) | undefined
    highest: Floats = np.where(counted, sensitivity, 0.0).max(axis=-1, initial=0.0)
    return highest


def is_allowed(rates: Floats, per_day: float) -> Flags:
    """Whether rates of false alarms are at most so many per day, up to rounding."""
    allowed: Flags = rates <= per_day * (1 + 1e-9)
    return allowed


def mean(table: Floats) -> float:
    """Mean over tolerances, then over the types whose row is not NaN."""
    rows = table.mean(axis=1)
    defined = rows[~np.isnan(rows)]
    return float(defined.mean()) if len(defined) else float("nan")
