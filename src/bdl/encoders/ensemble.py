"""Several encoders whose densities are averaged."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial, reduce
from typing import TYPE_CHECKING, Annotated, Any, Literal, Self

from pydantic import Field, NonNegativeFloat, model_validator

from bdl.encoders.encoder import DEEPEST, Encoder

if TYPE_CHECKING:
    from torch import nn

    from bdl.encoders.networks.ensemble import EnsembleEncoder
    from bdl.onnx_graph import EncoderInputs, Graph, Weights
    from bdl.training.history import TrainingResult
    from bdl.training.task import TrainingTask


class Ensemble(Encoder):
    """Several encoders, each trained with its own seed; the density is their weighted mean.

    Densities of all members have the same unit, expected events per bin, so that they can be
    averaged for any members.

    Parameters
    ----------
    members
        Encoders: values or names of `bdl.encoders`. The same one may occur several times.
    weights
        Weight of each member in the mean; none for equal weights.

    Examples
    --------
    >>> Encoder.parse("gru-and-trees").members[1].kind
    'trees'
    """

    kind: Literal["ensemble"] = "ensemble"
    members: Annotated[tuple[Encoder, ...], Field(min_length=1, max_length=DEEPEST)]
    weights: tuple[NonNegativeFloat, ...] | None = None

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        return {
            "gru-and-trees": {"members": ("gru", "trees")},
            "three-grus-and-trees": {
                "members": ("gru", "gru", "gru", "trees"),
                "weights": (1.0, 1.0, 1.0, 2.0),
            },
        }

    @model_validator(mode="after")
    def _weighted(self) -> Self:
        if self.weights is not None and len(self.weights) != len(self.members):
            raise ValueError(f"{len(self.weights)} weights for {len(self.members)} members")
        if self.weights is not None and not sum(self.weights):
            raise ValueError("at least one weight above 0 expected")
        return self

    @property
    def parts(self) -> tuple[Encoder, ...]:
        return self.members

    @property
    def shares(self) -> tuple[float, ...]:
        return self.weights or (1.0,) * len(self.members)

    @property
    def distinct(self) -> Self:
        """The ensemble with each distinct member once, which has the weight of all its copies.

        Examples
        --------
        >>> Encoder.parse("three-grus-and-trees").distinct.weights
        (3.0, 2.0)
        """
        totals = dict.fromkeys(self.members, 0.0)
        for member, weight in zip(self.members, self.shares, strict=True):
            totals[member] += weight
        return self.replace(members=tuple(totals), weights=tuple(totals.values()))

    def _each(self, change: Callable[[Encoder], Encoder]) -> Self:
        """The ensemble of the changed members."""
        return self.replace(members=tuple(change(member) for member in self.members))

    @property
    def causal(self) -> bool:
        """Whether no output of any member depends on a later bin."""
        return all(member.causal for member in self.members)

    @property
    def has_flat_state(self) -> bool:
        return all(member.has_flat_state for member in self.members)

    def forward(self) -> Self:
        return self._each(lambda member: member.forward())

    @property
    def fixed_bins(self) -> int | None:
        return next((member.fixed_bins for member in self.members if member.fixed_bins), None)

    def with_bins(self, bins: int) -> Self:
        return self._each(lambda member: member.with_bins(bins))

    def complete(self, statistics: Sequence[str]) -> Self:
        return self._each(lambda member: member.complete(statistics))

    def tile(self, window: int) -> int:
        return min(member.tile(window) for member in self.members)

    def seconds_per_bin(self, window: int) -> float:
        return sum(member.seconds_per_bin(window) for member in self.members)

    def tiny(self) -> Self:
        return self._each(lambda member: member.tiny())

    def build(self, inputs: int, outputs: int, calendar: bool) -> EnsembleEncoder:
        import torch

        from bdl.encoders.networks.ensemble import EnsembleEncoder

        seed, modules = torch.initial_seed(), []
        with torch.random.fork_rng():
            for j, member in enumerate(self.members):
                torch.manual_seed(seed + j)
                modules.append(member.build(inputs, outputs, calendar))
        return EnsembleEncoder(modules, self.shares, self.fixed_bins)

    def train(self, module: nn.Module, task: TrainingTask) -> TrainingResult:
        """Train each member with a seed and a folder of its own, in `Training.workers` processes.

        Member ``j`` has the seed plus ``j`` and the folder ``member-j``. Scores are those of the
        whole ensemble, whose members are at the same epoch.
        """
        trainings = {j: member.train for j, member in enumerate(self.members)}
        return self._train_members(module, task, trainings)

    def fine_tune(self, module: nn.Module, task: TrainingTask) -> TrainingResult:
        """Train the networks among the members further; trees keep what they have learned."""
        members = enumerate(self.members)
        trainings = {j: member.fine_tune for j, member in members if member.fine_tunes}
        if not trainings:
            return self.members[0].fine_tune(module, task)  # raises an error with the reason
        return self._train_members(module, task, trainings)

    def _train_members(
        self,
        module: nn.Module,
        task: TrainingTask,
        trainings: Mapping[int, Callable[[nn.Module, TrainingTask], TrainingResult]],
    ) -> TrainingResult:
        """Run the trainings of some members; the others do not change."""
        from bdl.encoders.networks.ensemble import EnsembleEncoder

        assert isinstance(module, EnsembleEncoder)
        combined = task.start()
        results = task.run_all(
            [partial(train, module.members[j], task.member(j)) for j, train in trainings.items()]
        )
        before = {name: value.clone() for name, value in module.state_dict().items()}
        for epoch in task.length.kept:
            weights = before | {
                f"members.{j}.{name}": value
                for j, result in zip(trainings, results, strict=True)
                for name, value in result.checkpoints[epoch].items()
            }
            module.load_state_dict(weights)
            rows = [row for result in results for row in result.history if row.epoch == epoch]
            task.keep(
                combined,
                module,
                weights=weights,
                epoch=epoch,
                steps=sum(row.steps for row in rows),
                loss=sum(row.loss for row in rows) / len(rows),
                learning_rate=rows[0].learning_rate,
                seconds=sum(row.seconds for row in rows),
            )
        return combined

    def export(
        self, graph: Graph, weights: Weights, inputs: EncoderInputs, prefix: str = ""
    ) -> str:
        import numpy as np

        from bdl.onnx_graph import part_of

        def weighted(j: int) -> str:
            member_weights = part_of(weights, f"members.{j}.")
            density = self.members[j].export(graph, member_weights, inputs, f"{prefix}member{j}.")
            share = self.shares[j] / sum(self.shares)
            return graph.add("Mul", density, graph.constant(share, np.float32))

        return reduce(partial(graph.add, "Add"), map(weighted, range(len(self.members))))
