"""Scaling of each recording by its own median and interquartile range."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bdl.recording import Recording, Recordings
from bdl.scaling.robust import median_and_spread
from bdl.scaling.scaling import Affine, Scaling


class PerRecording(Scaling):
    """Each recording is scaled by the median and the interquartile range of its own samples.

    For channels whose level or gain differs between recordings, such as ECG of different
    electrodes. It needs the whole recording, so that it cannot be used on a stream.

    Examples
    --------
    >>> loud = Recording.of(np.array([0.0, 100.0, 200.0, 300.0, 400.0]), id="a", period=1.0)
    >>> PerRecording().affine(loud)
    (array([200.]), array([200.]))
    """

    kind: Literal["per-recording"] = "per-recording"

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
            shift[present], scale[present] = median_and_spread(Recordings.of([part]))
        return shift, scale
