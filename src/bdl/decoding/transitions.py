"""Transitions, the decoder of segmentations: where a predicted occupancy rises or falls.

The occupancy of an interval type (a density of kind ``state``) becomes onsets and offsets. The
transition score at a place ``s`` of the clock is the mean of the occupancy over the ``window``
that starts at ``s``, minus its mean over the ``window`` before ``s``; beyond its ends the recording
is mirrored. An onset has that difference as its score, an offset its negative. Two scorers:

``threshold``
    Onsets where the (smoothed) occupancy rises to the ``level`` or above, offsets where it falls
    below, if their transition score is positive.
``difference``
    Onsets at the local maxima of the transition score, offsets at those of its negative.

Both then apply separation (the higher score is kept), the threshold on the score, and alternation.
A transition at place ``s`` is between ``s - 1`` and ``s``, and its time is that of ``s``: the first
sample of the new state. On the clock ``bins`` the places are bins, and the time is that of the
bin's first sample.

The occupancy is held in fixed point, in units of 2**-30, so that its sums, and with them equal
scores and flat tops, are exact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat, model_validator

from bdl.arrays import Floats
from bdl.config import Seconds
from bdl.decoding.candidates import ByType, Candidates, steps
from bdl.decoding.decoder import Decoder, of_outputs
from bdl.decoding.grid import Grid, GridSettings, NonNegatives
from bdl.decoding.incremental import BinClock, IncrementalDecoder
from bdl.decoding.maxima import local_maxima, separate
from bdl.decoding.peaks import Clock
from bdl.decoding.smoothing import Side, smooth
from bdl.density import Density, DensityKind
from bdl.errors import ConfigError
from bdl.intervals import IntervalType

Fixed = NDArray[np.int64]
Scorer = Literal["threshold", "difference"]
Level = Annotated[float, Field(gt=0, le=1)]

UNIT = 1 << 30


class Transitions(Decoder):
    """Onsets and offsets where a predicted occupancy changes.

    Parameters
    ----------
    threshold
        Least transition score, from 0 to 1.
    scorer
        ``threshold`` or ``difference``; see `bdl.decoding.transitions`.
    level
        Occupancy at which the state changes (scorer ``threshold``), above 0, at most 1.
    window
        Seconds over which the mean on each side is taken. None for the largest tolerance of the
        evaluation, which `complete` sets.
    smooth
        Standard deviation of the Gaussian that smooths the occupancy first, in seconds.
    smoothing, separation, clock, alternate
        As in `bdl.decoding.peaks.Peaks`.

    Examples
    --------
    >>> values = np.array([[0.1], [0.1], [0.9], [0.9], [0.1], [0.1]], np.float32)
    >>> density = Density("a", values, ("sleep",), 1.0, stride=10, samples=60, kind="state")
    >>> sleep = IntervalType("sleep", "onset", "wakeup")
    >>> detections = Transitions(window=20.0).decode(density, (sleep,))
    >>> detections.event.tolist(), detections.time.tolist(), detections.score.round(6).tolist()
    (['onset', 'wakeup'], [20.0, 40.0], [0.8, 0.8])
    """

    reads: ClassVar[DensityKind] = "state"

    kind: Literal["transitions"] = "transitions"
    scorer: Scorer = "threshold"
    level: Level = 0.5
    window: PositiveFloat | None = None
    smooth: Seconds = 0.0
    smoothing: Side = "centred"
    separation: Seconds = 0.0
    clock: Clock = "samples"

    @model_validator(mode="after")
    def _used(self) -> Self:
        if self.scorer != "threshold":
            self.refuse(("level",), f"with the scorer {self.scorer!r}")
        return self

    @classmethod
    def default(cls, tolerances: Sequence[float], separation: float = 0.0) -> Self | None:
        """The default for state densities: the difference over the largest tolerance."""
        if not tolerances:
            raise ConfigError("the default decoder of states needs tolerances in seconds")
        return cls(scorer="difference", separation=separation).complete(tolerances)

    def complete(self, tolerances: Sequence[float]) -> Self:
        missing = self.window is None and tolerances
        return self.replace(window=max(tolerances)) if missing else self

    def known_window(self) -> float:
        """The window in seconds; None is an error."""
        if self.window is None:
            raise ConfigError(
                "the decoder transitions needs a window, or tolerances (--tolerance), in seconds"
            )
        return self.window

    @property
    def looks_ahead(self) -> str | None:
        if self.smooth > 0 and self.smoothing == "centred":
            return "centred smoothing reads later bins"
        return "alternation compares all events of the recording" if self.alternate else None

    def forward(self) -> Self:
        return self.replace(smoothing="trailing", alternate=False)

    def incremental(
        self, clock: BinClock, types: tuple[str, ...], intervals: tuple[IntervalType, ...] = ()
    ) -> IncrementalDecoder:
        from bdl.decoding.incremental_transitions import IncrementalTransitions

        return IncrementalTransitions(self, clock, of_outputs(types, intervals, "the model"))

    def candidates(self, density: Density, intervals: tuple[IntervalType, ...]) -> ByType:
        by_type: ByType = {}
        for column, interval in enumerate(intervals):
            occupancy = smoothed_occupancy(density, column, self)
            ends = find_transitions(occupancy, density, self)
            by_type |= dict(zip((interval.onset, interval.offset), ends, strict=True))
        return by_type


class TransitionGrid(Grid):
    """Settings of `Transitions`.

    Parameters
    ----------
    thresholds
        Least transition scores: a list, or how many to space evenly from 0 to 1.
    scorers, levels, windows, smooths, alternations
        Values to try, the simplest first. Levels matter to the scorer ``threshold`` only; the
        window None is the largest tolerance.
    smoothing, separation, clock
        As in `Transitions`, the same for all settings.

    Examples
    --------
    >>> len(TransitionGrid(windows=(600.0,), levels=(0.3, 0.5)).decoders(()))
    3
    """

    decoder: ClassVar[type[Decoder]] = Transitions
    axes: ClassVar[dict[str, str]] = {
        "smooths": "smooth",
        "scorers": "scorer",
        "levels": "level",
        "windows": "window",
    }

    kind: Literal["transitions"] = "transitions"
    scorers: Annotated[tuple[Scorer, ...], Field(min_length=1)] = ("threshold", "difference")
    levels: Annotated[tuple[Level, ...], Field(min_length=1)] = (0.5,)
    windows: Annotated[tuple[PositiveFloat | None, ...], Field(min_length=1)] = (None,)
    smooths: NonNegatives = (0.0,)
    smoothing: Side = "centred"
    separation: Seconds = 0.0
    clock: Clock = "samples"

    @model_validator(mode="after")
    def _used(self) -> Self:
        if "threshold" not in self.scorers:
            self.refuse(("levels",), f"with the scorers {', '.join(self.scorers)}")
        return self

    @classmethod
    def default(
        cls, tolerances: Sequence[float], separation: float, alternations: tuple[bool, ...]
    ) -> Self | None:
        """The default for state densities: windows of the middle and the largest tolerance."""
        windows = tuple(sorted({tolerances[len(tolerances) // 2], max(tolerances)}))
        return cls(windows=windows, separation=separation, alternations=alternations)

    @classmethod
    def paper(cls, settings: GridSettings) -> Self | None:
        return cls(windows=(settings.window,), **settings.model_dump(exclude={"window"}))

    def decoders(self, tolerances: Sequence[float]) -> list[Any]:
        """The decoders of the grid, each once."""
        return [*dict.fromkeys(super().decoders(tolerances))]

    def varied(self) -> Iterator[dict[str, Any]]:
        """The scorer ``difference`` has no level to vary."""
        for setting in super().varied():
            if setting["scorer"] != "threshold":
                del setting["level"]
            yield setting

    def candidates(
        self, density: Density, decoders: Sequence[Any], intervals: tuple[IntervalType, ...]
    ) -> list[ByType]:
        """Candidates of each decoder; each width smooths the occupancy once."""
        candidates: list[ByType] = [{} for _ in decoders]
        for column, interval in enumerate(intervals):
            smoothed: dict[float, Fixed] = {}
            for decoder, by_type in zip(decoders, candidates, strict=True):
                if decoder.smooth not in smoothed:
                    smoothed[decoder.smooth] = smoothed_occupancy(density, column, decoder)
                onsets, offsets = find_transitions(smoothed[decoder.smooth], density, decoder)
                by_type[interval.onset], by_type[interval.offset] = onsets, offsets
        return candidates

    def forward(self) -> Self:
        return self.replace(smoothing="trailing", alternations=(False,))

    def simplest(self) -> Self:
        """The grid of an untuned decoder; both scorers are tried, as in the paper."""
        return super().simplest().replace(scorers=self.scorers)


def find_transitions(
    occupied: Fixed, density: Density, decoder: Transitions
) -> tuple[Candidates, Candidates]:
    """Onsets and offsets of one column, separated, before threshold and alternation."""
    step = density.period * (density.stride if decoder.clock == "bins" else 1)
    rise, scale = _scaled_scores(occupied, step, decoder)
    level = int(np.ceil(decoder.level * UNIT))
    sides = []
    for sign in (1, -1):
        score = sign * rise
        if decoder.scorer == "threshold":
            inside = sign * occupied >= (level if sign > 0 else 1 - level)
            place = np.flatnonzero(inside[1:] & ~inside[:-1]) + 1
        else:
            first, last = local_maxima(score)
            place = (first + last) // 2
        place = place[score[place] > 0]
        height = score[place] / scale
        rows = separate(place, height, steps(decoder.separation, step))
        sides.append(Candidates(place[rows] * step, height[rows]))
    return sides[0], sides[1]


def transition_scores(density: Density, column: int, window: float) -> Floats:
    """The transition score of one column at each bin, without smoothing: (bins,).

    ``window`` is in seconds, as in `Transitions`.

    Examples
    --------
    >>> values = np.array([[0.0], [0.0], [1.0], [1.0]], np.float32)
    >>> density = Density("a", values, ("sleep",), 1.0, stride=10, samples=40, kind="state")
    >>> transition_scores(density, 0, window=20.0).tolist()
    [0.0, 0.5, 1.0, 0.5]
    """
    decoder = Transitions(window=window, clock="bins")
    occupied = smoothed_occupancy(density, column, decoder)
    rise, scale = _scaled_scores(occupied, density.period * density.stride, decoder)
    return rise / scale


def _scaled_scores(occupied: Fixed, step: float, decoder: Transitions) -> tuple[Fixed, int]:
    """Exact transition scores at places ``step`` seconds apart, and what they are multiplied by."""
    window = min(max(1, round(decoder.known_window() / step)), max(1, len(occupied)))
    return difference(occupied, window), window * UNIT


def difference(occupied: Fixed, window: int) -> Fixed:
    """Sum over the window that starts at each place, minus the sum over the window before it.

    The ends are mirrored; ``window`` is at most the length.
    """
    mirrored = np.concatenate((occupied[:window][::-1], occupied, occupied[-window:][::-1]))
    return window_rise(mirrored, window, len(occupied))


def window_rise(extended: Fixed, window: int, places: int) -> Fixed:
    """The difference at ``places`` places; ``extended`` starts one window before the first."""
    total = np.concatenate(([0], np.cumsum(extended)))
    before, here, after = (total[i * window : i * window + places] for i in range(3))
    rise: Fixed = after - 2 * here + before
    return rise


def smoothed_occupancy(density: Density, column: int, decoder: Transitions) -> Fixed:
    """The (smoothed) occupancy of one column on the decoder's clock, in units of 2**-30."""
    values = density.values[:, column].astype(np.float64)
    bins = decoder.clock == "bins"
    sigma = decoder.smooth / (density.period * (density.stride if bins else 1))
    stride, samples = (1, len(values)) if bins else (density.stride, density.samples)
    smoothed = smooth(values, sigma, stride=stride, samples=samples, side=decoder.smoothing)
    return np.rint(smoothed * UNIT).astype(np.int64)
