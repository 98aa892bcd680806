"""The learning rate of each step: a linear warm-up, then half a cosine down.

Over ``total`` steps the rate rises from 1e-6 to its peak during the first tenth (at least one
step) and falls to 1e-6 at the last step.
"""

from __future__ import annotations

import math

FLOOR = 1e-6
WARM_UP = 0.1


def learning_rate(step: int, total: int, peak: float) -> float:
    """Learning rate of one step, counted from 0.

    Parameters
    ----------
    step : index of the step; beyond the last one the rate stays at its floor.
    total : number of steps of the whole training.
    peak : largest rate.

    >>> [round(learning_rate(step, 101, 1.0), 3) for step in (0, 5, 10, 55, 100)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    low = min(FLOOR, peak)
    warm = max(1, round(WARM_UP * total))
    if step < warm:
        return low + (peak - low) * step / warm
    share = min(1.0, (step - warm) / max(1, total - 1 - warm))
    return low + (peak - low) * 0.5 * (1 + math.cos(math.pi * share))
