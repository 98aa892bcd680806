"""Sensitivity, precision and false alarms of the detections with at least a given score."""

from __future__ import annotations

from abc import abstractmethod
from typing import ClassVar, Literal

import numpy as np
from pydantic import PositiveFloat

from bdl.arrays import Floats
from bdl.evaluation.alarms import false_alarms
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.metric import Metric
from bdl.evaluation.tally import Tallies, Tally, ratio


class MetricAtThreshold(Metric):
    """Base class of metrics that are read from counts at a threshold, types together.

    Parameters
    ----------
    tolerance
        One of the matched tolerances, in seconds.
    threshold
        Least score of the detections that count.
    type
        One event type. None takes all types together.
    """

    tolerance: PositiveFloat
    threshold: float

    def values(self, matches: Matches, weights: Floats) -> Floats:
        tally = tally_at(matches, weights, self.threshold, self.tolerance, self.type)
        return self.rates(tally, matches, weights)

    @abstractmethod
    def rates(self, tally: Tallies, matches: Matches, weights: Floats) -> Floats:
        """The metric of each replicate from its weighted counts, (replicates,)."""


def tally_at(
    matches: Matches, weights: Floats, threshold: float, tolerance: float, type: str | None
) -> Tallies:
    """Weighted hits, detections and events of each replicate, (replicates,)."""
    types = matches.types if type is None else (type,)
    places = [matches.type_index(name) for name in types]
    cut = matches.cuts([threshold])[0]
    size = len(matches.recordings)
    hits, detections = np.zeros(size), np.zeros(size)
    for name, j in zip(types, places, strict=True):
        rows, _ = matches.hits(name, tolerance)
        hits += np.bincount(matches.recording[rows[rows < cut[j]]], minlength=size)
        counted = matches.recording[matches.start[j] : cut[j]]
        detections += np.bincount(counted, minlength=size)
    truths = matches.truths[:, places].sum(axis=1)
    return Tally(weights @ hits, weights @ detections, weights @ truths)


class Sensitivity(MetricAtThreshold):
    """Sensitivity (recall): the share of events that are detected with at least a given score.

    Name: ``sensitivity@60>=0.5``.

    Examples
    --------
    >>> from bdl.evaluation.metrics import Metric
    >>> Metric.parse("sensitivity@60>=0.5")
    Sensitivity(kind='sensitivity', tolerance=60.0, type=None, delay=None, threshold=0.5)
    """

    kind: Literal["sensitivity"] = "sensitivity"

    def rates(self, tally: Tallies, matches: Matches, weights: Floats) -> Floats:
        return tally.recall


class Precision(MetricAtThreshold):
    """Precision: the share of detections of at least a given score that are hits.

    Name: ``precision@60>=0.5``.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> detections = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> matches = match(Events.of("a", "beat", [10.0, 20.0]), detections, [5.0])
    >>> Precision(tolerance=5.0, threshold=0.9).value(matches)
    1.0
    """

    kind: Literal["precision"] = "precision"

    def rates(self, tally: Tallies, matches: Matches, weights: Floats) -> Floats:
        return tally.precision


class FalseAlarmRate(MetricAtThreshold):
    """False alarms per day: detections of at least a given score that are not hits, per 24 hours.

    Name: ``false_alarms_per_day@60>=0.5``. The matches need ``durations``. With all types together,
    the two ends of an interval are one alarm (`bdl.evaluation.alarms`).

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> truth = Events.of("a", "beat", [10.0])
    >>> detections = Events.of("a", "beat", [11.0, 12.0], score=[0.9, 0.8])
    >>> matches = match(truth, detections, [5.0], durations={"a": 43200.0})
    >>> FalseAlarmRate(tolerance=5.0, threshold=0.8).value(matches)
    2.0
    """

    higher_is_better: ClassVar[bool] = False

    kind: Literal["false_alarms_per_day"] = "false_alarms_per_day"

    def rates(self, tally: Tallies, matches: Matches, weights: Floats) -> Floats:
        false = tally.false
        if self.type is None and matches.intervals:
            false = weights @ false_alarms(matches, self.threshold, self.tolerance)
        return ratio(false, weights @ matches.seconds / 86400)
