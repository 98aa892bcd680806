"""Scoring of detected events: matching, average precision, uncertainty, counts, states."""

from __future__ import annotations

from bdl.evaluation.errors import ErrorTable, error_table
from bdl.evaluation.matches import BestF1, Curve, LeftOut, Matches
from bdl.evaluation.matching import Matcher, match
from bdl.evaluation.regions import Regions
from bdl.evaluation.resampling import Bootstrap, Estimate, bootstrap
from bdl.evaluation.scoring import Score, score
from bdl.evaluation.screening import Screening, screening
from bdl.evaluation.timing import Timing, timing

__all__ = [
    "BestF1",
    "Bootstrap",
    "Curve",
    "ErrorTable",
    "Estimate",
    "LeftOut",
    "Matcher",
    "Matches",
    "Regions",
    "Score",
    "Screening",
    "Timing",
    "bootstrap",
    "error_table",
    "match",
    "score",
    "screening",
    "timing",
]
