"""Curves over the threshold: precision and recall, sensitivity and false alarms per day.

The latter is what a screening device is judged by. A false alarm is a detection that is not a hit.
Rates are per 24 hours of scored recording; recordings without events are included only where
matching counted them (``event_free="count"``).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from bdl.arrays import Floats
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
        allowed = self.sensitivity[self.false_alarms_per_day <= false_alarms_per_day]
        return float(allowed.max(initial=0.0))

    def threshold_at(self, false_alarms_per_day: float) -> float:
        """Highest threshold that has this sensitivity; NaN where none is allowed.

        Examples
        --------
        >>> curve = Screening(np.array([0.9, 0.5]), np.array([0.5, 1.0]), np.array([0.0, 3.0]))
        >>> curve.threshold_at(1.0), curve.threshold_at(3.0)
        (0.9, 0.5)
        """
        allowed = self.false_alarms_per_day <= false_alarms_per_day
        if not allowed.any():
            return float("nan")
        best = allowed & (self.sensitivity == self.sensitivity[allowed].max())
        return float(self.threshold[best].max())


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
    days = float(matches.seconds.sum()) / 86400
    threshold, tally = matches.tallies(type, tolerance)
    return Screening(threshold, tally.recall, tally.false / days)


def mean(table: Floats) -> float:
    """Mean over tolerances, then over the types whose row is not NaN."""
    rows = table.mean(axis=1)
    defined = rows[~np.isnan(rows)]
    return float(defined.mean()) if len(defined) else float("nan")
