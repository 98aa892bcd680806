"""The samplewise classifier of point events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from bdl import targets
from bdl.labels import Labels, mean_spacing
from bdl.objectives.objective import Objective, at_least_single
from bdl.targets import Crop

if TYPE_CHECKING:
    from torch import Tensor

    from bdl.onnx_graph import Graph


class EventClassifier(Objective):
    """Samplewise classifier of point events: cross-entropy with target one in the event's bin.

    The counterpart of segmentation for events without duration: no prior and no kernel.

    Examples
    --------
    >>> import torch
    >>> EventClassifier().density(torch.zeros(1)).item()
    0.5
    """

    bounded: ClassVar[bool] = True

    kind: Literal["classifier"] = "classifier"

    def resolve(self, labels: Iterable[Labels], *, stride: int) -> Self:
        """Check that there are events; nothing is filled in."""
        mean_spacing(labels)
        return self

    def exact_target(self, labels: Labels, crop: Crop) -> NDArray[np.float64]:
        """Return one in bins that contain an event."""
        return targets.event_points(labels.events, crop)

    @property
    def tree_loss(self) -> Literal["poisson", "bernoulli"] | None:
        """Loss of boosted trees on the same targets."""
        return "bernoulli"

    def density(self, logits: Tensor) -> Tensor:
        """Return the probability of an event in the bin."""
        return at_least_single(logits).sigmoid()

    def export(self, graph: Graph, logits: str) -> str:
        """Add the density to an ONNX graph."""
        from bdl.objectives.links import sigmoid

        return sigmoid(graph, logits)

    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the cross-entropy of every bin and output."""
        from torch.nn import functional as F

        return F.binary_cross_entropy_with_logits(at_least_single(logits), target, reduction="none")
