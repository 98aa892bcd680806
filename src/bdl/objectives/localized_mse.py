"""Squared error on proximity maps, the formulation before BDL."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, ClassVar, Literal, Self

import numpy as np
from pydantic import PositiveFloat

from bdl import targets
from bdl.arrays import Floats
from bdl.errors import ConfigError
from bdl.labels import Labels, common_period
from bdl.objectives.boundary import BoundaryObjective
from bdl.objectives.objective import at_least_single
from bdl.targets import Crop

if TYPE_CHECKING:
    from torch import Tensor

    from bdl.onnx_graph import Graph


class LocalizedMSE(BoundaryObjective):
    """Squared error on unit-peak proximity maps, the formulation before BDL.

    The map of `bdl.targets.event_maps` is divided by its expected root mean square over the bins
    (``scale``), so that predicting nothing costs about one for any kernel. The link is the
    identity, cut at zero.

    Parameters
    ----------
    kernel
        Shape of the map around an event; a value or a name of `bdl.kernels`.
    reference_spacing
        Mean seconds between events of one type, for the scale; None estimates it from the
        training labels.
    prior
        Whether the map is divided by its scale; False for the ablation.
    rate
        Events per bin; set by `resolve`.
    scale
        Expected root mean square of the map; None to compute it from the rate.

    Examples
    --------
    >>> import torch
    >>> round(LocalizedMSE(scale=0.5).density(torch.tensor([3.0, -1.0])).tolist()[0], 3)
    1.5
    """

    prefix: ClassVar[str] = "mse"

    kind: Literal["mse"] = "mse"
    scale: PositiveFloat | None = None

    def resolve(self, labels: Iterable[Labels], *, stride: int) -> Self:
        """Return a copy with reference spacing, rate and the scale of the map."""
        listed = [*labels]
        resolved = super().resolve(listed, stride=stride)
        if not self.prior or self.scale is not None:
            return resolved
        period = common_period(listed)
        first, weights = self.kernel.weights(period)
        reach = -(-max(-first, first + len(weights)) // stride) * stride
        centre = np.array([reach + stride // 2])
        around = Crop(0, 2 * reach + stride, stride)
        event_map = targets.event_maps([centre], self.kernel, around, period=period)
        scale = math.sqrt(resolved.known_rate() * float((event_map**2).sum()))
        return resolved.replace(scale=scale)

    def exact_target(self, labels: Labels, crop: Crop) -> Floats:
        """Return the scaled proximity map."""
        maps = targets.event_maps(labels.events, self.kernel, crop, period=labels.period)
        return maps / self._scale()

    def density(self, logits: Tensor) -> Tensor:
        """Return the proximity to an event, one at its peak."""
        return (at_least_single(logits) * self._scale()).clamp(min=0)

    def export(self, graph: Graph, logits: str) -> str:
        scaled = graph.add("Mul", logits, graph.constant(self._scale(), np.float32))
        return graph.add("Relu", scaled)

    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the squared error of every bin and output."""
        return (at_least_single(logits) - target) ** 2

    def _scale(self) -> float:
        if not self.prior:
            return 1.0
        if self.scale is None:
            raise ConfigError(f"{self!r} has no scale yet: call resolve first")
        return self.scale
