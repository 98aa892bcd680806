"""The symmetric Gaussian kernel."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import PositiveFloat

from bdl.errors import ConfigError
from bdl.kernels.kernel import Kernel, Weights, reach_in_samples

# Gaussians are cut at this many standard deviations, as in the paper.
CUT = 3.0


class Gaussian(Kernel):
    r"""A symmetric Gaussian, :math:`\kappa(r) \propto e^{-r^2/2\sigma^2}`, cut at three sigma.

    Parameters
    ----------
    sigma
        Standard deviation in seconds. None is completed with the finest matching tolerance by a
        detector, and with the data set's setting by a study.

    Examples
    --------
    >>> first, weights = Gaussian(sigma=250.0).weights(period=5.0)
    >>> first, len(weights), round(float(weights.max()), 6)
    (-150, 301, 0.008)
    """

    kind: Literal["gaussian"] = "gaussian"
    sigma: PositiveFloat | None = None

    def complete(self, *, sigma: float | None = None, tolerances: Sequence[float] = ()) -> Self:
        """Return a copy that has a sigma."""
        return self if self.sigma is not None else self.replace(sigma=known_sigma(self.kind, sigma))

    def weights(self, period: float) -> Weights:
        """Return the distance of the first weight in samples, and the weights."""
        sigma = known_sigma(self.kind, self.sigma)
        reach = reach_in_samples(CUT * sigma, period)
        return -reach, bell(np.arange(-reach, reach + 1), sigma / period)


def known_sigma(kind: str, sigma: float | None) -> float:
    """Return sigma, or raise an error that names the kernel if it is None."""
    if sigma is None:
        raise ConfigError(
            f"the {kind} kernel needs sigma, its width in seconds: give it, for example "
            f"{{kind: {kind}, sigma: 30}}, or give the matching tolerances"
        )
    return sigma


def bell(distance: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
    """Gaussian weights at the given distances, with unit sum.

    Examples
    --------
    >>> bell(np.arange(2), 1.0).round(3).tolist()
    [0.622, 0.378]
    """
    weights: NDArray[np.float64] = np.exp(-0.5 * (distance / sigma) ** 2)
    weights /= weights.sum()
    return weights
