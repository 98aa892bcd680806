"""Segmentation decoders: where a predicted occupancy goes up or down.

The occupancy of an interval type (a density of kind ``state``) becomes onsets and offsets. The
transition score at a place ``s`` of the clock is the mean of the occupancy over the ``window``
from ``s`` on, minus its mean over the ``window`` before ``s``; beyond its ends the recording is
mirrored. An onset scores that difference, an offset its negative. Two scorers:

``threshold``
    onsets where the (smoothed) occupancy rises to the threshold or above, offsets where it falls
    below; of these the ones whose transition score is positive and reaches the cutoff;
``difference``
    onsets at the local maxima of the transition score, offsets at those of its negative.

Both then apply separation (the higher score is kept) and alternation. A transition at place ``s``
lies between ``s - 1`` and ``s`` and its time is that of ``s``: the first sample of the new state.
On clock ``bins`` the places are bins and the time is that of the bin's first sample.

The occupancy is held in fixed point, in units of 2**-30, so that its sums, and with them equal
scores and flat tops, are exact.
"""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray
from pydantic import Field

from bdl.config import Value
from bdl.decoding.alternation import alternate
from bdl.decoding.detections import ByType, Detections, check_kind, steps, to_events
from bdl.decoding.maxima import local_maxima, separate
from bdl.decoding.peaks import Clock, Seconds
from bdl.decoding.smoothing import Side, smooth
from bdl.density import Density
from bdl.errors import ConfigError
from bdl.events import Events
from bdl.intervals import IntervalType

Floats = NDArray[np.float64]
Fixed = NDArray[np.int64]
Scorer = Literal["threshold", "difference"]

UNIT = 1 << 30


class Transitions(Value):
    """Onsets and offsets of an occupancy.

    Parameters
    ----------
    scorer : ``threshold`` or ``difference``.
    threshold : occupancy at which the state changes (scorer ``threshold``), above 0, at most 1.
    window : seconds over which the means on each side are taken.
    cutoff : least transition score, 0 to 1.
    smooth : standard deviation of the Gaussian that smooths the occupancy first, in seconds.
    smoothing, separation, clock, alternate : as in `Peaks`.

    >>> values = np.array([[0.1], [0.1], [0.9], [0.9], [0.1], [0.1]], np.float32)
    >>> density = Density("a", values, ("sleep",), 1.0, stride=10, samples=60, kind="state")
    >>> sleep = IntervalType("sleep", "onset", "wakeup")
    >>> found = Transitions(window=20.0).decode(density, (sleep,))
    >>> found.event.tolist(), found.time.tolist(), found.score.round(6).tolist()
    (['onset', 'wakeup'], [20.0, 40.0], [0.8, 0.8])
    """

    kind: Literal["transitions"] = "transitions"
    scorer: Scorer = "threshold"
    threshold: Annotated[float, Field(gt=0, le=1)] = 0.5
    window: Annotated[float, Field(gt=0)]
    cutoff: Annotated[float, Field(ge=0)] = 0.0
    smooth: Seconds = 0.0
    smoothing: Side = "centred"
    separation: Seconds = 0.0
    clock: Clock = "samples"
    alternate: bool = False

    def detect(self, density: Density, intervals: tuple[IntervalType, ...] = ()) -> ByType:
        """Times and scores by event type."""
        found = {}
        kinds = self.names(density, intervals)
        for j, kind in enumerate(kinds):
            onset, offset = transitions(density, j, self)
            found[kind.onset] = onset.above(self.cutoff)
            found[kind.offset] = offset.above(self.cutoff)
        return alternate(found, kinds) if self.alternate else found

    def names(
        self, density: Density, intervals: tuple[IntervalType, ...]
    ) -> tuple[IntervalType, ...]:
        """The interval type of each column, found by its name."""
        check_kind(density, "state", "Transitions")
        named = {one.name: one for one in intervals}
        for name in density.types:
            if name not in named:
                raise ConfigError(
                    f"occupancy {name!r} of recording {density.recording!r} needs an interval "
                    f"type of that name, to name its events; given: {', '.join(named) or 'none'}"
                )
        return tuple(named[name] for name in density.types)

    def decode(self, density: Density, intervals: tuple[IntervalType, ...] = ()) -> Events:
        """Scored events of one recording, by type, then by time."""
        return to_events([(density.recording, self.detect(density, intervals))])


def transitions(
    density: Density, column: int, decoder: Transitions, levels: Fixed | None = None
) -> tuple[Detections, Detections]:
    """Onsets and offsets of one column, separated, before cutoff and alternation.

    ``levels`` are those of `occupancy`, where they are at hand.

    >>> values = np.array([[0.0], [1.0], [1.0], [0.0]], np.float32)
    >>> density = Density("a", values, ("sleep",), 1.0, stride=5, samples=20, kind="state")
    >>> [side.time.tolist() for side in transitions(density, 0, Transitions(window=5.0))]
    [[5.0], [15.0]]
    """
    bins = decoder.clock == "bins"
    step = density.period * (density.stride if bins else 1)
    if levels is None:
        levels = occupancy(density, column, decoder)
    window = min(max(1, round(decoder.window / step)), max(1, len(levels)))
    rise = difference(levels, window)
    threshold = int(np.ceil(decoder.threshold * UNIT))
    found = []
    for sign in (1, -1):
        score = sign * rise
        if decoder.scorer == "threshold":
            inside = sign * levels >= (threshold if sign > 0 else 1 - threshold)
            place = np.flatnonzero(inside[1:] & ~inside[:-1]) + 1
        else:
            first, last = local_maxima(score)
            place = (first + last) // 2
        place = place[score[place] > 0]
        height = score[place] / (window * UNIT)
        rows = separate(place, height, steps(decoder.separation, step))
        time = place[rows] * step
        found.append(Detections(time, height[rows]))
    return found[0], found[1]


def difference(levels: Fixed, window: int) -> Fixed:
    """Sum over the window from each place on, minus the sum over the window before it.

    The ends are mirrored; ``window`` is at most the length.

    >>> difference(np.array([0, 0, 4, 4]), 2).tolist()
    [0, 4, 8, 4]
    """
    return _difference(levels, window)


def occupancy(density: Density, column: int, decoder: Transitions) -> Fixed:
    """The (smoothed) occupancy of one column on the decoder's clock, in units of 2**-30.

    >>> values = np.array([[0.0], [0.5]], np.float32)
    >>> density = Density("a", values, ("sleep",), 1.0, stride=2, samples=3, kind="state")
    >>> (occupancy(density, 0, Transitions(window=1.0)) / UNIT).tolist()
    [0.0, 0.0, 0.5]
    """
    values = density.values[:, column].astype(np.float64)
    bins = decoder.clock == "bins"
    sigma = decoder.smooth / (density.period * (density.stride if bins else 1))
    stride, samples = (1, len(values)) if bins else (density.stride, density.samples)
    smoothed = smooth(values, sigma, stride=stride, samples=samples, side=decoder.smoothing)
    return np.rint(smoothed * UNIT).astype(np.int64)


@njit(cache=True)
def _difference(levels: Fixed, window: int) -> Fixed:
    n = len(levels)
    total = np.zeros(n + 1, np.int64)
    for i in range(n):
        total[i + 1] = total[i] + levels[i]
    out = np.empty(n, np.int64)
    for s in range(n):
        ahead, back = s + window, s - window
        after = total[ahead] if ahead <= n else 2 * total[n] - total[2 * n - ahead]
        before = total[back] if back >= 0 else -total[-back]
        out[s] = after - 2 * total[s] + before
    return out
