"""Scoring of detected events: matching, average precision, confidence intervals, counts, states."""

from __future__ import annotations

from bdl.evaluation.beat_by_beat import BeatByBeat, beat_by_beat
from bdl.evaluation.bootstrap_result import BootstrapResult
from bdl.evaluation.bootstrapping import bootstrap
from bdl.evaluation.comparison import compare
from bdl.evaluation.coverage import ScoringRules
from bdl.evaluation.curves import BestThreshold, PrecisionRecall, Screening, screening
from bdl.evaluation.delay_table import DelayTable, delay_table
from bdl.evaluation.error_table import ErrorTable, error_table
from bdl.evaluation.estimate import Estimate
from bdl.evaluation.event_score import Score, score
from bdl.evaluation.left_out import LeftOut
from bdl.evaluation.matches import Matches
from bdl.evaluation.matching import Matcher, MatchingRules, match
from bdl.evaluation.metrics import Metric
from bdl.evaluation.multiplicity import Difference
from bdl.evaluation.operating_points import CountsAtThreshold, OperatingPoints, operating_points
from bdl.evaluation.regions import Regions
from bdl.evaluation.tally import Tally
from bdl.evaluation.timing import Timing, timing

__all__ = [
    "BeatByBeat",
    "BestThreshold",
    "BootstrapResult",
    "CountsAtThreshold",
    "DelayTable",
    "Difference",
    "ErrorTable",
    "Estimate",
    "LeftOut",
    "Matcher",
    "Matches",
    "MatchingRules",
    "Metric",
    "OperatingPoints",
    "PrecisionRecall",
    "Regions",
    "Score",
    "ScoringRules",
    "Screening",
    "Tally",
    "Timing",
    "beat_by_beat",
    "bootstrap",
    "compare",
    "delay_table",
    "error_table",
    "match",
    "operating_points",
    "score",
    "screening",
    "timing",
]
