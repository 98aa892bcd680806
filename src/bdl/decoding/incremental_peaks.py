"""The incremental form of `bdl.decoding.peaks.Peaks`, for many recordings at a time.

Bins are smoothed as `bdl.decoding.smoothing` does, without looking ahead, and maxima are found and
separated as in `bdl.decoding.incremental_maxima`, in one compiled pass over all recordings.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Flags, Floats, Longs, Singles
from bdl.compiled import compiled
from bdl.decoding.candidates import steps
from bdl.decoding.incremental import Arrays, BinClock
from bdl.decoding.incremental_maxima import NEVER, decide, find
from bdl.decoding.incremental_rows import DecoderRows, FinalRows, grown, within
from bdl.decoding.smoothing import trailing_weights

if TYPE_CHECKING:
    from bdl.decoding.peaks import Peaks

KEPT = ("before", "run", "value")
PENDING = ("place", "height", "kept")


class PeakRows(DecoderRows):
    """Peaks of each event type as they become final, with trailing smoothing or none.

    Examples
    --------
    >>> from bdl.decoding import Peaks
    >>> rows = PeakRows(Peaks(), BinClock(1.0, 10), ("beat",))
    >>> rows.grow(1)
    >>> values = np.array([[0.0], [0.5], [0.25]], np.float32)
    >>> rows.push(np.array([0]), np.array([3]), values).time.tolist()
    [14.0]
    """

    def __init__(self, decoder: Peaks, clock: BinClock, types: tuple[str, ...]) -> None:
        self.decoder, self.clock, self.types = decoder, clock, types
        # A cell is a place of the clock that has a value. Without smoothing all samples of a bin
        # are equal, and it is one cell of many places.
        on_bins, smooth = decoder.clock == "bins", decoder.smooth > 0
        self.per_bin = clock.stride if smooth and not on_bins else 1
        self.width = 1 if smooth or on_bins else clock.stride
        step = clock.period * (clock.stride if on_bins else 1)
        self.distance = steps(decoder.separation, step)
        self.weights = trailing_weights(decoder.smooth / step, self.per_bin)
        shape = (0, len(types))
        self.before = np.zeros((*shape, self.weights.shape[1] - 1))  # bins that smoothing reads
        # Next cell, first cell of the current run of equal values, whether it was risen to.
        self.run = np.zeros((*shape, 3), np.int64)
        self.value = np.zeros((*shape, 1))
        # Maxima that are not decided yet, and kept ones that may suppress others.
        self.count = np.zeros(shape, np.int64)
        self.place = np.zeros((*shape, 1), np.int64)
        self.height = np.zeros((*shape, 1))
        self.kept = np.zeros((*shape, 1), np.bool_)

    def grow(self, rows: int) -> None:
        for name in (*KEPT, "count", *PENDING):
            setattr(self, name, grown(getattr(self, name), rows))

    def clear(self, row: int) -> None:
        for name in (*KEPT, "count"):
            getattr(self, name)[row] = 0

    def push(
        self, rows: Longs, counts: Longs, values: Singles, samples: int | None = None
    ) -> FinalRows:
        missing = 0 if samples is None or not len(values) else -samples % self.per_bin
        final, height, left, *pending = _advance_rows(
            rows, counts, values, self.weights, self.width, self.distance,
            self.decoder.keep == "earlier", samples is not None, missing,
            self.before, self.run, self.value, self.count, self.place, self.height, self.kept,
        )  # fmt: skip
        self._keep(rows, left, pending)
        row, column, place, cell = final
        if self.decoder.clock == "samples":
            time = (place * self.clock.period).astype(np.float64)
        else:
            time = self.clock.centres(place, samples)
        peaks = FinalRows(row, column, time, height, cell // self.per_bin)
        return peaks.select(height >= self.decoder.threshold)

    def _keep(self, rows: Longs, left: Longs, pending: Sequence[NDArray[Any]]) -> None:
        """Keep the maxima that are not decided, of which each row and output has ``left``."""
        self.count[rows] = left
        counts = left.ravel()
        if not counts.any():
            return
        row = np.repeat(np.repeat(rows, left.shape[1]), counts)
        column = np.repeat(np.tile(np.arange(left.shape[1]), len(rows)), counts)
        place = within(counts)
        for name, arrays in zip(PENDING, pending, strict=True):
            array = getattr(self, name)
            room = int(counts.max()) - array.shape[2]
            if room > 0:
                array = np.pad(array, ((0, 0), (0, 0), (0, room)))
                setattr(self, name, array)
            array[row, column, place] = arrays

    def save(self, row: int) -> Arrays:
        arrays: Arrays = {}
        for column in range(len(self.types)):
            count = int(self.count[row, column])
            arrays |= {f"{column}.{name}": getattr(self, name)[row, column].copy() for name in KEPT}
            for name in PENDING:
                arrays[f"{column}.{name}"] = getattr(self, name)[row, column, :count].copy()
        return arrays

    def restore(self, row: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        columns = range(len(self.types))
        for column in columns:
            for name in KEPT:
                saved, kept = arrays[f"{column}.{name}"], getattr(self, name)[row, column]
                if saved.shape != kept.shape:
                    raise ValueError(f"{name}: {kept.shape} expected, got {saved.shape}")
                kept[...] = saved
        lengths = [[len(arrays[f"{column}.{name}"]) for name in PENDING] for column in columns]
        if any(len({*of_column}) > 1 for of_column in lengths):
            raise ValueError(f"maxima of lengths that do not fit each other: {lengths}")
        pending = [
            np.concatenate([arrays[f"{column}.{name}"] for column in columns]) for name in PENDING
        ]
        self._keep(np.array([row]), np.array([[length for length, *_ in lengths]]), pending)


@compiled
def _advance_rows(
    rows: Longs,
    counts: Longs,
    values: Singles,
    weights: Floats,
    width: int,
    distance: int,
    earlier: bool,
    last: bool,
    missing: int,
    before: Floats,
    run: Longs,
    value: Floats,
    count: Longs,
    pending_place: Longs,
    pending_height: Floats,
    pending_kept: Flags,
) -> tuple[Longs, Floats, Longs, Longs, Floats, Flags]:
    """Take the next bins of each row; ``before``, ``run`` and ``value`` are changed in place.

    ``missing`` is the number of cells that the last bin of a single row lacks. Returns the maxima
    that are final (which of the rows, output, place, cell) and their heights, the number of
    maxima that each row and output has left, and these: places, heights, and whether they are kept.
    """
    per_bin, reach, outputs = len(weights), weights.shape[1] - 1, values.shape[1]
    most = per_bin * counts.max() + 1 if len(counts) else 1
    line, cells = np.empty(reach + most), np.empty(most)
    place, horizon = np.empty(most, np.int64), np.empty(most, np.int64)
    height, is_maximum = np.empty(most), np.empty(most, np.bool_)
    room = most + pending_place.shape[2]
    own_place, own_height = np.empty(room, np.int64), np.empty(room)
    own_kept = np.empty(room, np.bool_)
    found_place, found_height = np.empty(room, np.int64), np.empty(room)
    found_cell = np.empty(room, np.int64)
    largest = outputs * (per_bin * counts.sum() + len(rows)) + count[rows].sum()
    final, final_height = np.empty((4, largest), np.int64), np.empty(largest)
    left = np.zeros((len(rows), outputs), np.int64)
    left_place, left_height = np.empty(largest, np.int64), np.empty(largest)
    left_kept = np.empty(largest, np.bool_)
    finals = lefts = first = 0
    for i in range(len(rows)):
        row, new = rows[i], counts[i]
        for column in range(outputs):
            held = count[row, column]
            begin = run[row, column, 0]
            line[:reach] = before[row, column]
            for b in range(new):
                line[reach + b] = values[first + b, column]
            if begin == 0 and new > 0:
                line[:reach] = line[reach]
            size = new * per_bin - missing
            for b in range(new):
                here = line[reach + b]
                for p in range(min(per_bin, size - b * per_bin)):
                    smoothed = here
                    for j in range(1, reach + 1):
                        smoothed += weights[p, reach - j] * (line[reach + b - j] - here)
                    cells[b * per_bin + p] = smoothed
            before[row, column] = line[new : new + reach]
            total = size + last
            is_maximum[:total] = False
            find(
                cells[:size], width, run[row, column], value[row, column],
                place, height, is_maximum, horizon,
            )  # fmt: skip
            if last:
                horizon[size] = NEVER
            own_place[:held] = pending_place[row, column, :held]
            own_height[:held] = pending_height[row, column, :held]
            own_kept[:held] = pending_kept[row, column, :held]
            held, decided = decide(
                place[:total], height[:total], is_maximum[:total], horizon[:total],
                distance, earlier, own_place, own_height, own_kept, held,
                found_place, found_height, found_cell,
            )  # fmt: skip
            for k in range(decided):
                final[0, finals], final[1, finals] = i, column
                final[2, finals] = found_place[k]
                final[3, finals] = min(begin + found_cell[k], begin + size - 1)
                final_height[finals] = found_height[k]
                finals += 1
            left[i, column] = held
            left_place[lefts : lefts + held] = own_place[:held]
            left_height[lefts : lefts + held] = own_height[:held]
            left_kept[lefts : lefts + held] = own_kept[:held]
            lefts += held
        first += new
    return (
        final[:, :finals], final_height[:finals], left,
        left_place[:lefts], left_height[:lefts], left_kept[:lefts],
    )  # fmt: skip
