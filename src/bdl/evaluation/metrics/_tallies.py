"""Weighted counts of the detections with at least a given score."""

from __future__ import annotations

import numpy as np

from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.metric import Floats
from bdl.evaluation.tally import Tallies, Tally


def tally_at(
    matches: Matches, weights: Floats, threshold: float, tolerance: float, type: str | None
) -> Tallies:
    """Hits, detections and truths of each replicate, (replicates,).

    Parameters
    ----------
    matches
        Matches of one set of detections.
    weights
        (replicates, recordings) how often each recording counts.
    threshold, tolerance
        Least score that counts, and seconds.
    type
        One event type, or None for all types together.
    """
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
