"""State sequences against annotated intervals, sample by sample.

A true interval covers the samples from its onset's nearest sample up to, but not including, its
offset's. A bin's state counts once for every sample of the bin, so a last partial bin has its share
and true borders inside a bin are respected. Counts are pooled over all recordings given.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from bdl.arrays import Floats
from bdl.density import Density
from bdl.errors import ConfigError, InputError
from bdl.evaluation.estimate import plain
from bdl.evaluation.reconstruction import Reconstruction
from bdl.evaluation.tally import Tally, ratio
from bdl.events import Events
from bdl.intervals import Intervals, IntervalType
from bdl.pairing import pair
from bdl.sampling import nearest_sample


@dataclass(frozen=True)
class StateScore(Tally[float]):
    """Samples inside both (hits), predicted intervals (detections), annotated ones; squared error.

    Examples
    --------
    >>> StateScore(hits=6.0, detections=8.0, truths=8.0, squared=1.0, samples=20.0).to_dict()
    {'F1': 0.75, 'IoU': 0.6, 'Brier': 0.05, 'precision': 0.75, 'recall': 0.75}
    """

    squared: float  # sum over samples of (state probability - state) ** 2
    samples: float

    @property
    def iou(self) -> float:
        """Intersection over union; NaN if nothing is inside either."""
        return ratio(self.hits, self.hits + self.false + self.missed)

    @property
    def brier(self) -> float:
        """Mean squared difference between state probability and state."""
        return ratio(self.squared, self.samples)

    def to_dict(self) -> dict[str, float | None]:
        """F1, IoU, Brier score, precision and recall as plain data."""
        return {
            "F1": plain(self.f1),
            "IoU": plain(self.iou),
            "Brier": plain(self.brier),
            "precision": plain(self.precision),
            "recall": plain(self.recall),
        }


@dataclass(frozen=True)
class ChosenReconstruction:
    """The chosen reconstruction and its score on the calibration recordings."""

    reconstruction: Reconstruction
    score: StateScore


def states(
    densities: Iterable[Density],
    truth: Events,
    interval: IntervalType,
    reconstruction: Reconstruction,
) -> StateScore:
    """Score one reconstruction."""
    return _scores(densities, truth, interval, [reconstruction])[0]


def choose(
    densities: Iterable[Density],
    truth: Events,
    interval: IntervalType,
    candidates: Sequence[Reconstruction],
) -> ChosenReconstruction:
    """The reconstruction with the highest F1 on calibration recordings; the first of equals.

    Examples
    --------
    >>> from bdl.evaluation.reconstruction import Direct
    >>> values = np.array([[0.1], [0.3], [0.3], [0.1]], np.float32)
    >>> density = Density("a", values, ("sleep",), 1.0, stride=5, samples=20, kind="state")
    >>> sleep = IntervalType("sleep", onset="onset", offset="wakeup")
    >>> truth = Events.of("a", ["onset", "wakeup"], [5.0, 15.0])
    >>> choose([density], truth, sleep, Direct.candidates()).reconstruction.threshold
    0.15
    """
    if not candidates:
        raise ConfigError("no reconstructions to choose from")
    scores = _scores(densities, truth, interval, candidates)
    best = int(np.argmax([-np.inf if np.isnan(score.f1) else score.f1 for score in scores]))
    return ChosenReconstruction(candidates[best], scores[best])


def _scores(
    densities: Iterable[Density],
    truth: Events,
    interval: IntervalType,
    candidates: Sequence[Reconstruction],
) -> list[StateScore]:
    """Scores of all candidates in one pass over the densities."""
    true = pair(truth, interval)
    sums = np.zeros((len(candidates), 5))
    # Candidates that differ only in the threshold share their probabilities.
    shared = [candidate.replace(threshold=0.5) for candidate in candidates]
    seen = False
    for density in densities:
        seen = True
        size = np.diff(density.edges).astype(np.float64)
        inside = covered(true, density)
        probabilities: dict[Reconstruction, Floats] = {}
        for i, (candidate, key) in enumerate(zip(candidates, shared, strict=True)):
            if key not in probabilities:
                probabilities[key] = key.probabilities(density, interval)
            p = probabilities[key]
            on = p >= candidate.threshold
            squared = inside * (1 - p) ** 2 + (size - inside) * p**2
            hits = inside[on].sum()
            sums[i] += (hits, size[on].sum(), inside.sum(), squared.sum(), size.sum())
    if not seen:
        raise InputError("no densities to score states of")
    return [StateScore(*(float(value) for value in row)) for row in sums]


def covered(true: Intervals, density: Density) -> Floats:
    """Number of samples of each bin that are inside a true interval: (bins,)."""
    spans = nearest_sample(true.of_recording(density.recording), density.period)
    spans = np.clip(spans, 0, density.samples)
    edges = density.edges.astype(np.float64)
    total = np.zeros(len(edges))
    for start, end in spans:
        total += np.clip(edges - start, 0, end - start)
    return np.diff(total)
