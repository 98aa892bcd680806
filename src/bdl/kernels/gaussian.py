"""The symmetric Gaussian kernel, and what kernels with a standard deviation share."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from pydantic import PositiveFloat

from bdl.arrays import Floats, Longs
from bdl.errors import ConfigError
from bdl.kernels.kernel import Kernel, Weights, reach_in_samples

# Gaussians are cut at this many standard deviations, as in the paper.
CUT = 3.0


class SigmaKernel(Kernel):
    """Base class of kernels whose width is a standard deviation, sigma, in seconds."""

    sigma: PositiveFloat | None = None

    def complete(self, *, sigma: float | None = None, tolerances: Sequence[float] = ()) -> Self:
        """Return a copy that has a sigma."""
        return self if self.sigma is not None else self.replace(sigma=self._known(sigma))

    def known_sigma(self) -> float:
        """Return sigma, or raise an error that names the kernel if it is None."""
        return self._known(self.sigma)

    def _known(self, sigma: float | None) -> float:
        if sigma is None:
            raise ConfigError(
                f"the {self.kind} kernel needs sigma, its width in seconds: give it, for example "
                f"{{kind: {self.kind}, sigma: 30}}, or give the matching tolerances"
            )
        return sigma


class Gaussian(SigmaKernel):
    r"""A symmetric Gaussian, :math:`\kappa(r) \propto e^{-r^2/2\sigma^2}`, cut at three sigma.

    Parameters
    ----------
    sigma
        Standard deviation in seconds. None is completed by a detector with the finest matching
        tolerance, or half the step of annotated times on a coarser grid; by a study with the data
        set's setting.

    Examples
    --------
    >>> first, weights = Gaussian(sigma=250.0).weights(period=5.0)
    >>> first, len(weights), round(float(weights.max()), 6)
    (-150, 301, 0.008)
    """

    kind: Literal["gaussian"] = "gaussian"

    def weights(self, period: float) -> Weights:
        reach = reach_in_samples(CUT * self.known_sigma(), period)
        return -reach, bell(np.arange(-reach, reach + 1), self.known_sigma() / period)


def bell(distance: Longs, sigma: float) -> Floats:
    """Gaussian weights at the given distances, with unit sum.

    Examples
    --------
    >>> bell(np.arange(2), 1.0).round(3).tolist()
    [0.622, 0.378]
    """
    weights: Floats = np.exp(-0.5 * (distance / sigma) ** 2)
    weights /= weights.sum()
    return weights
