"""The family of objectives, and what its members share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np

from bdl.arrays import Floats, Singles
from bdl.boosting import TreeLoss
from bdl.density import DensityKind
from bdl.errors import ConfigError
from bdl.intervals import IntervalType
from bdl.labels import Labels
from bdl.registry import Variant
from bdl.targets import Crop

# Torch is imported where tensors are made, so that a study can be read without it.
if TYPE_CHECKING:
    from torch import Tensor

    from bdl.onnx_graph import Graph


class Objective(Variant):
    """Base class of objectives; see `bdl.objectives`."""

    package: ClassVar[str] = "bdl.objectives"
    #: Kind of density that the outputs mean.
    density_kind: ClassVar[DensityKind] = "events"
    #: Whether every value of the density is in [0, 1].
    bounded: ClassVar[bool] = False
    #: Whether interval types (name, onset, offset) are needed.
    needs_intervals: ClassVar[bool] = False

    @property
    def tree_loss(self) -> TreeLoss | None:
        """Loss of boosted trees on the same targets; None if trees have none like it."""
        return None

    def outputs(
        self, types: Sequence[str], intervals: Sequence[IntervalType] = ()
    ) -> tuple[str, ...]:
        """Return the name of each output column.

        Parameters
        ----------
        types
            Event types, in training order.
        intervals
            Interval types, in training order.
        """
        return tuple(types)

    @property
    def candidates(self) -> tuple[Self, ...]:
        """Objectives to choose from on held-out recordings: itself, unless it leaves some open."""
        return (self,)

    def complete(
        self,
        *,
        sigma: float | None = None,
        tolerances: Sequence[float] = (),
        reference_spacing: float | None = None,
    ) -> Self:
        """Return a copy in which fields that are None are filled in from settings.

        Parameters
        ----------
        sigma
            Kernel width in seconds.
        tolerances
            Matching tolerances in seconds.
        reference_spacing
            Mean seconds between events of one type.

        Raises
        ------
        ConfigError
            If a field that the objective needs is still unknown.
        """
        return self

    def resolve(self, labels: Iterable[Labels], *, stride: int) -> Self:
        """Return a copy in which everything that is learned from training labels is filled in.

        Parameters
        ----------
        labels
            Labels of the training recordings.
        stride
            Samples per bin.
        """
        return self

    def at(self, progress: float) -> Self:
        """Return the objective to train with after a share of the training, from 0 to 1."""
        return self

    def target(self, labels: Labels, crop: Crop) -> Singles:
        """Return the target of a crop in single precision, (bins, outputs).

        Parameters
        ----------
        labels
            Annotations of the recording.
        crop
            The part of the recording.
        """
        return self.exact_target(labels, crop).astype(np.float32)

    def loss(self, logits: Tensor, target: Tensor, mask: Tensor | None = None) -> Tensor:
        """Return the mean score over the bins that count.

        Parameters
        ----------
        logits, target
            (batch, bins, outputs).
        mask
            True where a bin counts: (batch, bins) or (batch, bins, outputs). A batch in which
            nothing counts has loss zero.
        """
        if mask is None:
            scores = self.scores(logits, target)
            return _ordered_sum(scores) / scores.numel()
        import torch

        if mask.ndim == logits.ndim - 1:
            mask = mask.unsqueeze(-1)
        mask = mask.expand_as(logits)
        # What is masked may be NaN, and NaN times zero is NaN in the gradient too. It is
        # therefore replaced before scoring, and its score afterwards.
        zero = logits.new_zeros(())
        scores = self.scores(torch.where(mask, logits, zero), torch.where(mask, target, zero))
        scores = torch.where(mask, scores, scores.new_zeros(()))
        return _ordered_sum(scores) / mask.sum().clamp(min=1)

    @abstractmethod
    def exact_target(self, labels: Labels, crop: Crop) -> Floats:
        """Return the target of a crop in double precision, (bins, outputs)."""

    @abstractmethod
    def density(self, logits: Tensor) -> Tensor:
        """Return the density that the logits mean."""

    def export(self, graph: Graph, logits: str) -> str:
        """Add `density` to an ONNX graph and return its name, float32.

        Parameters
        ----------
        graph
            The graph.
        logits
            Name of the logits, float32.
        """
        raise ConfigError(f"export: the objective {self.kind!r} has no form in ONNX operators")

    @abstractmethod
    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the loss of every bin and output, not reduced."""


class BernoulliObjective(Objective):
    """Base class of objectives whose density is a probability: the cross-entropy of a sigmoid."""

    bounded: ClassVar[bool] = True

    @property
    def tree_loss(self) -> TreeLoss | None:
        return "bernoulli"

    def density(self, logits: Tensor) -> Tensor:
        """Return the probability of an event in the bin, or that it is inside an interval."""
        return (at_least_single(logits) + self._shift()).sigmoid()

    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the cross-entropy of every bin and output."""
        from torch.nn import functional as F

        shifted = at_least_single(logits) + self._shift()
        return F.binary_cross_entropy_with_logits(shifted, target, reduction="none")

    def export(self, graph: Graph, logits: str) -> str:
        sigmoid = graph.add("Sigmoid", shifted_logits(graph, logits, self._shift()))
        return graph.cast(sigmoid, np.float32)

    def _shift(self) -> float:
        """Return what is added to the logits."""
        return 0.0


def shifted_logits(graph: Graph, logits: str, shift: float) -> str:
    """Add shifted logits to an ONNX graph, in double precision.

    Single precision would lose the small densities of a softplus, which count over a long
    recording.
    """
    return graph.add("Add", graph.cast(logits, np.float64), graph.constant(shift, np.float64))


def at_least_single(logits: Tensor) -> Tensor:
    """Return logits in single or double precision: half precision cannot hold a sparse rate.

    Examples
    --------
    >>> import torch
    >>> at_least_single(torch.zeros(1, dtype=torch.bfloat16)).dtype
    torch.float32
    """
    import torch

    return logits if logits.dtype == torch.float64 else logits.float()


def _ordered_sum(values: Tensor) -> Tensor:
    """Return the sum of all values, with the same rounding for any number of threads.

    Torch splits a sum to a single number among its threads, but computes the sum of a row in one.

    Examples
    --------
    >>> import torch
    >>> _ordered_sum(torch.ones(2, 3_000)).item()
    6000.0
    """
    from torch.nn.functional import pad

    flat = values.flatten()
    return pad(flat, (0, -len(flat) % 1024)).view(-1, 1024).sum(1).sum()
