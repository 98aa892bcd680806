"""Non-wear: windows in which no axis of an accelerometer moves.

The rule of van Hees et al. (2013, PLoS ONE 8(4): e61691), as the package GGIR applies it to raw
accelerometer data: over windows of 60 minutes that begin every 15 minutes, an axis is still if its
standard deviation is below 13 mg and its range below 50 mg. GGIR requires two still axes of three;
here all of them must be still. A device on a table is still, but a person in deep sleep may be,
too: look at the output of `bdl inspect` before such windows are treated as missing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field, PositiveFloat

from bdl.arrays import Flags, Floats
from bdl.compiled import compiled
from bdl.config import Value
from bdl.errors import ConfigError
from bdl.quality.stretches import Spans
from bdl.value_readers import Values

QUARTERS = 4  # windows begin every quarter of a window
_AXIS = re.compile(r"(acc(el(eration|erometer)?)?)?[\W_]*[xyz]([\W_]*axis)?")


class NonWear(Value):
    """Windows in which all axes of an accelerometer are still.

    Parameters
    ----------
    window
        Seconds per window; one begins every quarter of it. The last one may be up to a quarter
        shorter, and one of which less than half is present is not judged.
    deviation
        Standard deviation of a still axis, in the unit of the channels, is below this. The default
        is 13 mg for channels in g.
    range
        Difference between the largest and the smallest value of a still axis, in the same unit, is
        below this.
    channels
        Axes of the accelerometer; by default channels with names such as x, acc_y or Z-axis.

    Examples
    --------
    >>> NonWear().axes(("acc_x", "acc_y", "acc_z", "gyro_x"))
    (0, 1, 2)
    """

    window: Annotated[float, Field(gt=0, le=1e10)] = 3600.0
    deviation: PositiveFloat = 0.013
    range: PositiveFloat = 0.05
    channels: Annotated[tuple[str, ...], Field(min_length=1)] | None = None

    def axes(self, channels: Sequence[str]) -> tuple[int, ...]:
        """Return the indices of the axes among the channels of a recording.

        Raises
        ------
        ConfigError
            If there are none.
        """
        if self.channels is None:
            places = [i for i, name in enumerate(channels) if _AXIS.fullmatch(name.lower())]
        else:
            places = [channels.index(name) for name in self.channels if name in channels]
        if not places or len(places) < len(self.channels or ()):
            expected = "an axis of an accelerometer" if self.channels is None else self.channels
            raise ConfigError(
                f"non_wear: channels: {expected} expected, got {', '.join(channels)}; name the "
                "axes, such as '{non_wear: {channels: [x, y, z]}}' (--quality)"
            )
        return tuple(places)


class StillWindows:
    """Windows in which all axes are still; samples are passed in chunks.

    Parameters
    ----------
    rule
        Condition for a still axis.
    axes
        Number of axes.
    period
        Seconds per sample.

    Examples
    --------
    >>> still = StillWindows(NonWear(window=4.0), axes=1, period=1.0)
    >>> still.add(np.array([0, 1, 0, 0, 0, 0, 0, 1], np.float32)[:, None])
    >>> still.stretches().tolist()
    [[2, 7]]
    """

    def __init__(self, rule: NonWear, axes: int, period: float) -> None:
        self._rule = rule
        self._quarter = max(1, round(rule.window / period / QUARTERS))
        self._open = np.zeros((axes, 6))  # count, first value, sums of deviations, extremes
        self._blocks: list[Floats] = []
        self._row = 0

    def add(self, values: Values) -> None:
        """Add the next samples (rows, axes)."""
        out = np.empty((len(values) // self._quarter + 1, *self._open.shape))
        count = _add(values, self._row, self._quarter, self._open, out)
        self._blocks.append(out[:count].copy())
        self._row += len(values)

    def stretches(self) -> Spans:
        """Return the stretches that still windows cover, after all samples."""
        last = [self._open[None]] if self._row % self._quarter else []
        blocks = np.concatenate([np.zeros((0, *self._open.shape)), *self._blocks, *last])
        windows = len(blocks) - QUARTERS + 1
        if windows < 1:
            return np.zeros((0, 2), np.int64)
        parts = [blocks[first : first + windows] for first in range(QUARTERS)]
        still = self._are_still(np.stack(parts))
        firsts = np.flatnonzero(still) * self._quarter
        stops = np.minimum(firsts + QUARTERS * self._quarter, self._row)
        new = np.concatenate([[True], firsts[1:] > stops[:-1]])[: len(firsts)]
        ends = np.append(np.flatnonzero(new)[1:] - 1, len(stops) - 1)[: new.sum()]
        return np.stack([firsts[new], stops[ends]], axis=1)

    def _are_still(self, parts: Floats) -> Flags:
        """Whether each window is still, from the statistics (quarters, windows, axes, 6)."""
        count, origin, total, squares = (parts[..., i] for i in range(4))
        low = np.where(count > 0, parts[..., 4], np.inf).min(axis=0)
        high = np.where(count > 0, parts[..., 5], -np.inf).max(axis=0)
        present = count.sum(axis=0)
        mean = origin + total / np.maximum(count, 1)
        centre = (mean * count).sum(axis=0) / np.maximum(present, 1)
        inside = squares - total**2 / np.maximum(count, 1)
        spread = (inside + count * (mean - centre) ** 2).sum(axis=0) / np.maximum(present, 1)
        judged = 2 * present >= QUARTERS * self._quarter
        still = (spread < self._rule.deviation**2) & (high - low < self._rule.range)
        return np.asarray((judged & still).all(axis=1))


@compiled(small_in_python=True)
def _add(
    values: Values,
    first: int,
    quarter: int,
    state: Floats,
    out: Floats,
) -> int:
    """Add rows to the statistics of a quarter; write those that are complete, return how many."""
    complete = 0
    for i in range(values.shape[0]):
        for c in range(values.shape[1]):
            x = np.float64(values[i, c])
            if x != x:
                continue
            if state[c, 0] == 0:
                state[c, 1] = state[c, 4] = state[c, 5] = x
            deviation = x - state[c, 1]
            state[c, 0] += 1
            state[c, 2] += deviation
            state[c, 3] += deviation * deviation
            state[c, 4] = min(state[c, 4], x)
            state[c, 5] = max(state[c, 5], x)
        if (first + i + 1) % quarter == 0:
            out[complete] = state
            state[:] = 0
            complete += 1
    return complete
