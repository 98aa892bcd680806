"""Timing kernels: how one event's unit of mass is spread around its annotated time.

A kernel is a value in seconds. On a sample clock of a given period it becomes weights at whole
sample distances ``r`` from the event's sample: nonnegative, unit sum, largest at ``r = 0`` and
never rising away from it. Reaches are inclusive (``|r| * period <= reach``) and a reach that is a
whole number of samples up to rounding counts as whole. A kernel narrower than one sample is the
hard one. Cutting at edges and renormalising is the business of `bdl.targets`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat

from bdl.config import Value

Weights = tuple[int, NDArray[np.float64]]

# Gaussians are cut where the paper cuts them.
CUT = 3.0
# A reach of 2.9999999999 samples is three samples that went through seconds and back.
SLACK = 1e-9


def reach_in_samples(reach: float, period: float) -> int:
    """Whole samples within ``reach`` seconds, inclusive.

    >>> reach_in_samples(0.3, 0.1), reach_in_samples(0.29, 0.1)
    (3, 2)
    """
    samples = reach / period
    return int(np.floor(samples + SLACK * max(1.0, samples)))


class Hard(Value):
    """All mass at the event's own sample.

    >>> Hard().weights(period=5.0)
    (0, array([1.]))
    """

    kind: Literal["hard"] = "hard"

    def weights(self, period: float) -> Weights:
        """Distance of the first weight in samples, and the unit-sum weights."""
        return 0, np.ones(1)


class Gaussian(Value):
    r"""A symmetric bell, :math:`\kappa(r) \propto e^{-r^2/2\sigma^2}` for :math:`|r|\le 3\sigma`.

    Parameters
    ----------
    sigma : standard deviation in seconds.

    >>> first, weights = Gaussian(sigma=250.0).weights(period=5.0)
    >>> first, len(weights), round(float(weights.max()), 6)
    (-150, 301, 0.008)
    """

    kind: Literal["gaussian"] = "gaussian"
    sigma: PositiveFloat

    def weights(self, period: float) -> Weights:
        """Distance of the first weight in samples, and the unit-sum weights."""
        reach = reach_in_samples(CUT * self.sigma, period)
        return -reach, _bell(np.arange(-reach, reach + 1), self.sigma / period)


class RightGaussian(Value):
    r"""The half of a bell at the event and after it, for models that see no future.

    Parameters
    ----------
    sigma : standard deviation of the whole bell in seconds; cut at three of it.

    >>> first, weights = RightGaussian(sigma=2.0).weights(period=1.0)
    >>> first, len(weights), bool(weights[0] == weights.max())
    (0, 7, True)
    """

    kind: Literal["right-gaussian"] = "right-gaussian"
    sigma: PositiveFloat

    def weights(self, period: float) -> Weights:
        """Distance of the first weight in samples, and the unit-sum weights."""
        reach = reach_in_samples(CUT * self.sigma, period)
        return 0, _bell(np.arange(reach + 1), self.sigma / period)


class Tolerance(Value):
    r"""Steps at the tolerances of the score, :math:`\kappa(r)\propto\sum_k 1\{|r|\le\delta_k\}`.

    Parameters
    ----------
    tolerances : matching tolerances in seconds.
    width : factor on all of them (the width ablation uses 0.5, 1 and 1.5).

    >>> Tolerance(tolerances=(1.0, 2.0)).weights(period=1.0)
    (-2, array([0.125, 0.25 , 0.25 , 0.25 , 0.125]))
    """

    kind: Literal["tolerance"] = "tolerance"
    tolerances: Annotated[tuple[PositiveFloat, ...], Field(min_length=1)]
    width: PositiveFloat = 1.0

    def weights(self, period: float) -> Weights:
        """Distance of the first weight in samples, and the unit-sum weights."""
        reaches = np.array([reach_in_samples(t * self.width, period) for t in self.tolerances])
        reach = int(reaches.max())
        distance = np.abs(np.arange(-reach, reach + 1))
        steps = (distance[:, None] <= reaches).sum(axis=1, dtype=np.float64)
        return -reach, steps / steps.sum()


Kernel = Annotated[Hard | Gaussian | RightGaussian | Tolerance, Field(discriminator="kind")]


@lru_cache(maxsize=64)
def cumulative(kernel: Kernel, period: float) -> Weights:
    """Distance of the first weight in samples, and the running sums 0, w0, w0 + w1, ..., 1.

    Cached and therefore read-only: a training run asks for the same one at every window.

    >>> cumulative(Tolerance(tolerances=(1.0, 2.0)), 1.0)
    (-2, array([0.   , 0.125, 0.375, 0.625, 0.875, 1.   ]))
    """
    first, weights = kernel.weights(period)
    sums = np.zeros(len(weights) + 1)
    np.cumsum(weights, out=sums[1:])
    sums /= sums[-1]
    sums.flags.writeable = False
    return first, sums


def _bell(distance: NDArray[np.int64], sigma: float) -> NDArray[np.float64]:
    weights: NDArray[np.float64] = np.exp(-0.5 * (distance / sigma) ** 2)
    weights /= weights.sum()
    return weights
