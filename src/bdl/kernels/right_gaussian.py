"""The one-sided Gaussian kernel, for causal models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, Self

import numpy as np
from pydantic import PositiveFloat

from bdl.kernels.gaussian import CUT, bell, known_sigma
from bdl.kernels.kernel import Kernel, Weights, reach_in_samples


class RightGaussian(Kernel):
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
    sigma: PositiveFloat | None = None

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        """Further names of this kernel."""
        return {"right": {}}

    def complete(self, *, sigma: float | None = None, tolerances: Sequence[float] = ()) -> Self:
        """Return a copy that has a sigma."""
        return self if self.sigma is not None else self.replace(sigma=known_sigma(self.kind, sigma))

    def weights(self, period: float) -> Weights:
        """Return distance 0 and the weights at the event and after it."""
        sigma = known_sigma(self.kind, self.sigma)
        reach = reach_in_samples(CUT * sigma, period)
        return 0, bell(np.arange(reach + 1), sigma / period)
