"""What all objectives share: outputs, resolving, and the masked mean of their scores."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Self

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from bdl.config import Value
from bdl.density import Kind
from bdl.errors import InputError
from bdl.events import IntervalType
from bdl.labels import Labels

Target = NDArray[np.float32]


class Base(Value):
    """What all objectives share; the parts differ."""

    density_kind: ClassVar[Kind] = "events"
    bounded: ClassVar[bool] = False

    def outputs(
        self, types: Sequence[str], intervals: Sequence[IntervalType] = ()
    ) -> tuple[str, ...]:
        """Name of each output column: event types, or interval names for segmentation."""
        return tuple(types)

    def resolve(self, labels: Iterable[Labels], *, stride: int) -> Self:
        """A copy in which everything learned from training labels is filled in."""
        return self

    def target(self, labels: Labels, *, stride: int, first: int, samples: int) -> Target:
        """Target of the crop ``[first, first + samples)``: (bins, outputs) float32."""
        return self._target(labels, stride, first, samples).astype(np.float32)

    def loss(self, logits: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
        """Mean score over the bins that count.

        Parameters
        ----------
        logits, target : (batch, bins, outputs).
        mask : True where a bin counts: (batch, bins) or (batch, bins, outputs). A batch in which
            nothing counts has loss zero.
        """
        if mask is None:
            return self.scores(logits, target).mean()
        if mask.ndim == logits.ndim - 1:
            mask = mask.unsqueeze(-1)
        mask = mask.expand_as(logits)
        # What is masked may be NaN, and a NaN times zero is one in the gradient too: it is
        # replaced before it is scored, and its score afterwards.
        none = logits.new_zeros(())
        scores = self.scores(torch.where(mask, logits, none), torch.where(mask, target, none))
        return torch.where(mask, scores, scores.new_zeros(())).sum() / mask.sum().clamp(min=1)

    @abstractmethod
    def _target(
        self, labels: Labels, stride: int, first: int, samples: int
    ) -> NDArray[np.float64]: ...

    @abstractmethod
    def density(self, logits: Tensor) -> Tensor:
        """What the logits mean, in the unit of the density."""

    @abstractmethod
    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Loss of every bin and output, not reduced."""


def estimated_spacing(labels: Iterable[Labels]) -> float:
    """Recorded seconds for each event of a type, averaged over types, of training labels.

    >>> estimated_spacing([Labels("a", 2.0, 500, (np.array([3, 9]), np.array([7, 8])))])
    500.0
    """
    listed = [*labels]
    events = sum(len(places) for one in listed for places in one.events)
    columns = len(listed[0].events) if listed else 0
    if events == 0:
        raise InputError(
            "no events in the training part: there is nothing to learn, and no spacing of events "
            "to estimate; check recording ids and event types"
        )
    return sum(one.samples * one.period for one in listed) * columns / events


def one_period(labels: Sequence[Labels]) -> float:
    """The sampling period that all labels share, in seconds.

    >>> one_period([Labels("a", 2.0, 500, ()), Labels("b", 2.0, 90, ())])
    2.0
    """
    periods = {one.period for one in labels}
    if len(periods) != 1:
        raise InputError(
            f"one training part needs recordings of one sampling period, got {sorted(periods)} s"
        )
    return periods.pop()


def full(logits: Tensor) -> Tensor:
    """At least single precision: half precision cannot hold a sparse rate.

    >>> full(torch.zeros(1, dtype=torch.bfloat16)).dtype
    torch.float32
    """
    return logits if logits.dtype == torch.float64 else logits.float()
