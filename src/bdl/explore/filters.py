"""Filters for display only: high-pass, low-pass and notch, without a shift in time.

Filters are applied to samples, so they are available only for tiles whose entries stand for few
samples; coarser tiles are shown unfiltered.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import numpy as np
from pydantic import Field

from bdl.arrays import Floats, Singles
from bdl.config import Value
from bdl.errors import ConfigError
from bdl.explore.pyramid import STEP, TILE, Pyramid, extremes

HIGHEST_LEVEL = 2  # of the tiles that can be filtered: 16 samples per entry

Hertz = Annotated[float, Field(gt=0)]


class DisplayFilter(Value):
    """Cutoffs of the filters in hertz; None leaves a filter out.

    Examples
    --------
    >>> DisplayFilter(high_pass=0.5).check(0.01)
    >>> DisplayFilter(low_pass=60.0).check(0.01)
    Traceback (most recent call last):
    bdl.errors.ConfigError: low-pass: below half the sampling rate of 100 Hz expected, got 60 Hz
    """

    high_pass: Hertz | None = None
    low_pass: Hertz | None = None
    notch: Hertz | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is filtered."""
        return self == DisplayFilter()

    def check(self, period: float) -> None:
        """Raise an error if a cutoff is not below half the sampling rate."""
        for name, cutoff in self:
            if cutoff is not None and cutoff >= 0.5 / period:
                raise ConfigError(
                    f"{name.replace('_', '-')}: below half the sampling rate of {1 / period:g} Hz "
                    f"expected, got {cutoff:g} Hz"
                )

    def apply(self, values: Singles, period: float) -> Singles:
        """Filter samples (samples, channels) forwards and backwards; missing ones stay missing."""
        from scipy import signal

        self.check(period)
        rate = 1 / period
        missing = ~np.isfinite(values)
        filled = np.where(missing, 0.0, values - _mean(values)).astype(np.float64)
        if len(filled) < 32:
            return values
        sections: list[Any] = []
        if self.high_pass is not None:
            sections.append(signal.butter(2, self.high_pass, "highpass", fs=rate, output="sos"))
        if self.low_pass is not None:
            sections.append(signal.butter(2, self.low_pass, "lowpass", fs=rate, output="sos"))
        if self.notch is not None:
            sections.append(signal.tf2sos(*signal.iirnotch(self.notch, 30.0, fs=rate)))
        if sections:
            joined = np.concatenate(sections)
            edge = min(len(filled) - 1, 3 * (2 * len(joined) + 1))
            filled = signal.sosfiltfilt(joined, filled, axis=0, padlen=edge)
        if self.high_pass is None:
            filled = filled + _mean(values)
        filled[missing] = np.nan
        return filled.astype(np.float32)

    @property
    def _settling(self) -> float:
        """Seconds before and after a tile that noticeably influence its filtered values."""
        slowest = [cutoff for cutoff in (self.high_pass, self.low_pass) if cutoff is not None]
        notch = [] if self.notch is None else [self.notch / 30.0]
        return min(2.0 / min(slowest + notch, default=1.0), 60.0)

    def tile(
        self, pyramid: Pyramid, period: float, level: int, index: int, channels: Sequence[int]
    ) -> Singles:
        """A filtered tile of a level up to `HIGHEST_LEVEL`, shaped as `Pyramid.tile` gives it."""
        if level > HIGHEST_LEVEL:
            raise ConfigError(f"tiles of level {level} are not filtered")
        plain = pyramid.tile(level, index, channels)  # checks level and index
        scale = STEP**level
        first = index * TILE * scale
        last = min(first + TILE * scale, len(pyramid.values))
        margin = int(self._settling / period) + 1
        begin, end = max(0, first - margin), min(len(pyramid.values), last + margin)
        filtered = self.apply(np.asarray(pyramid.values[begin:end, [*channels]]), period)
        inside = filtered[first - begin : last - begin]
        if level == 0:
            return np.ascontiguousarray(inside.T)
        reduced = extremes(inside, inside, scale)
        tile = np.ascontiguousarray(np.moveaxis(reduced, (0, 1, 2), (1, 2, 0)))
        assert tile.shape == plain.shape
        return tile


def _mean(values: Singles) -> Floats:
    """Mean of each channel without missing samples; 0 where there is none."""
    present = np.isfinite(values)
    sums = np.where(present, values, 0.0).sum(axis=0, dtype=np.float64)
    mean: Floats = sums / np.maximum(present.sum(axis=0), 1)
    return mean
