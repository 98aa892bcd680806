"""Sensitivity against false alarms, as the threshold falls: what a screening device is judged by.

A false alarm is a detection that is no hit. Rates are per 24 hours of scored recording, event-free
recordings included only where matching counted them (``event_free="count"``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics import seconds

Floats = NDArray[np.float64]


class Screening(NamedTuple):
    """At each distinct score, highest first."""

    threshold: Floats
    sensitivity: Floats
    false_alarms_per_day: Floats

    def sensitivity_at(self, false_alarms_per_day: float) -> float:
        """Highest sensitivity that costs at most so many false alarms per 24 hours.

        >>> curve = Screening(np.array([0.9, 0.5]), np.array([0.5, 1.0]), np.array([0.0, 3.0]))
        >>> curve.sensitivity_at(1.0), curve.sensitivity_at(3.0)
        (0.5, 1.0)
        """
        allowed = self.sensitivity[self.false_alarms_per_day <= false_alarms_per_day]
        return float(allowed.max()) if len(allowed) else 0.0


def screening(
    matches: Matches, type: str, tolerance: float, durations: Mapping[str, float]
) -> Screening:
    """Sensitivity and false alarms per 24 hours over the threshold, for one type and tolerance.

    Parameters
    ----------
    durations : seconds of each scored recording.

    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> found = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> kept = match(Events.of("a", "beat", [10.0, 20.0]), found, [5.0])
    >>> screening(kept, "beat", 5.0, {"a": 43200.0}).false_alarms_per_day.tolist()
    [0.0, 2.0, 2.0]
    """
    j = matches.type_index(type)
    days = seconds(matches, durations).sum() / 86400
    rows, _ = matches.hits(type, tolerance)
    ends = np.unique(matches.end[matches.start[j] : matches.start[j + 1]])
    hits = np.searchsorted(rows, ends)
    truths = matches.first_truth[j + 1] - matches.first_truth[j]
    sensitivity = hits / truths if truths else np.full(len(ends), np.nan)
    return Screening(matches.score[ends - 1], sensitivity, (ends - matches.start[j] - hits) / days)
