"""Another sample clock for a recording, for a model that was trained on it; only when asked for.

New sample ``i`` stands at ``i * period``, from the old first sample to the last. To a finer clock
values are interpolated linearly, and are missing where either neighbour is; to a coarser one each
is the mean of the old samples within half a new period, missing where there are none.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bdl.errors import ConfigError
from bdl.recording import Recording


def resample(recording: Recording, period: float) -> Recording:
    """The recording with a sample every ``period`` seconds.

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
    place = np.arange(count) * step
    old = np.asarray(recording.values, dtype=np.float64)
    if step <= 1:
        low = np.minimum(np.floor(place + 1e-9).astype(np.int64), max(info.samples - 1, 0))
        high = np.minimum(low + 1, max(info.samples - 1, 0))
        share = np.clip(place - low, 0.0, 1.0)[:, None]
        # A neighbour of weight zero must not make a value missing.
        values = np.where(share > 1e-9, old[low] * (1 - share) + old[high] * share, old[low])
    else:
        begin = np.clip(np.ceil(place - step / 2 - 1e-9).astype(np.int64), 0, info.samples)
        end = np.clip(np.ceil(place + step / 2 - 1e-9).astype(np.int64), 0, info.samples)
        there = ~np.isnan(old)
        sums = np.concatenate([np.zeros((1, old.shape[1])), np.cumsum(np.where(there, old, 0), 0)])
        counts = np.concatenate([np.zeros((1, old.shape[1]), np.int64), np.cumsum(there, 0)])
        found = counts[end] - counts[begin]
        total = sums[end] - sums[begin]
        values = np.where(found > 0, total / np.maximum(found, 1), np.nan)
    changes = tuple((int(np.ceil(at / step)), offset) for at, offset in info.offset_changes)
    made = replace(info, samples=count, period=float(period), offset_changes=changes)
    return Recording(made, values.astype(np.float32))
