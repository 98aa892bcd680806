r"""From densities to a state sequence: four ways, each a value with its parameters.

The exponential recursion carries a probability of being inside the interval from bin to bin,

.. math:: p_t = p_{t-1} (1 - \beta_t) + (1 - p_{t-1}) \alpha_t, \quad
          \alpha_t = 1 - e^{-s \lambda^{on}_t}, \quad \beta_t = 1 - e^{-s \lambda^{off}_t}.

The integrated difference adds up onset minus offset density. Peak-fill picks ranked peaks of both
and fills between an onset and the offset that follows. A segmentation model's state probability is
taken as it is.
"""

from __future__ import annotations

from abc import abstractmethod
from itertools import pairwise
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from pydantic import Field

from bdl.arrays import Floats
from bdl.compiled import compiled
from bdl.density import Density, DensityKind
from bdl.errors import InputError, require
from bdl.intervals import IntervalType
from bdl.registry import Variant

Probability = Annotated[float, Field(ge=0, le=1)]
THRESHOLDS = [round(0.05 * i, 2) for i in range(1, 20)]  # that a calibration tries


class Reconstruction(Variant):
    """A way from densities to a state probability per bin."""

    package: ClassVar[str] = "bdl.evaluation"
    reads: ClassVar[DensityKind] = "events"
    stage: ClassVar[str]
    """Its name in the tables of a study."""

    threshold: float = 0.5  # probability from which on a bin is inside

    @abstractmethod
    def probabilities(self, density: Density, interval: IntervalType) -> Floats:
        """State probability of each bin."""

    @classmethod
    @abstractmethod
    def candidates(cls) -> list[Self]:
        """The settings to choose from on calibration recordings."""


class ExponentialRecursion(Reconstruction):
    """State probability by the exponential recursion.

    Examples
    --------
    >>> both = np.array([[0.0, 0.0], [9.0, 0.0], [0.0, 0.0], [0.0, 9.0]], np.float32)
    >>> density = Density("a", both, ("onset", "wakeup"), 1.0, stride=1, samples=4)
    >>> sleep = IntervalType("sleep", onset="onset", offset="wakeup")
    >>> ExponentialRecursion(scale=5.0).probabilities(density, sleep).round(6).tolist()
    [0.0, 1.0, 1.0, 0.0]
    """

    stage: ClassVar[str] = "exponential"

    kind: Literal["exponential"] = "exponential"
    scale: Annotated[float, Field(gt=0)] = 1.0  # factor s on both densities
    initial: Probability = 0.0  # probability of being inside before the first bin

    def probabilities(self, density: Density, interval: IntervalType) -> Floats:
        """State probability of each bin."""
        onset, offset = _channels(density, interval)
        return _recursion(
            -np.expm1(-self.scale * onset), -np.expm1(-self.scale * offset), self.initial
        )

    @classmethod
    def candidates(cls) -> list[Self]:
        return [
            cls(scale=s, initial=p, threshold=t)
            for s in (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
            for p in (0.0, 0.5, 1.0)
            for t in THRESHOLDS
        ]


class PeakFill(Reconstruction):
    """Ones between each onset peak and the offset peak that follows, zeros elsewhere.

    Higher peaks come first. Of several peaks of one kind in a row the highest counts.
    """

    stage: ClassVar[str] = "peak fill"

    kind: Literal["peaks"] = "peaks"
    height: Annotated[float, Field(ge=0)] = 0.0  # peaks are local maxima above this density
    separation: Annotated[float, Field(ge=0)] = 0.0  # least distance between peaks in seconds

    def probabilities(self, density: Density, interval: IntervalType) -> Floats:
        """One inside, zero outside."""
        find_peaks = require("scipy.signal", "signal").find_peaks  # slow to import

        distance = max(1, round(self.separation / (density.period * density.stride)))
        marks: list[tuple[int, bool, float]] = []
        for values, is_onset in zip(_channels(density, interval), (True, False), strict=True):
            padded = np.concatenate([[0.0], values, [0.0]])  # a peak may be at an edge
            peaks = find_peaks(padded, distance=distance)[0] - 1
            marks += [
                (int(p), is_onset, float(values[p])) for p in peaks if values[p] > self.height
            ]
        alternating: list[tuple[int, bool, float]] = []
        for mark in sorted(marks):  # an offset before an onset in the same bin
            if alternating and alternating[-1][1] == mark[1]:
                if mark[2] > alternating[-1][2]:
                    alternating[-1] = mark
            else:
                alternating.append(mark)
        state = np.zeros(len(density.values))
        for (start, is_onset, _), (end, _, _) in pairwise(alternating):
            if is_onset:
                state[start:end] = 1.0
        return state

    @classmethod
    def candidates(cls) -> list[Self]:
        return [
            cls(height=c, separation=s)
            for c in (0.0, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)
            for s in (0.0, 600.0, 1800.0, 3600.0)
        ]


class IntegratedDifference(Reconstruction):
    """Running sum of onset minus offset density, as a probability cut to [0, 1]."""

    stage: ClassVar[str] = "integrated"

    kind: Literal["integrated"] = "integrated"
    initial: Probability = 0.0  # probability of being inside before the first bin

    def probabilities(self, density: Density, interval: IntervalType) -> Floats:
        """State of each bin, cut to [0, 1]."""
        onset, offset = _channels(density, interval)
        return np.clip(self.initial + np.cumsum(onset - offset), 0.0, 1.0)

    @classmethod
    def candidates(cls) -> list[Self]:
        return [cls(initial=p, threshold=t) for p in (0.0, 0.5, 1.0) for t in THRESHOLDS]


class Direct(Reconstruction):
    """The state probability of a segmentation model, as it is.

    Examples
    --------
    >>> values = np.array([[0.1], [0.75]], np.float32)
    >>> density = Density("a", values, ("sleep",), 1.0, stride=1, samples=2, kind="state")
    >>> sleep = IntervalType("sleep", onset="onset", offset="wakeup")
    >>> Direct().probabilities(density, sleep).round(3).tolist()
    [0.1, 0.75]
    """

    reads: ClassVar[DensityKind] = "state"
    stage: ClassVar[str] = "direct"

    kind: Literal["direct"] = "direct"

    def probabilities(self, density: Density, interval: IntervalType) -> Floats:
        """The density's column of the interval."""
        if density.kind != "state" or interval.name not in density.types:
            raise InputError(
                f"density of recording {density.recording!r}: a state {interval.name!r} expected, "
                f"got {density.kind} of {density.types}"
            )
        return density.values[:, density.types.index(interval.name)].astype(np.float64)

    @classmethod
    def candidates(cls) -> list[Self]:
        return [cls(threshold=t) for t in THRESHOLDS]


@compiled(small_in_python=True)
def _recursion(enter: Floats, leave: Floats, initial: float) -> Floats:
    state = np.empty(len(enter))
    p = initial
    for t in range(len(enter)):
        p = p * (1 - leave[t]) + (1 - p) * enter[t]
        state[t] = p
    return state


def _channels(density: Density, interval: IntervalType) -> tuple[Floats, Floats]:
    if density.kind != "events":
        raise InputError(
            f"density of recording {density.recording!r} holds states; use Direct for them"
        )
    for name in (interval.onset, interval.offset):
        if name not in density.types:
            raise InputError(
                f"density of recording {density.recording!r} has types {density.types}, "
                f"{name!r} of interval {interval.name!r} is not among them"
            )
    values = density.values.astype(np.float64)
    return values[:, density.types.index(interval.onset)], values[
        :, density.types.index(interval.offset)
    ]
