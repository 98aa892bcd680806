"""The kernel that follows the matching tolerances."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

import numpy as np
from pydantic import Field, PositiveFloat

from bdl.errors import ConfigError
from bdl.kernels.kernel import Kernel, Weights, reach_in_samples


class Tolerance(Kernel):
    r"""Steps at the matching tolerances, :math:`\kappa(r)\propto\sum_k 1\{|r|\le\delta_k\}`.

    Parameters
    ----------
    tolerances
        Matching tolerances in seconds. None is completed with the tolerances of the metric.
    width
        Factor on all tolerances (the width ablation uses 0.5, 1 and 1.5).

    Examples
    --------
    >>> Tolerance(tolerances=(1.0, 2.0)).weights(period=1.0)
    (-2, array([0.125, 0.25 , 0.25 , 0.25 , 0.125]))
    """

    kind: Literal["tolerance"] = "tolerance"
    tolerances: Annotated[tuple[PositiveFloat, ...], Field(min_length=1)] | None = None
    width: PositiveFloat = 1.0

    def complete(self, *, sigma: float | None = None, tolerances: Sequence[float] = ()) -> Self:
        """Return a copy that has tolerances."""
        if self.tolerances is not None:
            return self
        return self.replace(tolerances=_known(tuple(tolerances)))

    def weights(self, period: float) -> Weights:
        tolerances = _known(self.tolerances)
        reaches = np.array([reach_in_samples(t * self.width, period) for t in tolerances])
        reach = int(reaches.max())
        distance = np.abs(np.arange(-reach, reach + 1))
        steps = (distance[:, None] <= reaches).sum(axis=1, dtype=np.float64)
        return -reach, steps / steps.sum()


def _known(tolerances: tuple[float, ...] | None) -> tuple[float, ...]:
    if not tolerances:
        raise ConfigError("the tolerance kernel needs the matching tolerances in seconds")
    return tolerances
