"""Refinement: where within its bin (or near it) a detection most likely is.

``parabola``
    The top of the parabola through the logarithms of the density in the bin and its two
    neighbours: exact for a Gaussian peak. A detection moves by at most half a bin, and only where
    the bin is at least as high as both neighbours, higher than one of them, and none is zero.
``centroid``
    The centre of mass of the bin and its two neighbours.

Both leave a detection in the first or the last bin at the bin's centre.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bdl.density import Density

Refine = Literal["none", "parabola", "centroid"]


def refine(
    density: Density, column: int, bins: NDArray[np.int64], method: Refine
) -> NDArray[np.float64]:
    """Times in seconds of detections in the given bins of one column."""
    times = density.times
    if method == "none" or len(times) < 3:
        return times[bins]
    inner = np.clip(bins, 1, len(times) - 2)
    left, here, right = (
        density.values[inner + shift, column].astype(np.float64) for shift in (-1, 0, 1)
    )
    before, centre, after = times[inner - 1], times[inner], times[inner + 1]
    if method == "centroid":
        mass = left + here + right
        moved = np.divide(
            left * before + here * centre + right * after, mass, out=centre.copy(), where=mass > 0
        )
    else:
        usable = (np.minimum(left, right) > 0) & (here >= np.maximum(left, right))
        usable &= here > np.minimum(left, right)
        a, b, c = (np.log(np.where(usable, v, 1.0)) for v in (left, here, right))
        curve = a - 2 * b + c
        shift = np.divide(0.5 * (a - c), curve, out=np.zeros_like(curve), where=curve < 0)
        shift = np.clip(shift, -0.5, 0.5)
        moved = centre + shift * np.where(shift < 0, centre - before, after - centre)
    return np.where(inner == bins, moved, times[bins])
