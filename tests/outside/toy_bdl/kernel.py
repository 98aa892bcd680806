"""A kernel: a triangle around the event."""

import numpy as np

from bdl.kernels import Kernel


class Triangle(Kernel):
    """A triangle that falls to zero at ``reach``.

    Parameters
    ----------
    reach
        Seconds from the event to the end of the triangle.
    """

    kind: str = "triangle"
    reach: float = 3.0

    def weights(self, period):
        reach = int(self.reach / period)
        weights = 1.0 + reach - np.abs(np.arange(-reach, reach + 1))
        return -reach, weights / weights.sum()
