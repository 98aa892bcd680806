"""Local maxima of a sequence, and the separation that keeps the higher of two close ones.

A maximum is a run of equal values, both of whose neighbours are lower; a run that touches either
end of the sequence is not one. Its place is the middle of the run, rounded down. Two maxima are too
close when they are less than ``distance`` places apart. Both rules are those of
``scipy.signal.find_peaks``; where its unstable sort leaves the order of equal heights open, the
later one is kept.

A maximum is suppressed by higher (or equal) ones only, so that a threshold before or after
separation gives the same maxima: one separation serves every threshold.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bdl.compiled import compiled

Places = NDArray[np.int64]
Keep = Literal["higher", "earlier"]


def local_maxima(values: NDArray[Any]) -> tuple[Places, Places]:
    """First and last place of every local maximum, in order."""
    earlier, here, later = values[:-2], values[1:-1], values[2:]
    first: Places = np.flatnonzero((here > earlier) & (here >= later)) + 1
    flat = np.flatnonzero(values[first] == values[first + 1]) if len(first) else first
    last = first.copy()
    if len(flat):
        # A flat top ends before the next change; it is a maximum if the value then falls.
        changes = np.append(np.flatnonzero(values[1:] != values[:-1]), len(values) - 1)
        last[flat] = changes[np.searchsorted(changes, first[flat])]
        after = np.minimum(last + 1, len(values) - 1)
        falls = values[after] < values[first]
        first, last = first[falls], last[falls]
    return first, last


def separate(
    places: Places, heights: NDArray[np.floating[Any]], distance: int, keep: Keep = "higher"
) -> Places:
    """Indices of the maxima to keep so that none are less than ``distance`` apart.

    ``higher`` visits the maxima by decreasing height, the later of equals first; ``earlier`` visits
    them by time, without looking ahead. Each that is visited suppresses those too close.
    """
    in_time: Places = np.arange(len(places))
    if distance <= 1 or len(places) < 2:
        return in_time
    order = in_time if keep == "earlier" else _decreasing(heights)
    return np.flatnonzero(_unsuppressed(places, order, distance))


def _decreasing(heights: NDArray[np.floating[Any]]) -> Places:
    """Indices by decreasing height, the later of equals first."""
    # Faster than a stable sort: sort in any order, then put equal heights in order.
    order = np.argsort(heights)
    ordered = heights[order]
    equal = ordered[1:] == ordered[:-1]
    if equal.any():
        tied = np.zeros(len(order), np.bool_)
        tied[1:] = equal
        tied[:-1] |= equal
        order[tied] = order[tied][np.lexsort((order[tied], ordered[tied]))]
    return np.ascontiguousarray(order[::-1])


@compiled(small_in_python=True)
def _unsuppressed(places: Places, order: Places, distance: int) -> NDArray[np.bool_]:
    """Whether each place is kept when they are visited in an order."""
    keep = np.ones(len(places), np.bool_)
    for j in order:
        if not keep[j]:
            continue
        k = j - 1
        while k >= 0 and places[j] - places[k] < distance:
            keep[k] = False
            k -= 1
        k = j + 1
        while k < len(places) and places[k] - places[j] < distance:
            keep[k] = False
            k += 1
    return keep
