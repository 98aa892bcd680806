"""The sample clock: the nearest sample of a time, and the bins of a recording.

Sample ``i`` is taken ``i * period`` seconds after the start. A time belongs to its nearest
sample; a time half-way between two samples belongs to the later one. Bin ``b`` covers samples
``[b * stride, (b + 1) * stride)``, and the last bin may be partial.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bdl.arrays import Floats, Longs
from bdl.errors import ConfigError

# Times further away than any recording reaches get this sample: they fit into an int64 and no
# sum of a few of them overflows.
_FURTHEST = float(2**60)


def nearest_sample(times: ArrayLike, period: ArrayLike) -> Longs:
    """Nearest sample of each time; halves go up.

    ``times`` and ``period`` are in seconds; samples are negative before the start.

    Examples
    --------
    >>> nearest_sample([0.0, 2.4, 2.5, 7.5, -2.6], 5.0).tolist()
    [0, 0, 1, 2, -1]
    >>> nearest_sample([1e300], 1.0).tolist() == [2**60]
    True
    """
    samples = np.floor(np.asarray(times, np.float64) / np.asarray(period, np.float64) + 0.5)
    return np.clip(samples, -_FURTHEST, _FURTHEST).astype(np.int64)


def bin_count(samples: int, stride: int) -> int:
    """Number of bins that cover some samples, a last partial bin included.

    Examples
    --------
    >>> bin_count(21, 10), bin_count(0, 10)
    (3, 0)
    """
    if stride < 1:
        raise ConfigError(f"a stride is a whole number of samples, 1 or more, got {stride}")
    if samples < 0:
        raise ConfigError(f"0 or more samples expected, got {samples}")
    return -(-samples // stride)


def bin_centres(bins: Longs, stride: int, period: float, samples: int | None = None) -> Floats:
    """Centre of each of these bins in seconds: the mean time of its samples.

    ``samples`` is the length of the recording, whose last bin may be partial; None if it is not
    known yet.

    Examples
    --------
    >>> bin_centres(np.arange(3), 4, 0.5, samples=10).tolist()
    [0.75, 2.75, 4.25]
    """
    first, end = bins * stride, (bins + 1) * stride
    if samples is not None:
        end = np.minimum(end, samples)
    centres: Floats = (first + end - 1) / 2 * period
    return centres
