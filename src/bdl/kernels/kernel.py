"""The family of timing kernels, and what its members share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from bdl.arrays import Floats
from bdl.registry import Variant

Weights = tuple[int, Floats]

# A reach of 2.9999999999 samples is three samples that were converted to seconds and back.
SLACK = 1e-9


class Kernel(Variant):
    """Base class of timing kernels; see `bdl.kernels`."""

    package: ClassVar[str] = "bdl.kernels"

    @abstractmethod
    def weights(self, period: float) -> Weights:
        """Weights at whole sample distances from the event.

        Parameters
        ----------
        period
            Seconds from one sample to the next.

        Returns
        -------
        tuple of int and ndarray
            Distance of the first weight in samples (zero or negative), and the weights, which
            sum to one.
        """

    @property
    def candidates(self) -> tuple[Kernel, ...]:
        """Kernels to choose from on held-out recordings: itself, unless it has several."""
        return (self,)

    def at(self, progress: float) -> Kernel:
        """Return the kernel to train with after a share of the training, from 0 to 1."""
        return self

    def complete(self, *, sigma: float | None = None, tolerances: Sequence[float] = ()) -> Self:
        """Return a copy in which fields that are None are filled in.

        Parameters
        ----------
        sigma
            Standard deviation in seconds for a kernel that has one.
        tolerances
            Matching tolerances in seconds for a kernel that follows them.

        Raises
        ------
        ConfigError
            If a field that the kernel needs is still unknown.
        """
        return self


@lru_cache(maxsize=64)
def cumulative(kernel: Kernel, period: float) -> Weights:
    """Distance of the first weight in samples, and running sums 0, w0, w0 + w1, ..., 1 of weights.

    There is one more sum than weights. The result is cached, because a training run needs the same
    one for every window, and is therefore read-only.

    Examples
    --------
    >>> from bdl.kernels import Tolerance
    >>> cumulative(Tolerance(tolerances=(1.0, 2.0)), 1.0)
    (-2, array([0.   , 0.125, 0.375, 0.625, 0.875, 1.   ]))
    """
    first, weights = kernel.weights(period)
    sums = np.zeros(len(weights) + 1)
    np.cumsum(weights, out=sums[1:])
    sums /= sums[-1]
    sums.flags.writeable = False
    return first, sums


def reach_in_samples(reach: float, period: float) -> int:
    """Whole samples within ``reach`` seconds, inclusive.

    Examples
    --------
    >>> reach_in_samples(0.3, 0.1), reach_in_samples(0.29, 0.1)
    (3, 2)
    """
    samples = reach / period
    return int(np.floor(samples + SLACK * max(1.0, samples)))
