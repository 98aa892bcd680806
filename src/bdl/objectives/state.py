"""Samplewise objectives: segmentation of intervals, and its counterpart for point events."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field, NonNegativeFloat, PositiveFloat
from torch import Tensor
from torch.nn import functional as F

from bdl import targets
from bdl.density import Kind
from bdl.errors import ConfigError, InputError
from bdl.events import IntervalType
from bdl.labels import Labels
from bdl.objectives.base import Base, estimated_spacing, full


class Segmentation(Base):
    r"""Cross-entropy on interval occupancy; intervals are found in the state afterwards.

    Parameters
    ----------
    weighting : ``none``; ``class``, positives weighted by the ratio of negatives to positives in
        the training data, at most ``cap`` and at least its inverse; or ``focal``,
        :math:`-\alpha\,t\,(1-p)^\gamma\log p - (1-\alpha)(1-t)\,p^\gamma\log(1-p)`.
    cap, alpha, gamma : their parameters.
    ratio : the class ratio of each interval type; filled by `resolve`.

    >>> Segmentation().density(torch.zeros(1)).item()
    0.5
    """

    kind: Literal["segmentation"] = "segmentation"
    density_kind: ClassVar[Kind] = "state"
    bounded: ClassVar[bool] = True
    weighting: Literal["none", "class", "focal"] = "none"
    cap: Annotated[float, Field(ge=1)] = 100.0
    alpha: Annotated[float, Field(ge=0, le=1)] = 0.25
    gamma: NonNegativeFloat = 2.0
    ratio: tuple[PositiveFloat, ...] | None = None

    def outputs(
        self, types: Sequence[str], intervals: Sequence[IntervalType] = ()
    ) -> tuple[str, ...]:
        """Name of each output column: the interval names."""
        if not intervals:
            raise ConfigError(
                "segmentation needs interval types (name, onset, offset); for point events take "
                "EventClassifier"
            )
        return tuple(interval.name for interval in intervals)

    def resolve(self, labels: Iterable[Labels], *, stride: int) -> Self:
        """A copy that knows its class ratios."""
        listed = [*labels]
        inside = np.array(
            [[(s[:, 1] - s[:, 0]).sum() for s in one.intervals] for one in listed], dtype=float
        ).sum(axis=0)
        if not inside.size or not (inside > 0).all():
            raise InputError(
                "segmentation needs at least one paired interval of every type in the training "
                f"part; inside samples by type: {inside.tolist()}"
            )
        total = sum(one.samples for one in listed)
        ratio = np.clip((total - inside) / inside, 1 / self.cap, self.cap)
        return self.replace(ratio=tuple(ratio.tolist()))

    def _target(self, labels: Labels, stride: int, first: int, samples: int) -> NDArray[np.float64]:
        return targets.occupancy(labels.intervals, stride=stride, first=first, samples=samples)

    def density(self, logits: Tensor) -> Tensor:
        """Probability that the bin lies in an interval."""
        return torch.sigmoid(full(logits))

    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Cross-entropy of every bin and output, weighted."""
        z = full(logits)
        if self.weighting == "focal":
            p = torch.sigmoid(z)
            positive = self.alpha * target * (1 - p) ** self.gamma * F.logsigmoid(z)
            negative = (1 - self.alpha) * (1 - target) * p**self.gamma * F.logsigmoid(-z)
            return -(positive + negative)
        weight = None
        if self.weighting == "class":
            if self.ratio is None:
                raise ConfigError("class weights are not known yet: call resolve first")
            weight = torch.tensor(self.ratio, dtype=z.dtype, device=z.device)
        return F.binary_cross_entropy_with_logits(z, target, pos_weight=weight, reduction="none")


class EventClassifier(Base):
    """Samplewise classifier of point events: cross-entropy on one in the event's bin.

    The segmentation of what has no duration: no prior, no kernel, peaks of probability.

    >>> EventClassifier().density(torch.zeros(1)).item()
    0.5
    """

    kind: Literal["classifier"] = "classifier"
    bounded: ClassVar[bool] = True

    def resolve(self, labels: Iterable[Labels], *, stride: int) -> Self:
        """Nothing to fill in; only that there are events at all is made sure of."""
        estimated_spacing(labels)
        return self

    def _target(self, labels: Labels, stride: int, first: int, samples: int) -> NDArray[np.float64]:
        return targets.event_points(labels.events, stride=stride, first=first, samples=samples)

    def density(self, logits: Tensor) -> Tensor:
        """Probability of an event in the bin."""
        return torch.sigmoid(full(logits))

    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Cross-entropy of every bin and output."""
        return F.binary_cross_entropy_with_logits(full(logits), target, reduction="none")
