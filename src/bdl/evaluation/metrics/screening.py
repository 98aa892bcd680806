"""Sensitivity at a rate of false alarms."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import NonNegativeFloat, PositiveFloat

from bdl.arrays import Floats
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

    def replicates(self, matches: Matches, weights: Floats) -> Floats:
        return self.values(matches, weights)  # late hits are not false alarms

    def values(self, matches: Matches, weights: Floats) -> Floats:
        timely = self.timely(matches)
        types = matches.types if self.type is None else (self.type,)
        days = weights @ matches.seconds / 86400
        table = np.full((len(types), len(weights)), np.nan)
        for number, name in enumerate(types):
            j = matches.type_index(name)
            first, stop = int(matches.start[j]), int(matches.start[j + 1])
            false, hit = np.ones(stop - first), np.zeros(stop - first)
            false[matches.hits(name, self.tolerance)[0] - first] = 0.0
            hit[timely.hits(name, self.tolerance)[0] - first] = 1.0
            ends = np.unique(matches.end[first:stop]) - first - 1  # last of each distinct score
            truths = weights @ matches.truths[:, j]
            step = max(1, BLOCK // max(stop - first, 1))
            for begin in range(0, len(weights), step):
                part = slice(begin, begin + step)
                drawn = weights[part][:, matches.recording[first:stop]]
                alarms = np.cumsum(drawn * false, axis=1)[:, ends]
                hits = np.cumsum(drawn * hit, axis=1)[:, ends]
                allowed = alarms <= self.false_alarms_per_day * days[part, None] * (1 + 1e-9)
                most = np.where(allowed, hits, 0.0).max(axis=1, initial=0.0)
                has_events = truths[part] > 0
                table[number, part][has_events] = most[has_events] / truths[part][has_events]
        known_types = ~np.isnan(table).all(axis=1)
        if not known_types.any():
            return np.full(len(weights), np.nan)
        means: Floats = np.nanmean(table[known_types], axis=0)
        return means
