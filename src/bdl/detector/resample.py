"""Resampling of a recording to the period that a model was trained on.

New sample ``i`` is at ``i * period``, from the old first sample to the last. For a shorter period
values are interpolated linearly, and are missing where either neighbour is. For a longer period
each is the mean of the old samples within half a new period, and is missing where there are none.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bdl.errors import ConfigError
from bdl.recording import Recording


def resample(recording: Recording, period: float) -> Recording:
    """Return the recording with a sample every ``period`` seconds.

    Parameters
    ----------
    recording
        The recording.
    period
        New seconds per sample.

    Examples
    --------
    >>> slow = Recording.of(np.array([0.0, 2.0, 4.0, 6.0]), id="a", period=1.0)
    >>> resample(slow, 0.5).values[:, 0].tolist()
    [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    >>> resample(slow, 2.0).values[:, 0].tolist()
    [0.0, 3.0]
    """
    if not (np.isfinite(period) and period > 0):
        raise ConfigError(f"period: a positive number of seconds expected, got {period}")
    info = recording.info
    step = period / info.period
    count = int(np.floor((info.samples - 1) / step + 1e-9)) + 1 if info.samples else 0
    position = np.arange(count) * step
    old = np.asarray(recording.values, dtype=np.float64)
    if step <= 1:
        low = np.minimum(np.floor(position + 1e-9).astype(np.int64), max(info.samples - 1, 0))
        high = np.minimum(low + 1, max(info.samples - 1, 0))
        share = np.clip(position - low, 0.0, 1.0)[:, None]
        # A neighbour of weight zero must not make a value missing.
        values = np.where(share > 1e-9, old[low] * (1 - share) + old[high] * share, old[low])
    else:
        begin = np.clip(np.ceil(position - step / 2 - 1e-9).astype(np.int64), 0, info.samples)
        end = np.clip(np.ceil(position + step / 2 - 1e-9).astype(np.int64), 0, info.samples)
        present = ~np.isnan(old)
        sums = np.concatenate(
            [np.zeros((1, old.shape[1])), np.cumsum(np.where(present, old, 0), 0)]
        )
        counts = np.concatenate([np.zeros((1, old.shape[1]), np.int64), np.cumsum(present, 0)])
        samples = counts[end] - counts[begin]
        total = sums[end] - sums[begin]
        values = np.where(samples > 0, total / np.maximum(samples, 1), np.nan)
    changes = tuple((int(np.ceil(at / step)), offset) for at, offset in info.offset_changes)
    resampled = replace(info, samples=count, period=float(period), offset_changes=changes)
    return Recording(resampled, values.astype(np.float32))
