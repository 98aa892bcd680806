"""The paper's decoder: local maxima of the density, smoothed or not, as ranked detections.

Order of work: smooth, find local maxima, separate, cut, refine, alternate. A detection's score is
the height of its (smoothed) maximum. Two clocks:

``samples`` (the paper's)
    every bin stands for its samples on the raw clock, smoothing and separation happen there, and
    the time is that of a sample: unsmoothed, the peak of bin ``b`` at stride 10 lies on sample
    ``10 b + 4``.
``bins``
    smoothing (sigma in bins) and separation happen on the bins, and the time is the bin's centre.

Causality. Without smoothing or with trailing smoothing a maximum is known as soon as the first
lower value follows it. Separation that keeps the higher peak must still look ahead, since a
higher one may come; ``keep="earlier"`` lets a peak silence what follows it instead, and then
(without alternation) appending samples never changes an earlier detection.
"""

from __future__ import annotations

from typing import Annotated, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from bdl.config import Value
from bdl.decoding.alternation import alternate
from bdl.decoding.detections import ByType, Detections, check_kind, steps, to_events
from bdl.decoding.fused import smoothed_maxima
from bdl.decoding.maxima import Keep, local_maxima, separate
from bdl.decoding.refinement import Refine, refine
from bdl.decoding.smoothing import Side
from bdl.density import Density
from bdl.events import Events
from bdl.intervals import IntervalType

Floats = NDArray[np.float64]
Seconds = Annotated[float, Field(ge=0)]
Clock = Literal["samples", "bins"]


class Peaks(Value):
    """Local maxima above a cutoff.

    Parameters
    ----------
    cutoff : least score, in units of the density.
    smooth : standard deviation of the Gaussian in seconds; 0 smooths nothing.
    smoothing : ``centred``, or ``trailing``, which never looks ahead.
    separation : least distance of two detections of a type in seconds; 0 sets none.
    keep : which of two peaks that are too near: the ``higher`` or the ``earlier``.
    clock : ``samples`` or ``bins``.
    refine : move a peak within its bin (clock ``bins`` only): see `bdl.decoding.refinement`.
    alternate : keep the best sequence in which onset and offset take turns.

    >>> values = np.array([[0.0], [0.2], [0.1], [0.6], [0.0]], np.float32)
    >>> density = Density("a", values, ("beat",), 1.0, stride=10, samples=50)
    >>> Peaks().decode(density).time.tolist()
    [14.0, 34.0]
    >>> Peaks(separation=21.0, clock="bins").decode(density).time.tolist()
    [34.5]
    """

    kind: Literal["peaks"] = "peaks"
    cutoff: Annotated[float, Field(ge=0)] = 0.0
    smooth: Seconds = 0.0
    smoothing: Side = "centred"
    separation: Seconds = 0.0
    keep: Keep = "higher"
    clock: Clock = "samples"
    refine: Refine = "none"
    alternate: bool = False

    @model_validator(mode="after")
    def _refine_on_bins(self) -> Peaks:
        if self.refine != "none" and self.clock != "bins":
            raise ValueError("refine moves a peak within its bin: it needs clock='bins'")
        return self

    @property
    def causal(self) -> bool:
        """Whether appending samples can never change an earlier detection."""
        ahead = self.smooth > 0 and self.smoothing == "centred"
        higher = self.separation > 0 and self.keep == "higher"
        return not (ahead or higher or self.alternate or self.refine != "none")

    def detect(self, density: Density, intervals: tuple[IntervalType, ...] = ()) -> ByType:
        """Times and scores by event type."""
        check_kind(density, "events", "Peaks")
        found = {}
        for j, event in enumerate(density.types):
            peaks = find_peaks(density, j, self)
            chosen = peaks.separate(density, self)
            found[event] = chosen.detections(density, self, j).above(self.cutoff)
        return alternate(found, intervals) if self.alternate else found

    def decode(self, density: Density, intervals: tuple[IntervalType, ...] = ()) -> Events:
        """Scored events of one recording, by type, then by time."""
        return to_events([(density.recording, self.detect(density, intervals))])


class Found(NamedTuple):
    """Local maxima of one column: places on the clock (increasing) and heights."""

    place: NDArray[np.int64]
    height: Floats

    def separate(self, density: Density, decoder: Peaks) -> Found:
        """Those that the decoder's separation leaves."""
        step = density.period * (density.stride if decoder.clock == "bins" else 1)
        rows = separate(self.place, self.height, steps(decoder.separation, step), decoder.keep)
        return Found(self.place[rows], self.height[rows])

    def detections(self, density: Density, decoder: Peaks, column: int) -> Detections:
        """Places as times in seconds."""
        if decoder.clock == "samples":
            return Detections(self.place * density.period, self.height)
        moved = refine(density, column, self.place, decoder.refine)
        return Detections(moved, self.height)


def find_peaks(density: Density, column: int, decoder: Peaks) -> Found:
    """All local maxima of one column after the decoder's smoothing, before separation and cutoff.

    >>> values = np.array([[0.0], [0.2], [0.2], [0.1]], np.float32)
    >>> find_peaks(Density("a", values, ("beat",), 1.0, 10, 40), 0, Peaks()).place.tolist()
    [19]
    """
    values = density.values[:, column].astype(np.float64)
    bins = decoder.clock == "bins"
    if decoder.smooth > 0:
        stride = 1 if bins else density.stride
        sigma = decoder.smooth / (density.period * (density.stride if bins else 1))
        samples = len(values) if bins else density.samples
        side = decoder.smoothing
        return Found(*smoothed_maxima(values, sigma, stride=stride, samples=samples, side=side))
    first, last = local_maxima(values)
    height = values[first]
    if bins:
        return Found((first + last) // 2, height)
    end = np.minimum((last + 1) * density.stride, density.samples)
    return Found((first * density.stride + end - 1) // 2, height)
