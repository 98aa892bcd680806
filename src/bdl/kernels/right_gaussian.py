"""The one-sided Gaussian kernel, for causal models."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from bdl.kernels.gaussian import CUT, SigmaKernel, bell
from bdl.kernels.kernel import Weights, reach_in_samples


class RightGaussian(SigmaKernel):
    """The half of a Gaussian at the event and after it, for causal models.

    Parameters
    ----------
    sigma
        Standard deviation of the whole Gaussian in seconds; it is cut at three times sigma.
        None is completed as in `Gaussian`.

    Examples
    --------
    >>> first, weights = RightGaussian(sigma=2.0).weights(period=1.0)
    >>> first, len(weights), bool(weights[0] == weights.max())
    (0, 7, True)
    """

    kind: Literal["right-gaussian"] = "right-gaussian"

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        return {"right": {}}

    def weights(self, period: float) -> Weights:
        """Return distance 0 and the weights at the event and after it."""
        reach = reach_in_samples(CUT * self.known_sigma(), period)
        return 0, bell(np.arange(reach + 1), self.known_sigma() / period)
