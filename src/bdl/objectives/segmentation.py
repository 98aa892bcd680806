"""Samplewise segmentation of intervals."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, NonNegativeFloat, PositiveFloat, model_validator

from bdl import targets
from bdl.arrays import Floats
from bdl.boosting import TreeLoss
from bdl.density import DensityKind
from bdl.errors import ConfigError, InputError
from bdl.intervals import IntervalType
from bdl.labels import Labels
from bdl.objectives.objective import BernoulliObjective, at_least_single
from bdl.targets import Crop

if TYPE_CHECKING:
    from torch import Tensor

# Fields that only one weighting uses.
_USED_BY = {"cap": "class", "alpha": "focal", "gamma": "focal"}


class Segmentation(BernoulliObjective):
    r"""Cross-entropy on interval occupancy; a decoder finds intervals in the state afterwards.

    Parameters
    ----------
    weighting
        ``none``; ``class``, positives weighted by the ratio of negatives to positives in the
        training data, between 1 / ``cap`` and ``cap``; or ``focal``,
        :math:`-\alpha\,t\,(1-p)^\gamma\log p - (1-\alpha)(1-t)\,p^\gamma\log(1-p)`.
    cap
        Largest class weight (weighting ``class``).
    alpha, gamma
        Parameters of the focal loss (weighting ``focal``).
    ratio
        Class ratio of each interval type; None to learn it from training labels.

    Examples
    --------
    >>> import torch
    >>> Segmentation().density(torch.zeros(1)).item()
    0.5
    """

    density_kind: ClassVar[DensityKind] = "state"
    needs_intervals: ClassVar[bool] = True

    kind: Literal["segmentation"] = "segmentation"
    weighting: Literal["none", "class", "focal"] = "none"
    cap: Annotated[float, Field(ge=1)] = 100.0
    alpha: Annotated[float, Field(ge=0, le=1)] = 0.25
    gamma: NonNegativeFloat = 2.0
    ratio: tuple[PositiveFloat, ...] | None = None

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        """One name per weighting."""
        return {
            "seg-ce": {"weighting": "none"},
            "seg-weighted": {"weighting": "class"},
            "seg-focal": {"weighting": "focal"},
        }

    @model_validator(mode="after")
    def _used(self) -> Self:
        for name, weighting in _USED_BY.items():
            changed = getattr(self, name) != type(self).model_fields[name].default
            if changed and self.weighting != weighting:
                raise ValueError(f"{name} has no effect with weighting {self.weighting!r}")
        return self

    def outputs(
        self, types: Sequence[str], intervals: Sequence[IntervalType] = ()
    ) -> tuple[str, ...]:
        """Return the interval names."""
        if not intervals:
            raise ConfigError(
                "segmentation needs interval types (intervals: in bdl.yaml, or intervals=): name, "
                "onset and offset; for point events there is EventClassifier (--objective "
                "classifier)"
            )
        return tuple(interval.name for interval in intervals)

    def resolve(self, labels: Iterable[Labels], *, stride: int) -> Self:
        """Return a copy with class ratios, if not given."""
        listed = [*labels]
        sizes = [[np.diff(spans).sum() for spans in recording.intervals] for recording in listed]
        inside = np.array(sizes, dtype=float).sum(axis=0)
        if not inside.size or not (inside > 0).all():
            raise InputError(
                "segmentation needs at least one paired interval of every type in the training "
                f"part; samples inside intervals by type: {inside.tolist()}"
            )
        if self.ratio is not None:
            return self
        total = sum(recording.samples for recording in listed)
        ratio = np.clip((total - inside) / inside, 1 / self.cap, self.cap)
        return self.replace(ratio=tuple(ratio.tolist()))

    def exact_target(self, labels: Labels, crop: Crop) -> Floats:
        """Return the share of each bin inside intervals."""
        return targets.occupancy(labels.intervals, crop)

    @property
    def tree_loss(self) -> TreeLoss | None:
        return "bernoulli" if self.weighting == "none" else None

    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Return the weighted cross-entropy of every bin and output."""
        import torch
        from torch.nn import functional as F

        z = at_least_single(logits)
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
