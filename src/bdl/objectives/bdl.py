"""Boundary density likelihood, the objective of the paper."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from pydantic import PositiveFloat

from bdl.boosting import TreeLoss
from bdl.objectives.boundary import BoundaryObjective
from bdl.objectives.objective import at_least_single, shifted_logits

if TYPE_CHECKING:
    from torch import Tensor

    from bdl.onnx_graph import Graph


class BDL(BoundaryObjective):
    r"""Boundary density likelihood: a Poisson score on event mass.

    .. math:: \lambda = \mathrm{softplus}(z + \mathrm{softplus}^{-1}(\lambda_0)) + \epsilon,
        \qquad \ell = \lambda - Y\log\lambda

    For whole counts this is the Poisson negative log-likelihood up to a constant, for fractional
    mass a quasi-likelihood. In both cases its minimum is the conditional mean of the target.

    Parameters
    ----------
    kernel, reference_spacing, prior, rate
        As in `bdl.objectives.boundary.BoundaryObjective`.
    floor
        The smallest density, epsilon.

    Examples
    --------
    >>> import torch
    >>> round(BDL(prior=False).density(torch.zeros(1)).item(), 6)
    0.693147
    >>> round(BDL(rate=0.01).density(torch.zeros(1)).item(), 6)
    0.01
    """

    prefix: ClassVar[str] = "bdl"

    kind: Literal["bdl"] = "bdl"
    floor: PositiveFloat = 1e-8

    @property
    def tree_loss(self) -> TreeLoss | None:
        return "poisson"

    def density(self, logits: Tensor) -> Tensor:
        """Return expected events per bin."""
        from torch.nn import functional as F

        return F.softplus(at_least_single(logits) + self._shift()) + self.floor

    def export(self, graph: Graph, logits: str) -> str:
        # The softplus of x is max(x, 0) + log(1 + exp(-|x|)).
        x = shifted_logits(graph, logits, self._shift())
        tail = graph.add("Exp", graph.add("Neg", graph.add("Abs", x)))
        log = graph.add("Log", graph.add("Add", tail, graph.constant(1.0, np.float64)))
        softplus = graph.add("Add", graph.add("Max", x, graph.constant(0.0, np.float64)), log)
        total = graph.add("Add", softplus, graph.constant(self.floor, np.float64))
        return graph.cast(total, np.float32)

    def _shift(self) -> float:
        return _softplus_inverse(self.known_rate()) if self.prior else 0.0

    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the Poisson score of every bin and output, without the constant of the target."""
        rate = self.density(logits)
        return rate - target * rate.log()


def _softplus_inverse(rate: float) -> float:
    """Return the number whose softplus is ``rate``, exact for small and large rates.

    Examples
    --------
    >>> _softplus_inverse(math.log(2))
    0.0
    """
    return rate + math.log(-math.expm1(-rate))
