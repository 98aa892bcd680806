"""Flat and clipped stretches of one channel: runs of equal samples.

A flat stretch is a run of equal samples that is long enough. A clipped one is a run, possibly much
shorter, at the smallest or at the largest value of the whole channel; a channel that has only one
value is flat and not clipped. A missing sample ends a run.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.compiled import compiled
from bdl.quality.stretches import Intervals


class EqualRuns:
    """Runs of equal samples of one channel, given some samples at a time.

    ``flat`` and ``clipped`` are the least numbers of samples of such stretches; None finds none.

    Examples
    --------
    >>> runs = EqualRuns(flat=3, clipped=2)
    >>> runs.add(np.array([5, 5, 1, 1, 1, 0, 2], np.float32))
    >>> runs.add(np.array([2, 2, 5, 5, 0], np.float32))
    >>> runs.finish()
    >>> runs.flat_stretches().tolist(), runs.clipped_stretches().tolist()
    ([[2, 5], [6, 9]], [[0, 2], [9, 11]])
    """

    def __init__(self, flat: int | None, clipped: int | None) -> None:
        self._flat_least, self._clipped_least = flat, clipped
        self._least = min(least for least in (flat, clipped) if least is not None)
        self._row = 0  # samples so far
        self._start = np.zeros(1, np.int64)  # of the run that may continue
        self._numbers = np.array([np.nan, np.inf, -np.inf], np.float32)  # its value; extremes
        self._flat: list[Intervals] = []
        self._at_low: list[Intervals] = []
        self._at_high: list[Intervals] = []

    def add(self, samples: NDArray[np.float32]) -> None:
        """Add the next samples."""
        runs = np.empty((len(samples) // self._least + 1, 2), np.int64)
        values = np.empty(len(runs), np.float32)
        low, high = self._numbers[1:]
        count = _runs(samples, self._row, self._least, self._start, self._numbers, runs, values)
        self._row += len(samples)
        # What was at an extreme value is not clipped if there is a more extreme one.
        if self._numbers[1] < low:
            self._at_low.clear()
        if self._numbers[2] > high:
            self._at_high.clear()
        self._keep(runs[:count], values[:count])

    def finish(self) -> None:
        """Close the last run."""
        run = np.array([[self._start[0], self._row]])
        if self._row - self._start[0] >= self._least:
            self._keep(run, self._numbers[:1])

    def _keep(self, runs: Intervals, values: NDArray[np.float32]) -> None:
        lengths = runs[:, 1] - runs[:, 0]
        if self._flat_least is not None:
            self._flat.append(runs[lengths >= self._flat_least])
        if self._clipped_least is not None:
            long = lengths >= self._clipped_least
            self._at_low.append(runs[long & (values == self._numbers[1])])
            self._at_high.append(runs[long & (values == self._numbers[2])])

    def flat_stretches(self) -> Intervals:
        """Return the flat stretches, after `finish`."""
        return _joined(self._flat)

    def clipped_stretches(self) -> Intervals:
        """Return the clipped stretches, after `finish`."""
        if not self._numbers[1] < self._numbers[2]:
            return _joined([])
        both = _joined([*self._at_low, *self._at_high])
        return both[np.argsort(both[:, 0])]


def _joined(parts: list[Intervals]) -> Intervals:
    return np.concatenate([np.zeros((0, 2), np.int64), *parts])


@compiled(small_in_python=True)
def _runs(
    samples: NDArray[np.float32],
    row: int,
    least: int,
    start: NDArray[np.int64],
    numbers: NDArray[np.float32],
    runs: Intervals,
    values: NDArray[np.float32],
) -> int:
    """Write the runs of at least this many samples that end here; return their number.

    ``start`` and ``numbers`` are the start and the value of the run that may continue, and the
    least and the largest of all samples.
    """
    begin, (value, low, high) = start[0], numbers
    count = 0
    for i in range(len(samples)):
        x = samples[i]
        if x == value:
            continue
        if row + i - begin >= least:
            runs[count, 0], runs[count, 1], values[count] = begin, row + i, value
            count += 1
        begin, value = row + i, x
        low = x if x < low else low
        high = x if x > high else high
    start[0] = begin
    numbers[0], numbers[1], numbers[2] = value, low, high
    return count
