"""Gaussian smoothing of a density, on its bins or on the raw samples they stand for.

On the sample clock the paper repeats the value of every bin over the bin's samples and applies
``scipy.ndimage.gaussian_filter1d`` (kernel cut at 4 sigma, ends mirrored) to that raw timeline.
Here each of the ``stride`` places within a bin has its own short filter on the bins (a polyphase
filter): the same numbers to a few units in the last place, for about ``stride`` times less work.
Three details keep local maxima, which depend on the last place, where they are:

- Every output is ``x + sum of weight * (neighbour - x)``, so that a constant stays that constant.
- Places that mirror each other within a bin have exactly mirrored weights, so that a symmetric
  peak stays flat at its top.
- Where the last bin is partial, the mirrored end of the recording is not aligned with the bins:
  the last samples are computed one by one.

The trailing kernel is the half of the Gaussian that looks back, scaled to unit sum; the first value
is repeated before the start. No later sample enters a smoothed value.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np

from bdl.arrays import Floats
from bdl.compiled import compiled

Side = Literal["centred", "trailing"]

TRUNCATE = 4.0
BLOCK = 256  # bins that are smoothed at once: few enough that they stay in the cache


def gaussian(sigma: float, side: Side = "centred") -> Floats:
    """Unit-sum Gaussian weights at the distances 0, 1, ... up to 4 sigma, rounded.

    ``centred``: all weights but the first count twice; ``trailing``: once.
    """
    distances = np.arange(int(TRUNCATE * sigma + 0.5) + 1)
    half: Floats = np.exp(-0.5 / (sigma * sigma) * distances**2) if sigma > 0 else np.ones(1)
    total = half.sum() if side == "trailing" else half.sum() + half[1:].sum()
    weights: Floats = half / total
    return weights


class PolyphaseFilter(NamedTuple):
    """A filter and the bins it is applied to.

    Parameters
    ----------
    padded : (bins + 2 reach + 2,) array
        The bins with ``reach + 1`` more on each side.
    weights : (stride, 2 reach + 1) array
        ``weights[p, reach + j]`` is the weight of bin ``b + j`` at place ``p`` of bin ``b``.
    end : (n,) array
        Smoothed values of the last ``n`` samples, where the filter does not give them.
    """

    padded: Floats
    weights: Floats
    end: Floats

    @property
    def reach(self) -> int:
        """How many bins away the furthest neighbour is."""
        return int(self.weights.shape[1] // 2)

    def buffers(self, bins: int) -> tuple[Floats, Floats]:
        """Memory in which `smooth_block` smooths this many bins."""
        stride, width = self.weights.shape
        return np.empty((width, bins)), np.empty((stride, bins))


def polyphase_filter(
    values: Floats, sigma: float, *, stride: int, samples: int, side: Side
) -> PolyphaseFilter:
    """The filter of `smooth`, for at least one bin and sigma above 0."""
    half = gaussian(sigma, side)
    weights = _phases(half, stride, side)
    padded = _pad(values, weights.shape[1] // 2 + 1, side)
    end = np.empty(0)
    if side == "centred" and samples % stride:
        first = max(0, (samples - len(half)) // stride * stride)
        end = _mirrored_end(np.ascontiguousarray(values), half, stride, first, samples)
    return PolyphaseFilter(padded, weights, end)


def smooth(
    values: Floats, sigma: float, *, stride: int, samples: int, side: Side = "centred"
) -> Floats:
    """Smooth bins on the clock of their samples, (samples,); ``sigma`` is in samples.

    At stride 1 the bins themselves are smoothed; ``trailing`` never looks ahead.
    """
    if len(values) == 0 or sigma <= 0:
        return np.repeat(values, stride)[:samples]
    filter = polyphase_filter(values, sigma, stride=stride, samples=samples, side=side)
    rise, rows = filter.buffers(BLOCK)
    smoothed = np.empty((len(values), stride))
    for begin in range(0, len(values), BLOCK):
        count = min(BLOCK, len(values) - begin)
        smooth_block(filter.padded, filter.weights, begin + 1, count, rise, rows)
        smoothed[begin : begin + count] = rows[:, :count].T
    timeline = smoothed.reshape(-1)[:samples]
    timeline[samples - len(filter.end) :] = filter.end
    return timeline


def _pad(values: Floats, width: int, side: Side) -> Floats:
    """The values with this many more on each side: mirrored, or before the start the first one."""
    if side == "trailing":
        return np.pad(values, width, mode="edge")
    if width > len(values):
        return np.pad(values, width, mode="symmetric")
    # The same, but several times faster.
    return np.concatenate((values[:width][::-1], values, values[-width:][::-1]))


def _phases(half: Floats, stride: int, side: Side) -> Floats:
    """Weight of each bin in the value at each place of a bin: (stride, 2 reach + 1)."""
    radius = len(half) - 1
    offsets = np.arange(-radius, radius + 1 if side == "centred" else 1)
    reach = (radius + stride - 1) // stride
    weights = np.zeros((stride, 2 * reach + 1))
    for place in range(stride):
        np.add.at(weights[place], (place + offsets) // stride + reach, half[np.abs(offsets)])
    if side == "centred":
        for place in range((stride + 1) // 2):
            mirror = weights[place, ::-1]
            if place == stride - 1 - place:
                weights[place, :reach] = mirror[:reach]
            else:
                weights[stride - 1 - place] = mirror
    return weights


def trailing_weights(sigma: float, stride: int) -> Floats:
    """Weights of the bins up to each place of a bin, (stride, reach + 1), the bin itself last.

    ``sigma`` is in places; 0 smooths nothing.
    """
    weights = _phases(gaussian(sigma, "trailing"), stride, "trailing")
    return np.ascontiguousarray(weights[:, : weights.shape[1] // 2 + 1])


@compiled
def smooth_block(
    padded: Floats, weights: Floats, begin: int, count: int, rise: Floats, rows: Floats
) -> None:
    """Smoothed values of ``count`` bins, the first of them bin ``begin - 1``.

    The arrays are those of `PolyphaseFilter`. The result is in ``rows``, one row per place within
    a bin, so that the inner loops go along memory.
    """
    reach = weights.shape[1] // 2
    here = padded[begin + reach : begin + reach + count]
    for j in range(2 * reach + 1):
        differences, neighbours = rise[j], padded[begin + j : begin + j + count]
        for i in range(count):
            differences[i] = neighbours[i] - here[i]
    for place in range(len(weights)):
        row = rows[place]
        for i in range(count):
            row[i] = here[i]
        for j in range(1, reach + 1):
            after, before = weights[place, reach + j], weights[place, reach - j]
            up, down = rise[reach + j], rise[reach - j]
            for i in range(count):
                row[i] += after * up[i] + before * down[i]


@compiled
def _mirrored_end(values: Floats, half: Floats, stride: int, first: int, samples: int) -> Floats:
    """Smoothed values of the samples from ``first`` on, one by one, both ends mirrored."""
    smoothed = np.empty(samples - first)
    for s in range(first, samples):
        here = values[s // stride]
        total = here
        for k in range(1, len(half)):
            after, before = (s + k) % (2 * samples), (s - k) % (2 * samples)
            if after >= samples:
                after = 2 * samples - 1 - after
            if before >= samples:
                before = 2 * samples - 1 - before
            rise = (values[after // stride] - here) + (values[before // stride] - here)
            total += half[k] * rise
        smoothed[s - first] = total
    return smoothed
