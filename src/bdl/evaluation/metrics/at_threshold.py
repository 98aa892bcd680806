"""Metrics of the detections with at least a given score."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from pydantic import PositiveFloat

from bdl.arrays import Floats
from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.metric import Metric
from bdl.evaluation.tally import Tallies, Tally


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
