"""The incremental form of `bdl.decoding.forward_mass.ForwardMass`.

The bins that can still be taken, compared or changed are kept, in buffers of a constant size, one
row per recording: the search of `bdl.decoding.mass_search` works on them as on a short recording.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Longs, Singles
from bdl.compiled import compiled
from bdl.decoding.candidates import steps
from bdl.decoding.incremental import Arrays, BinClock
from bdl.decoding.incremental_rows import DecoderRows, FinalRows, grown
from bdl.decoding.mass_search import (
    UNIT,
    SearchState,
    doubled_windows,
    per_sample,
    take_bin,
    update,
)

if TYPE_CHECKING:
    from bdl.decoding.forward_mass import ForwardMass

ROOM = 4096  # bins that are added at a time
NEVER = 1 << 40  # bins before the first
SOME = 64  # detections for which there is room at first
START, SCORE, BLOCKED, RESIDUAL = range(4)  # rows of the state of bins


class MassRows(DecoderRows):
    """Detections of a complete `ForwardMass` as they become final, for many recordings."""

    def __init__(self, decoder: ForwardMass, clock: BinClock, types: tuple[str, ...]) -> None:
        tolerances = decoder.known_tolerances()
        assert decoder.look_ahead is not None  # set where tolerances are known
        self.decoder, self.clock, self.types = decoder, clock, types
        self.windows = doubled_windows(clock.period, tolerances)
        self.widths: Longs = (self.windows // 2 + clock.stride) // clock.stride + 1
        self.ahead = max(steps(decoder.look_ahead, clock.period * clock.stride), 0)
        self.distance = steps(decoder.separation, clock.period)
        count, widest = len(self.windows), int(self.widths.max())
        self.least = max(1, math.ceil(decoder.threshold / decoder.unit * UNIT * count))
        self.reach = max(2 * (widest + 1), self.distance // clock.stride + 1)
        self.keep = 2 * self.ahead + 2 * widest + 4  # bins before the newest that still matter
        # Bins in total, the next bin to visit, the last bin in time that was taken, bins kept.
        self.numbers = np.zeros((0, len(types), 4), np.int64)
        # Of each kept bin the quantities of `SearchState`: start, score, blocked, and for each
        # tolerance residual and inside.
        self.bins = np.zeros((0, len(types), RESIDUAL + 2 * count, self.keep), np.int64)

    def grow(self, rows: int) -> None:
        self.numbers, self.bins = grown(self.numbers, rows), grown(self.bins, rows)

    def clear(self, row: int) -> None:
        self.numbers[row] = (0, 0, -NEVER, 0)

    def finish(self, row: int, values: Singles, samples: int) -> FinalRows:
        parts, rows = [], np.array([row])
        for first in range(0, max(len(values), 1), ROOM):
            part = values[first : first + ROOM]
            last = samples if first + ROOM >= len(values) else None
            parts.append(self.push(rows, np.array([len(part)]), part, last))
        return FinalRows(*map(np.concatenate, zip(*parts, strict=True)))

    def push(
        self, rows: Longs, counts: Longs, values: Singles, samples: int | None = None
    ) -> FinalRows:
        stride = self.clock.stride
        length = len(values) * stride
        if samples is not None:
            length -= (int(self.numbers[rows[0], 0, 0]) + len(values)) * stride - samples
        masses = per_sample(values / self.decoder.unit, self.windows, stride=stride, samples=length)
        place, column, bins, scores, known = _advance_rows(
            rows, counts, masses, self.numbers, self.bins, self.windows, self.widths, stride,
            length, self.ahead, self.reach, self.distance, self.least, samples is not None,
        )  # fmt: skip
        score = scores / (UNIT * len(self.windows)) * self.decoder.unit
        return FinalRows(place, column, self.clock.centres(bins, samples), score, known)

    def _kept(self, row: int, column: int) -> dict[str, Longs]:
        """The state of the kept bins of a row and output, by name."""
        bins = self.bins[row, column, :, : self.numbers[row, column, 3]]
        inside = RESIDUAL + len(self.windows)
        return {
            "start": bins[START],
            "residual": bins[RESIDUAL:inside],
            "inside": bins[inside:],
            "score": bins[SCORE],
            "blocked": bins[BLOCKED],
        }

    def save(self, row: int) -> Arrays:
        arrays: Arrays = {}
        for column in range(len(self.types)):
            arrays[f"{column}.numbers"] = self.numbers[row, column].copy()
            kept = self._kept(row, column)
            arrays |= {f"{column}.{name}": array.copy() for name, array in kept.items()}
            arrays[f"{column}.blocked"] = kept["blocked"].astype(np.bool_)
        return arrays

    def restore(self, row: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        for column in range(len(self.types)):
            total, following, _, size = numbers = arrays[f"{column}.numbers"]
            if not 0 <= size <= min(self.keep, total) or not following - total + size >= 0:
                raise ValueError(f"numbers of bins that do not fit each other: {numbers}")
            self.numbers[row, column] = numbers
            for name, kept in self._kept(row, column).items():
                saved = arrays[f"{column}.{name}"]
                if saved.shape != kept.shape:
                    raise ValueError(f"{name}: {kept.shape} expected, got {saved.shape}")
                kept[...] = saved


Taken = tuple[Longs, Longs, Longs, Longs, Longs]  # place among the rows, output, bin, score, known


@compiled
def _advance_rows(
    rows: Longs,
    counts: Longs,
    masses: Longs,
    numbers: Longs,
    kept: Longs,
    windows: Longs,
    widths: Longs,
    stride: int,
    samples: int,
    ahead: int,
    reach: int,
    distance: int,
    least: int,
    last: bool,
) -> Taken:
    """Add the next bins of each row, whose state is changed in place; what was taken.

    ``samples`` is the length of a single row's new bins, of which the last may be partial.
    """
    keep = kept.shape[3]
    most = keep + counts.max()
    bins, prefix = np.empty((kept.shape[2], most), np.int64), np.empty(most + 1, np.int64)
    taken = np.empty((5, SOME), np.int64)
    count = first = 0
    for place in range(len(rows)):
        row, new = rows[place], counts[place]
        if new == 0 and not last:
            continue
        for column in range(masses.shape[1]):
            state = numbers[row, column]
            size = state[3]
            base, total = state[0] - size, size + new
            bins[:, :size] = kept[row, column, :, :size]
            bins[:, size:total] = 0
            bins[START, size:total] = masses[first : first + new, column]
            for k in range(len(windows)):
                bins[RESIDUAL + k, size:total] = masses[first : first + new, column]
            end = size * stride + (samples if len(rows) == 1 else new * stride)
            before = count
            stage, latest, count, taken = _advance(
                windows, widths, stride, end, bins[:, :total], prefix, size, state[1] - base,
                state[2] - base, ahead, reach, distance, least, last, taken, count,
            )  # fmt: skip
            taken[0, before:count], taken[1, before:count] = place, column
            taken[2, before:count] += base
            taken[4, before:count] += base
            drop = max(total - keep, 0)
            left = total - drop
            state[:] = (state[0] + new, base + stage, base + latest, left)
            kept[row, column, :, :left] = bins[:, drop:total]
        first += new
    return (
        taken[0, :count], taken[1, :count], taken[2, :count], taken[3, :count], taken[4, :count],
    )  # fmt: skip


@compiled
def _advance(
    windows: Longs,
    widths: Longs,
    stride: int,
    samples: int,
    bins: Longs,
    prefix: Longs,
    position: int,
    stage: int,
    latest: int,
    ahead: int,
    reach: int,
    distance: int,
    least: int,
    last: bool,
    taken: Longs,
    count: int,
) -> tuple[int, int, int, Longs]:
    """Add the bins from ``position`` on, and visit those from ``stage`` on that are due.

    ``latest`` is the last bin in time that was taken. ``taken`` has ``count`` detections already.
    Returns the next bin to visit, the last that was taken, and the detections.
    """
    start, score, blocked = bins[START], bins[SCORE], bins[BLOCKED]
    inside = RESIDUAL + len(windows)
    total, widest, first = len(start), widths.max(), position
    while True:
        # Bins 0 to position - 1 are known; their scores are complete up to ``complete``.
        at_end = last and position == total
        complete = total - 1 if at_end else position - 1 - widest
        end = min(position * stride, samples)
        state = SearchState(
            windows, widths, stride, end, start[:position], bins[RESIDUAL:inside, :position],
            bins[inside:, :position], score[:position], prefix, blocked[:position], prefix,
        )  # fmt: skip
        if position > first:
            for k in range(len(windows)):
                update(state, k, position - 1, position - 1)
        while stage + ahead <= complete or (at_end and stage < total):
            low, high = max(stage - ahead, 0), min(stage + ahead, complete)
            again = True
            while again:
                again = False
                for c in range(low, stage + 1):
                    if score[c] < least or blocked[c]:
                        continue
                    if not _is_best(score, start, blocked, c, reach, low, high):
                        continue
                    if count == taken.shape[1]:
                        more = np.empty((5, 2 * count), np.int64)
                        more[:, :count] = taken
                        taken = more
                    taken[2, count], taken[3, count], taken[4, count] = c, score[c], position - 1
                    count += 1
                    take_bin(state, c, distance)
                    latest = max(latest, c)
                    again = True
            stage += 1
        if position == total:
            return stage, latest, count, taken
        middle = position * stride + min((position + 1) * stride, samples)
        blocked[position] = middle - (2 * latest + 1) * stride < 2 * distance
        position += 1


@compiled
def _is_best(
    score: Longs,
    start: Longs,
    blocked: Longs,
    c: int,
    reach: int,
    low: int,
    high: int,
) -> bool:
    """Whether no bin within reach of ``c``, from ``low`` to ``high``, is better."""
    for away in range(1, reach + 1):
        for b in (c - away, c + away):
            if b < low or b > high or blocked[b] or score[b] < score[c]:
                continue
            if score[b] > score[c] or start[b] > start[c] or (start[b] == start[c] and b < c):
                return False
    return True
