"""The mean density of several modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from torch import Tensor, nn

from bdl.encoders.networks.module import Maybe


class EnsembleEncoder(nn.Module):
    """Module of `bdl.encoders.Ensemble`: the weighted mean of its members' densities.

    ``link`` turns logits of members into densities; `bdl.detector.model.Model.build` sets it to
    that of the objective.
    """

    gives_density = True
    causal = False  # no state is carried from tile to tile

    def __init__(
        self, members: Sequence[nn.Module], weights: Sequence[float], fixed_bins: int | None
    ) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        self.weights = [weight / sum(weights) for weight in weights]
        self.fixed_bins = fixed_bins
        self.link: Callable[[Tensor], Tensor] = torch.nn.functional.softplus

    def forward(
        self, values: Tensor, hour: Maybe = None, weekday: Maybe = None, mask: Maybe = None
    ) -> Tensor:
        """Densities (batch, bins, outputs)."""
        total: Tensor | None = None
        for weight, member in zip(self.weights, self.members, strict=True):
            density = member(values, hour, weekday, mask)
            if not getattr(member, "gives_density", False):
                density = self.link(density)
            total = weight * density if total is None else total + weight * density
        assert total is not None
        return total
