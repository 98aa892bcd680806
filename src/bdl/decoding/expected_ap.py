"""The expected-AP decoder: detections chosen by the mass they explain, not by their peaks.

A density of kind ``events`` is additive: the sum of its bins over a stretch of time is the
expected number of events there. So the probability that a detection at time ``t`` matches an event
within a tolerance is about the mass in the open window around ``t``, at most 1. Its mean over the
tolerances of the metric is the expected contribution of the detection to average precision. The
decoder takes detections one by one:

1. Every tolerance has its own residual mass, at first the density.
2. The score of a bin's centre is the mean over tolerances of ``min(1, residual mass inside the
   open window)``.
3. The best bin is taken with that score (of equal scores the one with more mass at the start, then
   the earlier). One unit of mass, or all where there is less, is removed from each tolerance's
   window, in proportion to the mass of its bins.
4. This is repeated while the score is at least the threshold. Scores never increase on the way.

Where a model overestimates the density, the mass that remains after a detection becomes a second
detection of the same event; a ``unit`` above 1 then replaces 1 in steps 2 and 3. Scores remain
masses, so that detections of models with different units can be ranked together.

What is inside a window: the mass of a bin is spread evenly over its samples, and a sample is
inside if its distance to the centre is strictly less than the tolerance. So a bin that is partly
inside counts with the fraction of its samples that are.

Masses are held in fixed point, in units of 2**-40, and fractions are rounded down to them: sums
are exact in any order, and the detections are the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bdl.config import Seconds
from bdl.decoding.candidates import ByType, Candidates, steps
from bdl.decoding.decoder import Decoder
from bdl.decoding.grid import Grid, NonNegatives
from bdl.decoding.mass_decoder import MassDecoder, MassGrid
from bdl.decoding.mass_search import UNIT, doubled_windows, take
from bdl.decoding.refinement import Refine, refine
from bdl.density import Density
from bdl.intervals import IntervalType


class ExpectedAP(MassDecoder):
    """Detections by decreasing expected contribution to average precision.

    Parameters
    ----------
    spacing
        Keep at most one detection of a type per this many seconds of the recording, rounded up; 0
        keeps all.
    refine
        How to move a detection within its bin; see `bdl.decoding.refinement`.

    Examples
    --------
    >>> values = np.array([0.0, 0.2, 0.1, 0.6, 0.0], np.float32)[:, None]
    >>> density = Density("a", values, ("beat",), 1.0, stride=10, samples=50)
    >>> detections = ExpectedAP(tolerances=(10.0, 30.0)).decode(density)
    >>> detections.time.tolist(), detections.score.round(4).tolist()
    ([14.5, 24.5, 34.5], [0.1125, 0.0125, 0.775])
    """

    kind: Literal["expected-ap"] = "expected-ap"
    spacing: Seconds = 0.0
    refine: Refine = "none"

    @classmethod
    def default(cls, tolerances: Sequence[float], separation: float = 0.0) -> Self | None:
        """The default for event densities where tolerances are known; needs no separation."""
        return cls(tolerances=tuple(tolerances)) if tolerances else None

    def complete(self, tolerances: Sequence[float]) -> Self:
        if self.tolerances is None and tolerances:
            return self.replace(tolerances=tuple(tolerances))
        return self

    @property
    def looks_ahead(self) -> str | None:
        return "the best detections of the whole recording are taken first"

    def forward(self) -> Decoder:
        from bdl.decoding.forward_mass import ForwardMass

        names = ("threshold", "tolerances", "separation", "unit")
        return ForwardMass(**{name: getattr(self, name) for name in names})

    def candidates(self, density: Density, intervals: tuple[IntervalType, ...]) -> ByType:
        return {
            event: self.place(density, column, *self.take(density, column))
            for column, event in enumerate(density.types)
        }

    def most(self, density: Density) -> int | None:
        """The largest number of detections of a type in the recording, or None."""
        return steps(density.samples * density.period, self.spacing) if self.spacing else None

    def take(self, density: Density, column: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Bins of one column in the order in which they are taken, and their scores."""
        tolerances = self.known_tolerances()
        bins, scores = take(
            density.values[:, column] / self.unit,
            doubled_windows(density.period, tolerances),
            stride=density.stride,
            samples=density.samples,
            least=math.ceil(self.threshold / self.unit * UNIT * len(tolerances)),
            distance=steps(self.separation, density.period),
        )
        most = self.most(density)
        return bins[:most], scores[:most] * self.unit

    def place(
        self, density: Density, column: int, bins: NDArray[np.int64], scores: NDArray[np.float64]
    ) -> Candidates:
        """Bins that were taken, as candidates in order of time."""
        return Candidates.in_order(refine(density, column, bins, self.refine), scores)


class ExpectedAPGrid(MassGrid):
    """Settings of `ExpectedAP`.

    Parameters
    ----------
    spacings, refines
        Values to try, the simplest first.

    Examples
    --------
    >>> ExpectedAPGrid(thresholds=(0.01,)).decoders((60.0,))[0].tolerances
    (60.0,)
    """

    decoder: ClassVar[type[Decoder]] = ExpectedAP
    axes: ClassVar[dict[str, str]] = {
        **MassGrid.axes,
        "spacings": "spacing",
        "refines": "refine",
    }

    kind: Literal["expected-ap"] = "expected-ap"
    spacings: NonNegatives = (0.0,)
    refines: Annotated[tuple[Refine, ...], Field(min_length=1)] = ("none",)

    @classmethod
    def default(
        cls, tolerances: Sequence[float], separation: float, alternations: tuple[bool, ...]
    ) -> Self | None:
        """The default for event densities; needs no separation."""
        return cls(alternations=alternations)

    def forward(self) -> Grid:
        from bdl.decoding.forward_mass import ForwardMassGrid

        names = ("thresholds", "units", "separations", "tolerances")
        return ForwardMassGrid(**{name: getattr(self, name) for name in names})

    def candidates(
        self, density: Density, decoders: Sequence[Any], intervals: tuple[IntervalType, ...]
    ) -> list[ByType]:
        """Candidates of each decoder; spacing and refinement need no new search."""
        candidates: list[ByType] = [{} for _ in decoders]
        for column, event in enumerate(density.types):
            taken: dict[ExpectedAP, tuple[NDArray[np.int64], NDArray[np.float64]]] = {}
            for decoder, by_type in zip(decoders, candidates, strict=True):
                search = decoder.replace(spacing=0.0, refine="none")
                if search not in taken:
                    taken[search] = search.take(density, column)
                bins, scores = taken[search]
                most = decoder.most(density)
                by_type[event] = decoder.place(density, column, bins[:most], scores[:most])
        return candidates
