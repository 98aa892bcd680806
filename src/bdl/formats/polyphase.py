"""Recordings on another clock, by polyphase filtering.

scipy's ``resample_poly`` removes frequencies that the new rate cannot represent, so that nothing is
aliased. The time of sample 0 does not change. Missing samples are interpolated linearly before the
filter; a new sample is missing where the nearest old one is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from bdl.errors import ConfigError, require
from bdl.recording import RecordingInfo, Recordings
from bdl.sampling import nearest_sample
from bdl.value_readers import Values, WholeReader

_LENGTH = 24  # samples of the slower clock on each side that a new sample depends on
_TERMS = 2000  # the ratio of two rates as a fraction has no larger numerator or denominator


def on_one_clock(recordings: Recordings, rate: float) -> Recordings:
    """The same recordings, resampled to one rate in samples per second.

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> slow = Recordings.of([Recording.of(np.full(100, 7.0), id="a", period=0.01)])
    >>> on_one_clock(slow, 40.0)["a"]
    Recording 'a': 40 samples x 1 channel (channel_0), every 0.025 s, 0.00 h
    """
    if not (np.isfinite(rate) and rate > 0):
        raise ConfigError(f"--rate: a positive number of samples per second expected, got {rate}")
    infos = []
    changed: Counter[str] = Counter()
    for info in recordings.infos:
        ratio = _ratio(info, rate)
        if ratio != 1:
            changed[f"{1 / info.period:g}"] += 1
            info = replace(
                info,
                samples=math.ceil(info.samples * ratio),
                period=1 / rate,
                offset_changes=tuple(
                    (math.ceil(sample * ratio), east) for sample, east in info.offset_changes
                ),
            )
        infos.append(info)
    notes = tuple(
        f"{count:,} recordings resampled from {old} Hz to {rate:g} Hz"
        for old, count in changed.items()
    )
    reader = PolyphaseReader(recordings, rate)
    return replace(recordings, infos=tuple(infos), reader=reader, notes=recordings.notes + notes)


def _ratio(info: RecordingInfo, rate: float) -> Fraction:
    exact = Fraction(rate * info.period)
    ratio = exact.limit_denominator(_TERMS)
    if ratio == 0 or abs(ratio / exact - 1) * info.samples > Fraction(1, 4):
        raise ConfigError(
            f"recording {info.id!r}: {1 / info.period:g} Hz and {rate:g} Hz are in no ratio of "
            f"whole numbers up to {_TERMS}; bdl prepare --rate changes recordings to another rate"
        )
    return ratio


@dataclass(frozen=True)
class PolyphaseReader(WholeReader):
    """Values of other recordings on another clock; a recording is filtered whole."""

    source: Recordings = field(repr=False)
    rate: float

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        return self.source.files(info.id)

    def only(self, ids: Collection[str]) -> PolyphaseReader:
        return PolyphaseReader(self.source.select(ids), self.rate)

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        """Slices of the whole, or the source's chunks where nothing changes."""
        if _ratio(self.source.info(info.id), self.rate) == 1:
            return self.source.chunks(info.id)
        return super().chunks(info)

    def read(self, info: RecordingInfo) -> Values:
        old, values = self.source.info(info.id), self.source[info.id].values
        ratio = _ratio(old, self.rate)
        if ratio == 1 or not len(values):
            return values
        scipy = require("scipy.signal", "signal")
        # Flat to 1e-4 up to 80 % of what both clocks can hold; scipy's own filter to 1e-2.
        terms = max(ratio.numerator, ratio.denominator)
        window = scipy.firwin(2 * _LENGTH * terms + 1, 1 / terms, window=("kaiser", 8.0))
        out = np.empty((info.samples, len(info.channels)), np.float32)
        nearest = nearest_sample(np.arange(info.samples) / float(ratio), 1.0)
        nearest = np.minimum(nearest, old.samples - 1)
        for channel in range(len(info.channels)):
            column = values[:, channel].astype(np.float64)
            missing = np.isnan(column)
            if missing.all():
                out[:, channel] = np.nan
                continue
            if missing.any():
                present = np.flatnonzero(~missing)
                column = np.interp(np.arange(len(column)), present, column[present])
            filtered = scipy.resample_poly(
                column,
                ratio.numerator,
                ratio.denominator,
                window=window,
                padtype="line" if len(column) > 1 else "mean",
            )
            out[:, channel] = np.where(missing[nearest], np.nan, filtered)
        return out
