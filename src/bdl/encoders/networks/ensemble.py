"""The mean density of several modules."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import add, mul
from typing import Any

import torch
from torch import Tensor, nn

from bdl.encoders.fused.elementwise import elementwise
from bdl.encoders.networks.module import DeclaredModule, Maybe, capabilities


class EnsembleEncoder(DeclaredModule):
    """Module of `bdl.encoders.Ensemble`: the weighted mean of its members' densities.

    ``link`` turns logits of members into densities; `bdl.detector.model.Model.build` sets it to
    that of the objective.
    """

    gives_density = True

    def __init__(
        self, members: Sequence[nn.Module], weights: Sequence[float], fixed_bins: int | None
    ) -> None:
        super().__init__()
        self.members = nn.ModuleList(members)
        # Members that all carry a state run tile by tile.
        self.causal = all(capabilities(member).carries_state for member in members)
        self.weights = [weight / sum(weights) for weight in weights]
        self.fixed_bins = fixed_bins
        self.link: Callable[[Tensor], Tensor] = torch.nn.functional.softplus

    def forward(
        self, values: Tensor, hour: Maybe = None, weekday: Maybe = None, mask: Maybe = None
    ) -> Tensor:
        """Densities (batch, bins, outputs)."""
        return self._mean([member(values, hour, weekday, mask) for member in self.members])

    @property
    def batchable(self) -> bool:
        """Whether the outputs of an item are the same, bit for bit, alone and in a padded batch."""
        return not self.causal and all(capabilities(member).batchable for member in self.members)

    def initial_state(self, batch: int) -> tuple[Any, ...]:
        """State of each member before the first bin."""
        return tuple(member.initial_state(batch) for member in self.members)  # type: ignore[operator]

    def step(
        self, values: Tensor, state: tuple[Any, ...], hour: Maybe = None, weekday: Maybe = None
    ) -> tuple[Tensor, tuple[Any, ...]]:
        """Densities of the next tile, and the members' states after it."""
        outputs, states = [], []
        for member, before in zip(self.members, state, strict=True):
            output, after = member.step(values, before, hour, weekday)  # type: ignore[operator]
            outputs.append(output)
            states.append(after)
        return self._mean(outputs), tuple(states)

    def _mean(self, outputs: Sequence[Tensor]) -> Tensor:
        densities = (
            output if capabilities(member).gives_density else elementwise(self.link, output)
            for member, output in zip(self.members, outputs, strict=True)
        )
        mean: Tensor = reduce(add, map(mul, self.weights, densities))
        return mean


def members_of(module: nn.Module) -> Sequence[nn.Module]:
    """Return the members of an ensemble, or any other module as the only one."""
    return [*module.members] if isinstance(module, EnsembleEncoder) else [module]
