"""Sensitivity at a rate of false alarms."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import NonNegativeFloat, PositiveFloat

from bdl.arrays import Floats
from bdl.evaluation.curves import highest_sensitivity, screening_rates
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.metric import Metric

BLOCK = 1 << 22  # numbers that are computed at once


class ScreeningSensitivity(Metric):
    """Highest sensitivity at no more than some false alarms per day, as the threshold falls.

    With an allowed delay, an event counts if its detection is issued in time. A detection that
    comes too late is not a hit, but not a false alarm either.

    Parameters
    ----------
    tolerance
        One of the matched tolerances, in seconds.
    type
        One event type. None takes the mean over all types.
    false_alarms_per_day
        Largest rate, per day of scored recording; needs durations.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> detections = Events.of("a", "x", [10.0, 70.0], score=[0.9, 0.8], issued=[15.0, 99.0])
    >>> truth = Events.of("a", "x", [10.0, 70.0])
    >>> matches = match(truth, detections, [5.0], durations={"a": 86400.0})
    >>> [ScreeningSensitivity(tolerance=5.0, delay=d).value(matches) for d in (5.0, None)]
    [0.5, 1.0]
    """

    kind: Literal["screening"] = "screening"
    tolerance: PositiveFloat
    false_alarms_per_day: NonNegativeFloat = 1.0

    @property
    def needs_scores(self) -> bool:
        return True

    def timely(self, matches: Matches) -> Matches:
        return matches  # late hits are not false alarms: `values` needs them

    def values(self, matches: Matches, weights: Floats) -> Floats:
        timely = super().timely(matches)
        types = matches.types if self.type is None else (self.type,)
        table = np.full((len(types), len(weights)), np.nan)
        for number, name in enumerate(types):
            j = matches.type_index(name)
            step = max(1, BLOCK // max(int(matches.start[j + 1] - matches.start[j]), 1))
            for begin in range(0, len(weights), step):
                part = weights[begin : begin + step]
                rates = screening_rates(matches, timely, name, self.tolerance, part)
                highest = highest_sensitivity(*rates, self.false_alarms_per_day)
                has_events = part @ matches.truths[:, j] > 0
                table[number, begin : begin + step] = np.where(has_events, highest, np.nan)
        known_types = ~np.isnan(table).all(axis=1)
        if not known_types.any():
            return np.full(len(weights), np.nan)
        means: Floats = np.nanmean(table[known_types], axis=0)
        return means
