"""False alarms per day at a threshold."""

from __future__ import annotations

from typing import ClassVar, Literal

from pydantic import PositiveFloat

from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics._tallies import tally_at
from bdl.evaluation.metrics.metric import Floats, Metric
from bdl.evaluation.tally import ratio


class FalseAlarmRate(Metric):
    """False alarms per day: detections of at least a given score that are no hits, per 24 hours.

    Name: ``false_alarms_per_day@60>=0.5``. The matches need ``durations``.

    Parameters
    ----------
    tolerance
        One of the matched tolerances, in seconds.
    threshold
        Least score of the detections that count.
    type
        One event type. None takes all types together.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> detections = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> truth = Events.of("a", "beat", [10.0, 20.0])
    >>> matches = match(truth, detections, [5.0], durations={"a": 43200.0})
    >>> FalseAlarmRate(tolerance=5.0, threshold=0.8).value(matches)
    2.0
    """

    higher_is_better: ClassVar[bool] = False

    kind: Literal["false_alarms_per_day"] = "false_alarms_per_day"
    tolerance: PositiveFloat
    threshold: float

    def values(self, matches: Matches, weights: Floats) -> Floats:
        """False alarms per 24 hours of each replicate, (replicates,)."""
        tally = tally_at(matches, weights, self.threshold, self.tolerance, self.type)
        return ratio(tally.false, weights @ matches.seconds / 86400)
