"""Compiled checks of a clock: one pass over the rows, ended by the first that is off."""

from __future__ import annotations

import numba
import numpy as np


@numba.njit(cache=True, nogil=True)
def first_jump(samples, expected):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The first row that is not sample ``expected`` + row, or -1.

    >>> first_jump(np.array([5, 6, 8]), 5)
    2
    """
    for i in range(len(samples)):
        if samples[i] != expected + i:
            return i
    return -1


@numba.njit(cache=True, nogil=True)
def first_late(times, origin, sample, period, allowed):  # type: ignore[no-untyped-def]  # pragma: no cover
    """The first time more than ``allowed`` from its place on a regular clock, or -1.

    Row i stands at ``origin + (sample + i) * period``; all are nanoseconds.

    >>> first_late(np.array([0, 10, 23]), 0, 0, 10.0, 2.0)
    2
    """
    for i in range(len(times)):
        late = np.float64(times[i] - origin) - (sample + i) * period
        if late > allowed or late < -allowed:
            return i
    return -1
