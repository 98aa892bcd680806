"""Scaling by median and interquartile range of the training recordings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from pydantic import PositiveFloat, model_validator

from bdl.arrays import Floats
from bdl.errors import ConfigError, InputError
from bdl.recording import Recording, Recordings
from bdl.scaling.logarithm import Units, log_quantiles, unit_array
from bdl.scaling.quartiles import quartiles
from bdl.scaling.scaling import Affine, Scaling


class Robust(Scaling):
    """The median is subtracted, and the result divided by the interquartile range.

    Quartiles are exact, over all samples of all training recordings, and take two passes in memory
    that does not grow with the data.

    Parameters
    ----------
    median, spread
        One number per channel; None to learn both. A channel whose interquartile range is zero
        gets a spread of one.
    unit
        One number per channel: above 0, the logarithm ``log(1 + x / unit)`` is taken first, and
        median and spread are those of the logarithm. None for no logarithm.

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> parts = [Recording.of(np.arange(5.0) + i, id=str(i), period=1.0) for i in (0, 4)]
    >>> Robust().fit(Recordings.of(parts))
    Robust(kind='robust', median=(4.0,), spread=(3.5,), unit=None)
    """

    kind: Literal["robust"] = "robust"
    median: tuple[float, ...] | None = None
    spread: tuple[PositiveFloat, ...] | None = None
    unit: Units = None

    @model_validator(mode="after")
    def _both_or_none(self) -> Self:
        if (self.median is None) != (self.spread is None):
            raise ValueError("median and spread are given together, or neither to learn both")
        return self

    def fit(self, recordings: Recordings) -> Self:
        """Return a copy with the median and interquartile range of each channel, if not given."""
        if self.median is not None:
            return self
        median, spread = median_and_spread(recordings, self.unit)
        return self.replace(median=tuple(median.tolist()), spread=tuple(spread.tolist()))

    def describe(self, channels: Sequence[str]) -> str:
        return f"all recordings by the same median and interquartile range{logs(self, channels)}"

    def units(self, channels: int) -> Floats:
        return unit_array(self.unit, channels)

    def affine(self, recording: Recording) -> Affine:
        """Return medians and interquartile ranges."""
        if self.median is None or self.spread is None:
            raise ConfigError("robust scaling has not learned its median yet: call fit first")
        channels = len(recording.info.channels)
        if not len(self.median) == len(self.spread) == channels:
            raise InputError(
                f"a scaling learned on {len(self.median)} channels cannot be used on {channels}"
            )
        return np.array(self.median, np.float64), np.array(self.spread, np.float64)


def logs(scaling: Scaling, channels: Sequence[str]) -> str:
    """Describe the channels whose logarithm is taken.

    >>> logs(Robust(unit=(0.0, 2.0)), ["x", "y"])
    ', after the logarithm of y'
    """
    units = scaling.units(len(channels))
    names = [name for name, unit in zip(channels, units, strict=True) if unit > 0]
    return f", after the logarithm of {', '.join(names)}" if names else ""


def median_and_spread(recordings: Recordings, unit: Sequence[float] | None = None) -> Affine:
    """Median and interquartile range of each channel; a range of zero counts as one.

    >>> from bdl.recording import Recording
    >>> median_and_spread(Recordings.of([Recording.of(np.arange(5.0), id="a", period=1.0)]))
    (array([2.]), array([2.]))
    """
    values = quartiles(recordings)
    values = log_quantiles(values, unit_array(unit, len(values)))
    spread = values[:, 2] - values[:, 0]
    return values[:, 1], np.where(spread > 0, spread, 1.0)
