"""Peaks, the paper's decoder: local maxima of the density, smoothed or not.

Order of work: smooth, find local maxima, separate, threshold, alternate. The score of a detection
is the height of its (smoothed) maximum. There are two clocks:

``samples`` (the paper's)
    Every bin stands for its samples on the raw clock. Smoothing and separation happen there, and
    the time is that of a sample: unsmoothed, the peak of bin ``b`` at stride 10 is at sample
    ``10 b + 4``.
``bins``
    Smoothing (sigma in bins) and separation happen on the bins, and the time is the bin's centre,
    moved within the bin where ``refine`` is set.

Causality: without smoothing, or with trailing smoothing, a maximum is known as soon as the first
lower value follows it. Separation that keeps the higher peak looks ahead, since a higher one may
follow. With ``keep="earlier"`` a peak suppresses those that follow it, so that (without
alternation) appending samples never changes an earlier detection. With ``keep="higher"`` and
trailing smoothing a peak is final once no undecided higher one is near, and none can follow within
the separation: see `bdl.decoding.incremental_maxima`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import model_validator

from bdl.config import Seconds
from bdl.decoding.candidates import ByType, Candidates, steps
from bdl.decoding.decoder import Decoder
from bdl.decoding.grid import Grid, GridSettings, NonNegatives
from bdl.decoding.incremental import BinClock
from bdl.decoding.incremental_rows import DecoderRows
from bdl.decoding.maxima import Keep, local_maxima, separate
from bdl.decoding.refinement import Refine, refine
from bdl.decoding.smoothed_maxima import smoothed_maxima
from bdl.decoding.smoothing import Side
from bdl.density import Density, DensityKind
from bdl.intervals import IntervalType

Clock = Literal["samples", "bins"]


class Peaks(Decoder):
    """Local maxima of the density, as in the paper.

    Parameters
    ----------
    threshold
        Least score, in units of the density.
    smooth
        Standard deviation of the Gaussian filter in seconds; 0 for no smoothing.
    smoothing
        ``centred``, or ``trailing``, which never looks ahead.
    separation
        Least time between two detections of one type in seconds; 0 for none.
    keep
        Which of two peaks that are too close to keep: the ``higher`` or the ``earlier``.
    clock
        ``samples`` or ``bins``; see `bdl.decoding.peaks`.
    refine
        How to move a peak within its bin (clock ``bins`` only); see `bdl.decoding.refinement`.

    Examples
    --------
    >>> values = np.array([[0.0], [0.2], [0.1], [0.6], [0.0]], np.float32)
    >>> density = Density("a", values, ("beat",), 1.0, stride=10, samples=50)
    >>> Peaks().decode(density).time.tolist()
    [14.0, 34.0]
    >>> Peaks(separation=21.0, clock="bins").decode(density).time.tolist()
    [34.5]
    """

    reads: ClassVar[DensityKind] = "events"

    kind: Literal["peaks"] = "peaks"
    smooth: Seconds = 0.0
    smoothing: Side = "centred"
    separation: Seconds = 0.0
    keep: Keep = "higher"
    clock: Clock = "samples"
    refine: Refine = "none"

    @model_validator(mode="after")
    def _used(self) -> Self:
        if self.refine != "none" and self.clock != "bins":
            raise ValueError("refine moves a peak within its bin: it needs clock='bins'")
        if not self.separation:
            self.refuse(("keep",), "without separation: no two peaks are too close")
        return self

    @classmethod
    def default(cls, tolerances: Sequence[float], separation: float = 0.0) -> Self | None:
        """Peaks at the separation, where tolerances are not known."""
        return None if tolerances else cls(separation=separation)

    @property
    def looks_ahead(self) -> str | None:
        if self.smooth > 0 and self.smoothing == "centred":
            return "centred smoothing reads later bins"
        if self.refine != "none":
            return "refinement reads later bins"
        return "alternation compares all events of the recording" if self.alternate else None

    def forward(self) -> Self:
        return self.replace(smoothing="trailing", refine="none", alternate=False)

    def incremental_rows(
        self, clock: BinClock, types: tuple[str, ...], intervals: tuple[IntervalType, ...] = ()
    ) -> DecoderRows:
        from bdl.decoding.incremental_peaks import PeakRows

        return PeakRows(self, clock, types)

    def candidates(self, density: Density, intervals: tuple[IntervalType, ...]) -> ByType:
        step = density.period * (density.stride if self.clock == "bins" else 1)
        distance = steps(self.separation, step)
        by_type = {}
        for column, event in enumerate(density.types):
            places, heights = find_peaks(density, column, self)
            rows = separate(places, heights, distance, self.keep)
            places, heights = places[rows], heights[rows]
            if self.clock == "samples":
                times = places * density.period
            else:
                times = refine(density, column, places, self.refine)
            by_type[event] = Candidates(times, heights)
        return by_type


class PeakGrid(Grid):
    """Settings of `Peaks`.

    Parameters
    ----------
    thresholds
        Least scores: a list, or how many to space evenly from 0 to the largest density of the
        calibration recordings (to 1 for bounded densities).
    smooths
        Standard deviations of the Gaussian filter in seconds, the simplest first.
    alternations
        Whether to alternate: (False,), (True,) or (False, True).
    smoothing, separation, keep, clock, refine
        As in `Peaks`, the same for all settings.

    Examples
    --------
    >>> [decoder.smooth for decoder in PeakGrid(smooths=(0.0, 50.0)).decoders(())]
    [0.0, 50.0]
    """

    decoder: ClassVar[type[Decoder]] = Peaks
    axes: ClassVar[dict[str, str]] = {"smooths": "smooth"}

    kind: Literal["peaks"] = "peaks"
    smooths: NonNegatives = (0.0,)
    smoothing: Side = "centred"
    separation: Seconds = 0.0
    keep: Keep = "higher"
    clock: Clock = "samples"
    refine: Refine = "none"

    @classmethod
    def added(
        cls, tolerances: Sequence[float], separation: float, alternations: tuple[bool, ...]
    ) -> Self | None:
        """Peaks on the bin clock, smoothed by up to the finest tolerance."""
        finest = min(tolerances)
        return cls(
            thresholds=(0.0,),
            smooths=(0.0, finest / 2, finest),
            separation=separation,
            clock="bins",
            alternations=alternations,
        )

    @classmethod
    def paper(cls, settings: GridSettings) -> Self | None:
        return cls(**settings.model_dump(exclude={"window"}))

    def forward(self) -> Self:
        return self.replace(smoothing="trailing", refine="none", alternations=(False,))


def find_peaks(
    density: Density, column: int, decoder: Peaks
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """All local maxima of one column after smoothing, before separation and threshold.

    Places are on the decoder's clock and increase; each has its height.
    """
    values = density.values[:, column].astype(np.float64)
    stride, samples = (
        (density.stride, density.samples) if decoder.clock == "samples" else (1, len(values))
    )
    if decoder.smooth > 0:
        sigma = decoder.smooth / (density.period * (density.stride // stride))
        side = decoder.smoothing
        return smoothed_maxima(values, sigma, stride=stride, samples=samples, side=side)
    first, last = local_maxima(values)
    end = np.minimum((last + 1) * stride, samples)
    return (first * stride + end - 1) // 2, values[first]
