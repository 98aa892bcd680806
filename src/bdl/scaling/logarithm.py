"""The logarithm of channels whose values have a heavy tail.

A channel with a *unit* above 0 is replaced by ``log(1 + x / unit)`` before it is binned and scaled;
values below 0 count as 0, and missing ones stay missing. A unit of 0 leaves a channel as it is.
Quantiles pass through the logarithm, because it is monotone.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from pydantic import Field

from bdl.arrays import Floats, Singles
from bdl.compiled import compiled
from bdl.errors import InputError
from bdl.recording import Recordings
from bdl.scaling.quartiles import quantiles

#: Unit of each channel; None for no logarithm of any.
Units = tuple[Annotated[float, Field(ge=0)], ...] | None

# A tail is heavy if the distance from the upper quartile to the 99th percentile is more than this
# many interquartile ranges: 1.2 for normal, 2.9 for exponential, 5.7 for log-normal variables.
HEAVY = 5.0


def heavy_tailed_units(recordings: Recordings) -> Floats:
    """Return the unit of each channel that has a heavy tail, and 0 for the others.

    A channel has one if no sample is negative, the 99th percentile is more than five interquartile
    ranges above the upper quartile, and the logarithm at least halves this number. Its unit is the
    median, or the upper quartile if the median is 0.

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> normal = np.random.default_rng(0).normal(size=(1000, 1))
    >>> values = np.concatenate([normal, np.exp(2 * normal)], axis=1)
    >>> heavy_tailed_units(Recordings.of([Recording.of(values, id="a", period=1.0)])).round(1)
    array([0. , 0.9])
    """
    minimum, low, median, high, extreme = quantiles(recordings, (0.0, 0.25, 0.5, 0.75, 0.99)).T
    unit = np.where(median > 0, median, high)
    usable = (minimum >= 0) & (high > low)
    safe = np.where(usable, unit, 1.0)
    raw = _tail(low, high, extreme)
    log_low, log_high, log_extreme = (
        np.log1p(np.where(usable, quantile, 0.0) / safe) for quantile in (low, high, extreme)
    )
    halved = _tail(log_low, log_high, log_extreme) <= raw / 2
    return np.where(usable & (raw > HEAVY) & halved, unit, 0.0)


def _tail(low: Floats, high: Floats, extreme: Floats) -> Floats:
    spread = high - low
    return (extreme - high) / np.where(spread > 0, spread, 1.0)


def unit_array(unit: Sequence[float] | None, channels: int) -> Floats:
    """Return units as an array, zeros for None.

    >>> unit_array(None, 2)
    array([0., 0.])
    """
    if unit is None:
        return np.zeros(channels)
    if len(unit) != channels:
        raise InputError(f"a scaling learned on {len(unit)} channels cannot be used on {channels}")
    return np.array(unit, dtype=np.float64)


def log_quantiles(values: Floats, unit: Floats) -> Floats:
    """Return quantiles (channels, n) of the channels after their logarithm.

    >>> log_quantiles(np.array([[0.0, 2.0], [0.0, 2.0]]), np.array([0.0, 2.0])).round(2).tolist()
    [[0.0, 2.0], [0.0, 0.69]]
    """
    logs = np.log1p(np.maximum(values, 0) / np.where(unit > 0, unit, 1.0)[:, None])
    return np.where(unit[:, None] > 0, logs, values)


@compiled
def take_logarithms(values: Singles, unit: Floats) -> None:
    """Replace samples (samples, channels) in place by their logarithm."""
    for row in range(values.shape[0]):
        for c in range(values.shape[1]):
            x = np.float64(values[row, c])
            if unit[c] > 0 and x == x:
                values[row, c] = np.log1p(max(x, 0.0) / unit[c])
