"""False alarms per day at a threshold."""

from __future__ import annotations

from typing import ClassVar, Literal

from bdl.arrays import Floats
from bdl.evaluation.alarms import false_alarms
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.at_threshold import MetricAtThreshold
from bdl.evaluation.tally import Tallies, ratio


class FalseAlarmRate(MetricAtThreshold):
    """False alarms per day: detections of at least a given score that are not hits.

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
            false = weights @ false_alarms(matches, [self.threshold], self.tolerance)[0]
        return ratio(false, weights @ matches.seconds / 86400)
