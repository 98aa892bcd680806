"""F-measure with a collar, as sound event detection and music onset detection use it.

A truth and a detection can be paired if they lie *at most* the collar apart; the pairing is the
largest possible one (not the greedy one of event AP, and scores play no part beyond a threshold).
For intervals both ends must agree: the onset within its collar, the offset within the larger of its
collar and a share of the true length. Figures are pooled over recordings, per type.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from bdl.errors import ConfigError
from bdl.evaluation.compiled import compiled
from bdl.events import Events
from bdl.intervals import Intervals

Floats = NDArray[np.float64]


class FMeasure(NamedTuple):
    """Counts, and the figures that follow from them; NaN where a figure has no denominator."""

    hits: int
    truths: int
    detections: int

    @property
    def precision(self) -> float:
        """Hits over detections."""
        return self.hits / self.detections if self.detections else float("nan")

    @property
    def recall(self) -> float:
        """Hits over truths."""
        return self.hits / self.truths if self.truths else float("nan")

    @property
    def f1(self) -> float:
        """Twice the hits over truths and detections."""
        total = self.truths + self.detections
        return 2 * self.hits / total if total else float("nan")


def collar_f(
    truth: Events, detections: Events, collar: float, *, threshold: float = -np.inf
) -> dict[str, FMeasure]:
    """F-measure of event times, by type.

    Parameters
    ----------
    collar : seconds; a pair may be exactly so far apart.
    threshold : detections with a lower score are left out.

    >>> truth = Events.of("a", "onset", [10.0, 11.0])
    >>> found = Events.of("a", "onset", [10.5, 11.5, 30.0], score=[0.9, 0.8, 0.7])
    >>> result = collar_f(truth, found, 0.5)["onset"]
    >>> result.hits, result.f1
    (2, 0.8)
    """
    _check(collar)
    if detections.score is not None:
        detections = detections._rows(detections.score >= threshold)
    types = sorted({*truth.types, *detections.types})
    names = sorted({*truth.recordings, *detections.recordings})
    out = {}
    for kind in types:
        hits = wanted = found = 0
        for name in names:
            true, detected = truth.times(name, kind), detections.times(name, kind)
            hits += int(_largest_pairing(true, detected, float(collar)))
            wanted += len(true)
            found += len(detected)
        out[kind] = FMeasure(hits, wanted, found)
    return out


def interval_collar_f(
    truth: Intervals,
    detections: Intervals,
    *,
    collar: float,
    offset_share: float = 0.0,
) -> FMeasure:
    """F-measure of intervals whose onset and offset must both agree.

    Parameters
    ----------
    collar : seconds at the onset and the least at the offset.
    offset_share : the offset may also be off by this share of the true length.

    >>> true = Intervals.of("a", "voice", 0.0, 10.0)
    >>> found = Intervals.of("a", "voice", 0.5, 12.0)
    >>> interval_collar_f(true, found, collar=1.0).hits
    0
    >>> interval_collar_f(true, found, collar=1.0, offset_share=0.2).hits
    1
    """
    _check(collar)
    if offset_share < 0:
        raise ConfigError(f"offset_share must not be negative, got {offset_share}")
    hits = 0
    for name in {*truth.recordings} & {*detections.recordings}:
        true, found = truth.of_recording(name), detections.of_recording(name)
        starts = np.abs(true[:, None, 0] - found[None, :, 0]) <= collar
        allowed = np.maximum(collar, offset_share * (true[:, 1] - true[:, 0]))[:, None]
        ends = np.abs(true[:, None, 1] - found[None, :, 1]) <= allowed
        pairs = maximum_bipartite_matching(csr_array(starts & ends), perm_type="column")
        hits += int((pairs >= 0).sum())
    return FMeasure(hits, len(truth), len(detections))


@compiled
def _largest_pairing(true: Floats, found: Floats, collar: float) -> int:
    """Size of the largest pairing of two sorted lists: from left to right, whoever fits."""
    i = j = hits = 0
    while i < len(true) and j < len(found):
        if abs(true[i] - found[j]) <= collar:
            hits += 1
            i += 1
            j += 1
        elif found[j] < true[i]:
            j += 1
        else:
            i += 1
    return hits


def _check(collar: float) -> None:
    if not (np.isfinite(collar) and collar > 0):
        raise ConfigError(f"the collar must be a positive number of seconds, got {collar}")
