"""Local maxima of a sequence, and the separation that keeps the higher of two near ones.

A maximum is a run of equal values, both of whose neighbours are lower; a run that touches either
end of the sequence is none. Its place is the middle of the run, rounded down. Two maxima are too
near when they lie less than ``distance`` places apart. Both rules are those of
``scipy.signal.find_peaks``; where its unstable sort leaves equal heights open, the later one is
kept.

Since suppression goes only from higher to lower (or equal) maxima, cutting by height before or
after separation gives the same maxima; so one separation serves every cutoff.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numba import njit
from numpy.typing import NDArray

Floats = NDArray[np.floating[Any]]
Places = NDArray[np.int64]
Keep = Literal["higher", "earlier"]


def local_maxima(values: NDArray[Any]) -> tuple[Places, Places]:
    """First and last place of every local maximum, in order.

    >>> [edge.tolist() for edge in local_maxima(np.array([0.0, 2.0, 1.0, 3.0, 3.0, 0.0]))]
    [[1, 3], [1, 4]]
    """
    first, last = _maxima(values)
    return first, last


def separate(places: Places, heights: Floats, distance: int, keep: Keep = "higher") -> Places:
    """Which maxima to keep so that none lie less than ``distance`` apart: their indices.

    Parameters
    ----------
    places : (n,) increasing.
    heights : (n,) heights.
    distance : least allowed distance; 0 and 1 keep all.
    keep : ``higher`` takes them by decreasing height, the later of equals first; ``earlier`` by
        time, which needs no look ahead.

    >>> separate(np.array([0, 3, 5]), np.array([1.0, 2.0, 3.0]), 3).tolist()
    [0, 2]
    >>> separate(np.array([0, 3, 5]), np.array([1.0, 2.0, 3.0]), 4, "earlier").tolist()
    [0, 2]
    """
    if distance <= 1 or len(places) < 2:
        return np.arange(len(places))
    if keep == "earlier":
        return np.flatnonzero(_earlier(places, distance))
    # The quick sort leaves the order of equal heights open; `_higher` settles it.
    return np.flatnonzero(_higher(places, heights, np.argsort(heights), distance))


@njit(cache=True)
def _maxima(values: NDArray[Any]) -> tuple[Places, Places]:
    n = len(values)
    # Slices of one length, indexed alike, let the compiler do many comparisons at once.
    rising = np.zeros(max(n - 2, 0), np.bool_)
    earlier, here, later = values[: len(rising)], values[1:], values[2:]
    for i in range(len(rising)):
        rising[i] = (here[i] > earlier[i]) & (here[i] >= later[i])
    first = np.flatnonzero(rising) + 1
    last = first.copy()
    found = 0
    for k in range(len(first)):
        i = int(first[k])
        j = i + 1
        while j < n - 1 and values[j] == values[i]:
            j += 1
        if values[j] < values[i]:
            first[found], last[found] = i, j - 1
            found += 1
    return first[:found].copy(), last[:found].copy()


@njit(cache=True)
def _higher(places: Places, heights: Floats, order: Places, distance: int) -> NDArray[np.bool_]:
    n = len(places)
    begin = 0
    while begin < n:
        end = begin + 1
        while end < n and heights[order[end]] == heights[order[begin]]:
            end += 1
        if end - begin > 1:
            order[begin:end].sort()
        begin = end
    keep = np.ones(n, np.bool_)
    for i in range(n - 1, -1, -1):
        j = order[i]
        if not keep[j]:
            continue
        k = j - 1
        while k >= 0 and places[j] - places[k] < distance:
            keep[k] = False
            k -= 1
        k = j + 1
        while k < n and places[k] - places[j] < distance:
            keep[k] = False
            k += 1
    return keep


@njit(cache=True)
def _earlier(places: Places, distance: int) -> NDArray[np.bool_]:
    keep = np.zeros(len(places), np.bool_)
    last = places[0] - distance
    for i in range(len(places)):
        if places[i] - last >= distance:
            keep[i] = True
            last = places[i]
    return keep
