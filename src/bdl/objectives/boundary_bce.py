"""Binary cross-entropy on event targets."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from bdl.labels import Labels
from bdl.objectives.boundary import BoundaryObjective
from bdl.objectives.objective import at_least_single
from bdl.targets import Crop

if TYPE_CHECKING:
    from torch import Tensor

    from bdl.onnx_graph import Graph


class BoundaryBCE(BoundaryObjective):
    """Binary cross-entropy on the same targets, clipped to [0, 1], with the same sparse prior.

    The prior shifts the logits by logit(rate); a rate above one half counts as one half.

    Parameters
    ----------
    kernel, reference_spacing, prior, rate
        As in `bdl.objectives.boundary.BoundaryObjective`.

    Examples
    --------
    >>> import torch
    >>> round(BoundaryBCE(rate=0.01).density(torch.zeros(1)).item(), 6)
    0.01
    """

    prefix: ClassVar[str] = "bce"
    bounded: ClassVar[bool] = True

    kind: Literal["bce"] = "bce"

    def exact_target(self, labels: Labels, crop: Crop) -> NDArray[np.float64]:
        """Return the event mass of each bin, at most one."""
        return np.minimum(super().exact_target(labels, crop), 1.0)

    @property
    def tree_loss(self) -> Literal["poisson", "bernoulli"] | None:
        """Loss of boosted trees on the same targets."""
        return "bernoulli"

    def density(self, logits: Tensor) -> Tensor:
        """Return the probability of an event in the bin."""
        return self._shifted(logits).sigmoid()

    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the cross-entropy of every bin and output."""
        from torch.nn import functional as F

        return F.binary_cross_entropy_with_logits(self._shifted(logits), target, reduction="none")

    def export(self, graph: Graph, logits: str) -> str:
        """Add the density to an ONNX graph."""
        from bdl.objectives.links import sigmoid

        return sigmoid(graph, logits, shift=self._shift())

    def _shifted(self, logits: Tensor) -> Tensor:
        return at_least_single(logits) + self._shift()

    def _shift(self) -> float:
        rate = min(self.known_rate(), 0.5) if self.prior else 0.5
        return math.log(rate / (1 - rate))
