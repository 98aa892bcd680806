"""The learning rate of each step: a linear warm-up, then half a cosine down.

Over ``total`` steps the rate rises from 1e-6 to its peak during the first tenth (at least one
step) and falls to 1e-6 at the last step. It is a function of the step alone, so that a resumed
training has exactly the rates of an uninterrupted one.
"""

from __future__ import annotations

import math

LOWEST = 1e-6
WARM_UP = 0.1


def learning_rate(step: int, total: int, peak: float) -> float:
    """Return the learning rate of a step, counted from 0; beyond the last step it is the lowest.

    Examples
    --------
    >>> [round(learning_rate(step, 101, 1.0), 3) for step in (0, 5, 10, 55, 100)]
    [0.0, 0.5, 1.0, 0.5, 0.0]
    """
    low = min(LOWEST, peak)
    warm = max(1, round(WARM_UP * total))
    if step < warm:
        return low + (peak - low) * step / warm
    share = min(1.0, (step - warm) / max(1, total - 1 - warm))
    return low + (peak - low) * 0.5 * (1 + math.cos(math.pi * share))
