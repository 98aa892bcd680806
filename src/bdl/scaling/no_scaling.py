"""No scaling."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bdl.scaling.scaling import Affine, Scaling


class NoScaling(Scaling):
    """Values are used as they are.

    Examples
    --------
    >>> NoScaling()
    NoScaling(kind='none')
    """

    kind: Literal["none"] = "none"

    def affine(self, channels: int) -> Affine:
        """Return zero shift and unit scale."""
        return np.zeros(channels), np.ones(channels)
