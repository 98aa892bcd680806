"""Scaling of each recording by its own median and interquartile range."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from bdl.arrays import Floats
from bdl.recording import Recording, Recordings
from bdl.scaling.logarithm import Units, unit_array
from bdl.scaling.robust import logs, median_and_spread
from bdl.scaling.scaling import Affine, Scaling


class PerRecording(Scaling):
    """Each recording is scaled by the median and the interquartile range of its own samples.

    For channels whose level or gain differs between recordings, such as ECG of different
    electrodes. It needs the whole recording, so that it cannot be used on a stream.

    Parameters
    ----------
    unit
        One number per channel: above 0, the logarithm ``log(1 + x / unit)`` is taken first. None
        for no logarithm.

    Examples
    --------
    >>> loud = Recording.of(np.array([0.0, 100.0, 200.0, 300.0, 400.0]), id="a", period=1.0)
    >>> PerRecording().affine(loud)
    (array([200.]), array([200.]))
    """

    kind: Literal["per-recording"] = "per-recording"
    unit: Units = None

    def describe(self, channels: Sequence[str]) -> str:
        return f"each recording by its own median and interquartile range{logs(self, channels)}"

    @property
    def needs_whole(self) -> bool:
        return True

    def units(self, channels: int) -> Floats:
        return unit_array(self.unit, channels)

    def affine(self, recording: Recording) -> Affine:
        """Return the recording's own medians and interquartile ranges.

        A channel without any sample is left as it is.
        """
        values = np.asarray(recording.values)
        channels = values.shape[1]
        present = np.flatnonzero([not np.isnan(values[:, c]).all() for c in range(channels)])
        shift, scale = np.zeros(channels), np.ones(channels)
        if len(present):
            part = Recording.of(values[:, present], id=recording.id, period=recording.info.period)
            shift[present], scale[present] = median_and_spread(
                Recordings.of([part]), self.units(channels)[present].tolist()
            )
        return shift, scale
