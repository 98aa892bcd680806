"""Flat and clipped stretches of one channel: runs of equal samples.

A flat stretch is a run of equal samples that is long enough. A clipped one is a run, possibly much
shorter, at the smallest or at the largest value of the whole channel; a channel that has only one
value is flat and not clipped. A missing sample ends a run.
"""

from __future__ import annotations

import numpy as np

from bdl.arrays import Longs, Singles
from bdl.compiled import compiled
from bdl.quality.stretches import Spans


class EqualRuns:
    """Runs of equal samples of one channel, which is passed in chunks.

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
        self._start = np.zeros(1, np.int64)  # first sample of the open run
        # Value of the open run; smallest and largest value so far.
        self._numbers = np.array([np.nan, np.inf, -np.inf], np.float32)
        self._flat: list[Spans] = []
        self._at_low: list[Spans] = []
        self._at_high: list[Spans] = []

    def add(self, samples: Singles) -> None:
        """Add the next samples."""
        runs = np.empty((len(samples) // self._least + 1, 2), np.int64)
        values = np.empty(len(runs), np.float32)
        low, high = self._numbers[1:]
        count = _runs(samples, self._row, self._least, self._start, self._numbers, runs, values)
        self._row += len(samples)
        # Runs at the former extreme value are not clipped if there is a more extreme one.
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

    def _keep(self, runs: Spans, values: Singles) -> None:
        lengths = runs[:, 1] - runs[:, 0]
        if self._flat_least is not None:
            self._flat.append(runs[lengths >= self._flat_least])
        if self._clipped_least is not None:
            long = lengths >= self._clipped_least
            self._at_low.append(runs[long & (values == self._numbers[1])])
            self._at_high.append(runs[long & (values == self._numbers[2])])

    def flat_stretches(self) -> Spans:
        """Return the flat stretches, after `finish`."""
        return _joined(self._flat)

    def clipped_stretches(self) -> Spans:
        """Return the clipped stretches, after `finish`."""
        if not self._numbers[1] < self._numbers[2]:
            return _joined([])
        both = _joined([*self._at_low, *self._at_high])
        return both[np.argsort(both[:, 0])]


def _joined(parts: list[Spans]) -> Spans:
    return np.concatenate([np.zeros((0, 2), np.int64), *parts])


@compiled(small_in_python=True)
def _runs(
    samples: Singles,
    row: int,
    least: int,
    start: Longs,
    numbers: Singles,
    runs: Spans,
    values: Singles,
) -> int:
    """Write the runs of at least this many samples that end here; return their number.

    ``start`` and ``numbers`` are the start and the value of the open run, and the smallest and the
    largest of all samples.
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
