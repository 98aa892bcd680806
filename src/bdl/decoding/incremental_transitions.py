"""The incremental form of `bdl.decoding.transitions.Transitions`.

The transition score at a place needs the window after it, so that it is known one window later;
what has to be kept is the window before the next place and all that follows it.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bdl.decoding.candidates import steps
from bdl.decoding.incremental import (
    Arrays,
    BinClock,
    FinalByType,
    FinalDetections,
    IncrementalDecoder,
)
from bdl.decoding.incremental_maxima import FinalMaxima, MaximaStream
from bdl.decoding.smoothing import gaussian, smooth
from bdl.decoding.transitions import UNIT, Fixed, window_rise
from bdl.intervals import IntervalType

if TYPE_CHECKING:
    from bdl.decoding.transitions import Transitions


class IncrementalTransitions(IncrementalDecoder):
    """Onsets and offsets of each interval type as they become final."""

    def __init__(
        self, decoder: Transitions, clock: BinClock, intervals: tuple[IntervalType, ...]
    ) -> None:
        self.decoder, self.intervals = decoder, intervals
        by_sample = decoder.clock == "samples"
        self.step = clock.period * (1 if by_sample else clock.stride)
        self.window = max(1, round(decoder.known_window() / self.step))
        self.cells = TrailingCells(clock, len(intervals), sigma=decoder.smooth, by_sample=by_sample)
        distance = steps(decoder.separation, self.step)
        self.scores = {interval.name: TransitionScores(self.window) for interval in intervals}
        self.sides = {
            event: MaximaStream(width=1, distance=distance, keep="higher")
            for interval in intervals
            for event in (interval.onset, interval.offset)
        }
        self.types = tuple(self.sides)

    def push(self, values: NDArray[np.float32], samples: int | None = None) -> FinalByType:
        final, last = {}, samples is not None
        columns = self.cells.push(values, samples)
        for interval, cells in zip(self.intervals, columns, strict=True):
            scores = self.scores[interval.name]
            occupied = np.rint(cells * UNIT).astype(np.int64)
            first, window, pair, rise = scores.push(occupied, last=last)
            for event, sign in ((interval.onset, 1), (interval.offset, -1)):
                place, height, cell = self._side(
                    self.sides[event], sign, first, window, pair, rise, last
                )
                known = np.minimum(cell + window, scores.count) - 1
                time = (place * self.step).astype(np.float64)
                detections = FinalDetections(time, height, known // self.cells.per_bin)
                final[event] = detections.select(height >= self.decoder.threshold)
        return final

    def _side(
        self,
        side: MaximaStream,
        sign: int,
        first: int,
        window: int,
        pair: tuple[Fixed, Fixed],
        rise: Fixed,
        last: bool,
    ) -> FinalMaxima:
        """Onsets or offsets among the places from ``first`` on."""
        score = sign * rise
        if self.decoder.scorer == "difference":
            return side.push(score.astype(np.float64), last=last, scale=window * UNIT)
        level = int(np.ceil(self.decoder.level * UNIT))
        before, here = (sign * cells >= (level if sign > 0 else 1 - level) for cells in pair)
        places = np.arange(first, first + len(rise) + last)
        is_maximum = np.zeros(len(places), np.bool_)
        is_maximum[: len(rise)] = here & ~before & (score > 0)
        height = np.zeros(len(places))
        height[: len(rise)] = score / (window * UNIT)
        return side.decided(places, height, is_maximum, places + 1, first, last=last)

    def save(self) -> Arrays:
        return {
            f"{name}.{key}": array
            for name, part in self._parts().items()
            for key, array in part.save().items()
        }

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        for name, part in self._parts().items():
            start = f"{name}."
            part.restore(
                {key.removeprefix(start): arrays[key] for key in arrays if key.startswith(start)}
            )

    def _parts(self) -> dict[str, TrailingCells | TransitionScores | MaximaStream]:
        scores = {f"@scores {name}": part for name, part in self.scores.items()}
        return {"@cells": self.cells, **scores, **self.sides}


class TransitionScores:
    """Differences of the sums over windows of ``window`` places, once these are complete."""

    def __init__(self, window: int) -> None:
        self.window = window
        self.count = 0  # places so far
        self.next = 0  # the next place to score
        self.kept = np.zeros(0, np.int64)  # occupancy from one window before the next place on

    def push(self, occupied: Fixed, *, last: bool) -> tuple[int, int, tuple[Fixed, Fixed], Fixed]:
        """First place that is scored, window, occupancy before and at each place, and the rises."""
        self.count += len(occupied)
        joined = np.concatenate([self.kept, occupied])
        window = min(self.window, max(1, self.count)) if last else self.window
        stop = self.count if last else max(self.count - window + 1, self.next)
        first, origin = self.next, self.count - len(joined)
        if stop == first:
            self.kept = joined
            return first, window, (joined[:0], joined[:0]), joined[:0]
        # Places from first - window on; the ends of the recording are mirrored.
        if origin == 0 and first < window:
            extended = np.concatenate([joined[:window][::-1], joined])[first:]
        else:
            extended = joined[first - window - origin :]
        if last:
            extended = np.concatenate([extended, joined[len(joined) - window :][::-1]])
        places = stop - first
        pair = (extended[window - 1 : window - 1 + places], extended[window : window + places])
        self.next = stop
        self.kept = joined[max(stop - window - origin, 0) :].copy()
        return first, window, pair, window_rise(extended, window, places)

    def save(self) -> Arrays:
        """The state as named arrays."""
        return {"numbers": np.array([self.count, self.next], np.int64), "kept": self.kept}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a saved state."""
        self.count, self.next = (int(number) for number in arrays["numbers"])
        self.kept = np.array(arrays["kept"])


class TrailingCells:
    """Values of the cells of each output, per sample or per bin, smoothed without looking ahead.

    ``sigma`` is the standard deviation of the trailing filter in seconds; 0 for none.

    Examples
    --------
    >>> cells = TrailingCells(BinClock(1.0, 2), 1, sigma=0.0, by_sample=True)
    >>> cells.push(np.array([[0.5]], np.float32), None)[0].tolist()
    [0.5, 0.5]
    """

    def __init__(self, clock: BinClock, outputs: int, *, sigma: float, by_sample: bool) -> None:
        self.per_bin = clock.stride if by_sample else 1
        self.sigma = sigma / (clock.period * (1 if by_sample else clock.stride))
        radius = len(gaussian(self.sigma, "trailing")) - 1
        self.reach = -(-radius // self.per_bin)
        self.before = np.zeros((0, outputs), np.float32)  # bins that smoothing reads again

    def push(self, values: NDArray[np.float32], samples: int | None) -> list[NDArray[np.float64]]:
        """Cells of the next bins (bins, outputs); ``samples`` is the recording's length at its end.

        The last bin of a recording may have fewer samples, and so fewer cells.
        """
        joined = np.concatenate([self.before, values])
        old, length = len(self.before), len(joined) * self.per_bin
        if samples is not None and len(values):
            length -= -samples % self.per_bin
        self.before = joined[len(joined) - min(self.reach, len(joined)) :].copy()
        return [
            smooth(column, self.sigma, stride=self.per_bin, samples=length, side="trailing")[
                old * self.per_bin :
            ]
            for column in joined.T.astype(np.float64)
        ]

    def save(self) -> Arrays:
        """The state as named arrays."""
        return {"before": self.before}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a saved state."""
        self.before = np.array(arrays["before"])
