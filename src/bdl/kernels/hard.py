"""The hard kernel: no spread."""

from __future__ import annotations

from typing import Literal

import numpy as np

from bdl.kernels.kernel import Kernel, Weights


class Hard(Kernel):
    """All mass at the event's own sample.

    Examples
    --------
    >>> Hard().weights(period=5.0)
    (0, array([1.]))
    """

    kind: Literal["hard"] = "hard"

    def weights(self, period: float) -> Weights:
        """Return distance 0 and the single weight 1."""
        return 0, np.ones(1)
