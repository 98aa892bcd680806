"""Gaussian smoothing of a density, on its bins or on the raw samples they stand for.

On the sample clock the paper repeats every bin's value over the bin's samples and runs
``scipy.ndimage.gaussian_filter1d`` (kernel cut at 4 sigma, the ends mirrored) over that raw
timeline. Here every one of the ``stride`` places within a bin has its own short filter on the bins
(a polyphase filter): the same numbers to a few units in the last place, for about ``stride`` times
less work. Three details keep local maxima, which care about the last place, where they belong:

- every output is ``x + sum of weight * (neighbour - x)``, so that a constant stays that constant;
- places that mirror each other within a bin have exactly mirrored weights, so that a peak that is
  symmetric stays flat on top;
- the mirrored end of a recording whose last bin is partial does not fall on the bins: those last
  samples are computed one by one.

The trailing kernel is the half of the Gaussian that looks back, scaled to unit sum; what stands
before the start is the first value. Nothing after a sample enters its smoothed value.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Side = Literal["centred", "trailing"]

TRUNCATE = 4.0
BLOCK = 256


def gaussian(sigma: float, side: Side = "centred") -> Floats:
    """Unit-sum Gaussian weights at whole distances 0, 1, ... up to 4 sigma, rounded.

    Parameters
    ----------
    sigma : standard deviation, in samples or bins.
    side : ``centred`` weights count twice but for the first; ``trailing`` ones once.

    >>> gaussian(0.5).round(3).tolist()
    [0.787, 0.106, 0.0]
    >>> float(gaussian(3.0, "trailing").sum().round(12))
    1.0
    """
    reach = np.arange(int(TRUNCATE * sigma + 0.5) + 1)
    half: Floats = np.exp(-0.5 / (sigma * sigma) * reach**2) if sigma > 0 else np.ones(1)
    total = half.sum() if side == "trailing" else half.sum() + half[1:].sum()
    weights: Floats = half / total
    return weights


def smooth(
    values: Floats, sigma: float, *, stride: int, samples: int, side: Side = "centred"
) -> Floats:
    """Smooth bins on the clock of their samples.

    Parameters
    ----------
    values : (bins,) one value a bin.
    sigma : standard deviation in samples; 0 only repeats the bins.
    stride, samples : samples a bin and in all; stride 1 smooths the bins themselves.

    Returns
    -------
    (samples,) smoothed values.

    >>> smooth(np.array([0.0, 1.0, 0.0]), 1.0, stride=2, samples=6).round(2).tolist()
    [0.06, 0.3, 0.64, 0.64, 0.3, 0.06]
    """
    if len(values) == 0 or sigma <= 0:
        return np.repeat(values, stride)[:samples]
    half = gaussian(sigma, side)
    weights, reach = phases(half, stride, side)
    mode = "symmetric" if side == "centred" else "edge"
    padded = np.pad(values, reach, mode=mode)  # type: ignore[call-overload]
    out: Floats = _polyphase(padded, weights, reach)[:samples]
    if side == "centred" and samples % stride:
        first = max(0, (samples - len(half)) // stride * stride)
        out[first:] = mirrored_end(np.ascontiguousarray(values), half, stride, first, samples)
    return out


def phases(half: Floats, stride: int, side: Side) -> tuple[Floats, int]:
    """Weight of bin ``b + j`` in the value at place ``p`` of bin ``b``: (stride, 2 reach + 1)."""
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
    return weights, reach


@njit(cache=True)
def _polyphase(padded: Floats, weights: Floats, reach: int) -> Floats:
    stride = len(weights)
    bins = len(padded) - 2 * reach
    out = np.empty(bins * stride)
    rise = np.empty((2 * reach + 1, BLOCK))
    sums = np.empty(BLOCK)
    for begin in range(0, bins, BLOCK):
        count = min(BLOCK, bins - begin)
        here = padded[begin + reach : begin + reach + count]
        for j in range(2 * reach + 1):
            steps, there = rise[j], padded[begin + j : begin + j + count]
            for i in range(count):
                steps[i] = there[i] - here[i]
        for place in range(stride):
            for i in range(count):
                sums[i] = here[i]
            for j in range(1, reach + 1):
                after, before = weights[place, reach + j], weights[place, reach - j]
                up, down = rise[reach + j], rise[reach - j]
                for i in range(count):
                    sums[i] += after * up[i] + before * down[i]
            for i in range(count):
                out[(begin + i) * stride + place] = sums[i]
    return out


@njit(cache=True)
def mirrored_end(values: Floats, half: Floats, stride: int, first: int, samples: int) -> Floats:
    """Smoothed values of the samples from ``first`` on, one by one, both ends mirrored."""
    out = np.empty(samples - first)
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
        out[s - first] = total
    return out
