"""The expected-AP decoder: detections chosen by the mass they explain, not by their peaks.

A density of kind ``events`` adds up: the sum of its bins over a stretch of time is the expected
number of events there. So the chance that a detection at time ``t`` finds an event within a
tolerance is about the mass in the open window around ``t``, at most 1, and its mean over the
metric's tolerances is the value that average precision pays for the detection. The decoder takes
detections one by one:

1. every tolerance has its own residual mass, at first the density;
2. the score of a bin's centre is the mean over tolerances of ``min(1, residual mass inside the
   open window)``;
3. the best bin is taken with that score (of equals the one with more mass at the start, then the
   earlier), and one unit of mass, or what there is, is removed from each tolerance's window in
   proportion to the mass there;
4. repeat while the score reaches the floor. Scores never increase along the way.

Where the density overcounts, the mass left after a detection becomes a second detection of the
same event; a ``unit`` above 1 then takes the place of 1 in steps 2 and 3. Scores remain masses, so
that detections of models with different units can be ranked together.

What lies inside a window: a bin's mass is spread evenly over its samples, and a sample belongs to
the window if its distance to the bin's centre is strictly less than the tolerance; so a bin that
is partly inside counts with the share of its samples that are.

Masses are held in fixed point, in units of 2**-40, and shares are rounded down to them: sums are
exact in any order, and a run gives the same detections everywhere.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bdl.config import Value
from bdl.decoding.alternation import alternate
from bdl.decoding.detections import ByType, Detections, check_kind, steps, to_events
from bdl.decoding.greedy import UNIT, take
from bdl.decoding.peaks import Seconds
from bdl.decoding.refinement import Refine, refine
from bdl.density import Density
from bdl.events import Events
from bdl.intervals import IntervalType

MANY = 2**62

Floats = NDArray[np.float64]
Tolerance = Annotated[float, Field(gt=0)]


class ExpectedAP(Value):
    """Detections by decreasing expected contribution to average precision.

    Parameters
    ----------
    tolerances : the metric's tolerances in seconds.
    floor : least score, above 0; the low tail costs little and AP rewards it.
    separation : least distance of two detections of a type in seconds; 0 sets none.
    spacing : truncation: keep at most one detection of a type for every so many seconds of the
        recording, rounded up; 0 keeps all.
    unit : mass that stands for one event: what a window counts at most and what a detection
        removes. 1 takes the density at its word; more keeps a model that puts more than one unit
        around an event it is sure of from telling it twice.
    refine : move a detection within its bin: see `bdl.decoding.refinement`.
    alternate : keep the best sequence in which onset and offset take turns.

    >>> values = np.array([[0.0], [0.2], [0.1], [0.6], [0.0]], np.float32)
    >>> density = Density("a", values, ("beat",), 1.0, stride=10, samples=50)
    >>> found = ExpectedAP(tolerances=(10.0, 30.0), refine="none").decode(density)
    >>> found.time.tolist(), found.score.round(4).tolist()
    ([14.5, 24.5, 34.5], [0.1125, 0.0125, 0.775])
    """

    kind: Literal["expected-ap"] = "expected-ap"
    tolerances: Annotated[tuple[Tolerance, ...], Field(min_length=1)]
    floor: Annotated[float, Field(gt=0, le=1)] = 0.001
    separation: Seconds = 0.0
    spacing: Seconds = 0.0
    unit: Annotated[float, Field(gt=0)] = 1.0
    refine: Refine = "none"
    alternate: bool = False

    def detect(self, density: Density, intervals: tuple[IntervalType, ...] = ()) -> ByType:
        """Times and scores by event type."""
        check_kind(density, "events", "ExpectedAP")
        found = {}
        for j, event in enumerate(density.types):
            bins, scores = self.picks(density, j)
            found[event] = self.place(density, j, bins, scores)
        return alternate(found, intervals) if self.alternate else found

    def decode(self, density: Density, intervals: tuple[IntervalType, ...] = ()) -> Events:
        """Scored events of one recording, by type, then by time."""
        return to_events([(density.recording, self.detect(density, intervals))])

    def most(self, density: Density) -> int:
        """How many detections of a type the recording may have."""
        if not self.spacing:
            return MANY
        return steps(density.samples * density.period, self.spacing)

    def picks(self, density: Density, column: int) -> tuple[NDArray[np.int64], Floats]:
        """Bins of one column in the order they are taken, and their scores."""
        bins, scores = take(
            density.values[:, column] / self.unit,
            windows(density, self.tolerances),
            stride=density.stride,
            samples=density.samples,
            floor=math.ceil(self.floor / self.unit * UNIT * len(self.tolerances)),
            distance=steps(self.separation, density.period),
            most=self.most(density),
        )
        return bins, scores * self.unit

    def place(
        self, density: Density, column: int, bins: NDArray[np.int64], scores: Floats
    ) -> Detections:
        """Bins taken as detections in order of time."""
        times = refine(density, column, bins, self.refine)
        order = np.lexsort((-scores, times))
        return Detections(times[order], scores[order])


def windows(density: Density, tolerances: tuple[float, ...]) -> NDArray[np.int64]:
    """Twice each tolerance in samples, rounded up: half-sample distances below it are inside.

    Bin centres lie on samples or half-way between, so distances are multiples of half a sample.

    >>> values = np.zeros((3, 1), np.float32)
    >>> windows(Density("a", values, ("beat",), 5.0, 10, 30), (60.0, 61.0)).tolist()
    [24, 25]
    """
    return np.array([steps(2 * t, density.period) for t in tolerances], np.int64)
