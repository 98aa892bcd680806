"""The choice between one scaling for all recordings and one for each."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bdl.errors import ConfigError
from bdl.recording import Recording, Recordings
from bdl.scaling.logarithm import heavy_tailed_units
from bdl.scaling.per_recording import PerRecording
from bdl.scaling.robust import Robust
from bdl.scaling.scaling import Affine, Scaling

# Standard deviation over recordings of their gain (as a logarithm) or of their level (in
# interquartile ranges) above which recordings are scaled one by one.
DIFFERENT = 0.5


class AutomaticScaling(Scaling):
    """Robust scaling, per recording if levels or gains differ much between training recordings.

    Fitting replaces it by `bdl.scaling.Robust` or `bdl.scaling.PerRecording`. Recordings differ
    much if, in the median channel, the standard deviation over recordings of the logarithm of the
    interquartile range, or of the median in units of the common interquartile range, exceeds 0.5.
    Recordings in which a channel has no samples, or constant ones, do not count for that channel.

    The logarithm of channels with a heavy tail is taken first. A channel has a heavy tail if no
    training sample is negative, the 99th percentile is more than five interquartile ranges above
    the upper quartile, and the logarithm at least halves this number (see `bdl.scaling.logarithm`).

    Parameters
    ----------
    per_recording
        Whether recordings may be scaled one by one. A detector with a lag sets it to false, because
        scaling per recording needs the whole recording.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> def recording(id, gain):
    ...     return Recording.of(gain * rng.normal(size=100), id=id, period=1.0)
    >>> AutomaticScaling().fit(Recordings.of([recording(str(i), 1.0) for i in range(9)])).kind
    'robust'
    >>> AutomaticScaling().fit(Recordings.of([recording(str(i), 2.0**i) for i in range(9)])).kind
    'per-recording'
    """

    kind: Literal["automatic"] = "automatic"
    per_recording: bool = True

    @property
    def needs_whole(self) -> bool:
        return self.per_recording

    def forward(self) -> AutomaticScaling:
        """Return the choice without scaling per recording."""
        return self.replace(per_recording=False)

    def fit(self, recordings: Recordings) -> Scaling:
        """Return the scaling that suits the training recordings."""
        units = heavy_tailed_units(recordings)
        unit = tuple(units.tolist()) if units.any() else None
        common = Robust(unit=unit).fit(recordings)
        if not self.per_recording:
            return common
        assert common.median is not None
        assert common.spread is not None
        own = PerRecording(unit=unit)
        affine = np.array([_affine(own, recording) for recording in recordings])
        level = (affine[:, 0] - common.median) / common.spread
        gain = np.log(affine[:, 1] / common.spread)
        # Over the recordings in which a channel has a signal; 0 for one that has none at all.
        spreads = [np.ma.masked_invalid(each).std(axis=0).filled(0.0) for each in (level, gain)]
        different = float(np.median(np.maximum(*spreads))) > DIFFERENT
        return own if different else common

    def affine(self, recording: Recording) -> Affine:
        """Raise an error: the choice is made by `fit`."""
        raise ConfigError("automatic scaling has not been chosen yet: call fit first")


def _affine(scaling: PerRecording, recording: Recording) -> Affine:
    """Return median and interquartile range of each channel, NaN for one without a signal."""
    shift, scale = scaling.affine(recording)
    values = np.asarray(recording.values)
    silent = ~(np.fmax.reduce(values) > np.fmin.reduce(values))  # True for NaN, too
    return np.where(silent, np.nan, shift), np.where(silent, np.nan, scale)
