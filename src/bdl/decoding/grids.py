"""Grids: the settings a calibration tries, as values.

A grid is a set of *bases* (what decides where detections lie: smoothing, separation, scorer), each
cut at several *levels* and then alternated or not. Settings are tried from simple to less simple:
without alternation first, then in the order in which the grid's fields list their values, then
from the lowest level up.

Presets hold the paper's grids. Where it leaves a number unsaid it is ours: the window of the
difference of means (10 minutes for sleep, 10 seconds for seizures), the occupancy threshold 0.5,
and for bow shock and fraud three cutoffs and no smoothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from bdl.config import Value
from bdl.decoding.detections import ByType, check_kind
from bdl.decoding.expected import ExpectedAP
from bdl.decoding.maxima import Keep
from bdl.decoding.peaks import Clock, Peaks, Seconds
from bdl.decoding.refinement import Refine
from bdl.decoding.smoothing import Side
from bdl.decoding.transitions import Fixed, Scorer, Transitions, occupancy, transitions
from bdl.density import Density, Kind
from bdl.errors import ConfigError
from bdl.intervals import IntervalType

Count = Annotated[int, Field(ge=1)]
Widths = Annotated[tuple[Seconds, ...], Field(min_length=1)]
Positives = Annotated[tuple[Annotated[float, Field(gt=0)], ...], Field(min_length=1)]
Floors = Annotated[tuple[Annotated[float, Field(gt=0, le=1)], ...], Field(min_length=1)]
Thresholds = Annotated[tuple[Annotated[float, Field(gt=0, le=1)], ...], Field(min_length=1)]
Scorers = Annotated[tuple[Scorer, ...], Field(min_length=1)]
Refinements = Annotated[tuple[Refine, ...], Field(min_length=1)]
Alternations = Annotated[tuple[bool, ...], Field(min_length=1)]


def spread(count: int, top: float) -> list[float]:
    """So many cutoffs spaced uniformly from zero to the top.

    >>> spread(3, 0.5), spread(1, 0.5)
    ([0.0, 0.25, 0.5], [0.0])
    """
    return np.linspace(0.0, top, count).tolist()  # type: ignore[no-any-return]


class PeakGrid(Value):
    """Settings of `Peaks`.

    Parameters
    ----------
    cutoffs : how many, from 0 to the largest density of the calibration data (1 if bounded).
    smooths : Gaussian widths in seconds, the simplest first.
    alternations : whether to alternate; (False,) where there are no intervals.
    smoothing, separation, keep, clock, refine : as in `Peaks`, the same for all settings.

    >>> [base.smooth for base in PeakGrid(smooths=(0.0, 50.0)).bases(())]
    [0.0, 50.0]
    """

    kind: Literal["peak-grid"] = "peak-grid"
    cutoffs: Count = 3
    smooths: Widths = (0.0,)
    smoothing: Side = "centred"
    separation: Seconds = 0.0
    keep: Keep = "higher"
    clock: Clock = "samples"
    refine: Refine = "none"
    alternations: Alternations = (False,)

    def bases(self, tolerances: Sequence[float]) -> list[Peaks]:
        """Decoders that differ in more than level and alternation."""
        shared = {
            name: getattr(self, name)
            for name in ("smoothing", "separation", "keep", "clock", "refine")
        }
        return [Peaks(smooth=width, **shared) for width in self.smooths]

    def levels(self, top: float, bounded: bool) -> list[float]:
        """Cutoffs, rising."""
        return spread(self.cutoffs, 1.0 if bounded else top)

    def setting(self, base: Peaks, level: float, alternate: bool) -> Peaks:
        """The decoder of one setting."""
        return base.replace(cutoff=level, alternate=alternate)

    def detect(
        self, density: Density, bases: Sequence[Peaks], intervals: tuple[IntervalType, ...]
    ) -> list[ByType]:
        """Detections of each base at the lowest level, without alternation."""
        return [base.detect(density, intervals) for base in bases]


class TransitionGrid(Value):
    """Settings of `Transitions`.

    Parameters
    ----------
    cutoffs : how many, from 0 to 1.
    scorers, thresholds, windows, smooths, alternations : values to try, the simplest first;
        thresholds matter to the scorer ``threshold`` only.
    smoothing, separation, clock : as in `Transitions`, the same for all settings.

    >>> len(TransitionGrid(windows=(600.0,), thresholds=(0.3, 0.5)).bases(()))
    3
    """

    kind: Literal["transition-grid"] = "transition-grid"
    cutoffs: Count = 3
    scorers: Scorers = ("threshold", "difference")
    thresholds: Thresholds = (0.5,)
    windows: Positives
    smooths: Widths = (0.0,)
    smoothing: Side = "centred"
    separation: Seconds = 0.0
    clock: Clock = "samples"
    alternations: Alternations = (False,)

    def bases(self, tolerances: Sequence[float]) -> list[Transitions]:
        """Decoders that differ in more than level and alternation."""
        shared = {name: getattr(self, name) for name in ("smoothing", "separation", "clock")}
        return [
            Transitions(scorer=scorer, threshold=threshold, window=window, smooth=width, **shared)
            for width in self.smooths
            for scorer in self.scorers
            for threshold in (self.thresholds if scorer == "threshold" else (0.5,))
            for window in self.windows
        ]

    def levels(self, top: float, bounded: bool) -> list[float]:
        """Cutoffs, rising."""
        return spread(self.cutoffs, 1.0)

    def setting(self, base: Transitions, level: float, alternate: bool) -> Transitions:
        """The decoder of one setting."""
        return base.replace(cutoff=level, alternate=alternate)

    def detect(
        self, density: Density, bases: Sequence[Transitions], intervals: tuple[IntervalType, ...]
    ) -> list[ByType]:
        """Detections of each base at the lowest level, without alternation."""
        kinds = bases[0].names(density, intervals)
        found: list[ByType] = [{} for _ in bases]
        for j, kind in enumerate(kinds):
            smoothed: dict[float, Fixed] = {}
            for base, into in zip(bases, found, strict=True):
                if base.smooth not in smoothed:
                    smoothed[base.smooth] = occupancy(density, j, base)
                sides = transitions(density, j, base, smoothed[base.smooth])
                into[kind.onset], into[kind.offset] = sides
        return found


class ExpectedAPGrid(Value):
    """Settings of `ExpectedAP`.

    Parameters
    ----------
    floors : rising; a higher floor only shortens what a lower one gives.
    units, separations, spacings, refines, alternations : values to try, the simplest first.
    tolerances : seconds; those of the metric if not given.

    >>> ExpectedAPGrid(floors=(0.01,)).bases((60.0,))[0].tolerances
    (60.0,)
    """

    kind: Literal["expected-ap-grid"] = "expected-ap-grid"
    floors: Floors = (0.001, 0.005, 0.02)
    units: Positives = (1.0, 1.5, 2.0)
    separations: Widths = (0.0,)
    spacings: Widths = (0.0,)
    refines: Refinements = ("none",)
    alternations: Alternations = (False,)
    tolerances: tuple[Annotated[float, Field(gt=0)], ...] | None = None

    def bases(self, tolerances: Sequence[float]) -> list[ExpectedAP]:
        """Decoders that differ in more than level and alternation."""
        chosen = tuple(tolerances if self.tolerances is None else self.tolerances)
        return [
            ExpectedAP(
                tolerances=chosen,
                floor=min(self.floors),
                separation=separation,
                spacing=spacing,
                unit=unit,
                refine=refine,
            )
            for unit in self.units
            for separation in self.separations
            for spacing in self.spacings
            for refine in self.refines
        ]

    def levels(self, top: float, bounded: bool) -> list[float]:
        """Floors, rising."""
        return sorted(self.floors)

    def setting(self, base: ExpectedAP, level: float, alternate: bool) -> ExpectedAP:
        """The decoder of one setting."""
        return base.replace(floor=level, alternate=alternate)

    def detect(
        self, density: Density, bases: Sequence[ExpectedAP], intervals: tuple[IntervalType, ...]
    ) -> list[ByType]:
        """Detections of each base at the lowest floor, without alternation."""
        check_kind(density, "events", "ExpectedAP")
        found: list[ByType] = [{} for _ in bases]
        for j, event in enumerate(density.types):
            taken = {
                (unit, apart): bases[0]
                .replace(unit=unit, separation=apart, spacing=0.0)
                .picks(density, j)
                for unit in self.units
                for apart in self.separations
            }
            for base, into in zip(bases, found, strict=True):
                bins, scores = taken[base.unit, base.separation]
                most = base.most(density)
                into[event] = base.place(density, j, bins[:most], scores[:most])
        return found


Grid = Annotated[PeakGrid | TransitionGrid | ExpectedAPGrid, Field(discriminator="kind")]
AnyGrid = PeakGrid | TransitionGrid | ExpectedAPGrid

PRESETS: dict[str, dict[Kind, AnyGrid]] = {
    "sleep": {
        "events": PeakGrid(
            smooths=(0.0, 50.0), separation=1800.0, alternations=(False, True), cutoffs=3
        ),
        "state": TransitionGrid(
            windows=(600.0,),
            smooths=(0.0, 50.0),
            separation=1800.0,
            alternations=(False, True),
            cutoffs=3,
        ),
    },
    "chbmit": {
        "events": PeakGrid(
            smooths=(0.0, 1.0, 2.0), separation=145.0, alternations=(False, True), cutoffs=11
        ),
        "state": TransitionGrid(
            windows=(10.0,),
            smooths=(0.0, 1.0, 2.0),
            separation=145.0,
            alternations=(False, True),
            cutoffs=11,
        ),
    },
    "bowshock": {"events": PeakGrid(separation=4.0)},
    "fraud": {"events": PeakGrid(separation=1.0)},
    "expected-ap": {"events": ExpectedAPGrid()},
}


def preset(name: str, kind: Kind = "events") -> AnyGrid:
    """A named grid for densities of a kind.

    >>> preset("sleep").separation
    1800.0
    >>> preset("slep")
    Traceback (most recent call last):
    bdl.errors.ConfigError: no grid 'slep': expected one of sleep, chbmit, bowshock, fraud, ...
    """
    if name not in PRESETS:
        raise ConfigError(f"no grid {name!r}: expected one of {', '.join(PRESETS)}")
    if kind not in PRESETS[name]:
        raise ConfigError(f"grid {name!r} has no settings for densities of kind {kind!r}")
    return PRESETS[name][kind]
