"""No scaling."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bdl.recording import Recording
from bdl.scaling.scaling import Affine, Scaling


class NoScaling(Scaling):
    """Values are used as they are.

    Examples
    --------
    >>> NoScaling()
    NoScaling(kind='none')
    """

    kind: Literal["none"] = "none"

    def affine(self, recording: Recording) -> Affine:
        """Return zero shift and unit scale."""
        channels = len(recording.info.channels)
        return np.zeros(channels), np.ones(channels)
