"""Scoring of detected events: matching, average precision, confidence intervals, counts, states."""

from __future__ import annotations

from bdl.evaluation.bootstrapping import BootstrapResult, bootstrap
from bdl.evaluation.comparison import compare
from bdl.evaluation.error_table import ErrorTable, error_table
from bdl.evaluation.estimate import Estimate
from bdl.evaluation.event_score import Score, score
from bdl.evaluation.matches import BestThreshold, LeftOut, Matches, PrecisionRecall
from bdl.evaluation.matching import Matcher, MatchingRules, match
from bdl.evaluation.metrics import Metric
from bdl.evaluation.regions import Regions
from bdl.evaluation.screening import Screening, screening
from bdl.evaluation.tally import Tally
from bdl.evaluation.timing import Timing, timing

__all__ = [
    "BestThreshold",
    "BootstrapResult",
    "ErrorTable",
    "Estimate",
    "LeftOut",
    "Matcher",
    "Matches",
    "MatchingRules",
    "Metric",
    "PrecisionRecall",
    "Regions",
    "Score",
    "Screening",
    "Tally",
    "Timing",
    "bootstrap",
    "compare",
    "error_table",
    "match",
    "score",
    "screening",
    "timing",
]
