"""The sampling period that the first rows of a recording show."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.formats.time_zones import NANO

Longs = NDArray[np.int64]


def infer_period(times: Longs | None, samples: Longs | None, where: str) -> float:
    """Period in seconds: the mean of the steps near the median one, made round if it fits.

    ``times`` are nanoseconds of consecutive rows, ``samples`` their numbers if they have any.

    Examples
    --------
    >>> 1 / infer_period(np.array([0, 2_777_778, 5_555_556, 8_333_333]), None, "a.csv")
    360.0
    """
    advice = "give the period in seconds (period=, --period)"
    if times is None:
        raise InputError(
            f"{where}: no period and no time column to infer it from; {advice} or name the column "
            "of times (time=, --time)"
        )
    steps = np.diff(times)
    counts = np.ones_like(steps) if samples is None else np.diff(samples)
    forward = (counts > 0) & (steps > 0)
    if not forward.any():
        raise InputError(
            f"{where}: the period cannot be inferred from {len(times)} row(s) without a step "
            f"forward in time; {advice}"
        )
    steps, counts = steps[forward], counts[forward]
    each = steps / counts
    median = np.quantile(each, 0.5, method="lower")  # a step that some row made
    near = np.abs(each - median) <= 0.1 * median
    length = float(counts[near].sum())
    mean = float(steps[near].sum()) / length
    # A round rate or period is taken if it explains these very times as well.
    blur, seconds = (2.0 + float(np.abs(each[near] - mean).max())) / NANO, mean / NANO
    round_ones = [1 / max(1, round(1 / seconds)), float(max(1, round(seconds)))]
    for rounded in round_ones + [round(seconds, digits) for digits in range(9)]:
        if rounded > 0 and abs(rounded - seconds) * length <= blur:
            return rounded
    return seconds
