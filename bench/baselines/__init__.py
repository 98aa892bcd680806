"""Baseline detectors: boosting, QRS detectors, peaks of a channel.

Each is a function ``(recordings, events, test, scoring, seed)`` that makes all its choices on the
training recordings and returns its detections in the test recordings.
"""

from bench.baselines.boosting import boosting
from bench.baselines.choice import Detected, Scoring
from bench.baselines.peaks import peaks
from bench.baselines.qrs import gqrs, xqrs

__all__ = ["Detected", "Scoring", "boosting", "gqrs", "peaks", "xqrs"]
