"""Gradient-boosted trees on statistics of windows around each bin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt

from bdl.encoders.encoder import DEEPEST, LONGEST, WIDEST, Encoder
from bdl.errors import ConfigError

if TYPE_CHECKING:
    from torch import nn

    from bdl.encoders.networks.trees import TreeEncoder
    from bdl.onnx_graph import EncoderInputs, Graph, Weights
    from bdl.training.history import TrainingResult
    from bdl.training.task import TrainingTask

Share = Annotated[float, Field(gt=0, le=1)]


class Trees(Encoder):
    """Boosted trees that read means and spreads of windows before and after each bin.

    The trees are fitted by LightGBM on the objective's own targets: with a Poisson loss on event
    mass, with a Bernoulli loss where the density is a probability. No density is above the largest
    target of a bin in training, or above one event if that is more. They see bins near events
    and a weighted sample of the others. Checkpoints of a training with ``epochs`` epochs are
    the first trees in proportion: after half of the epochs, half of the trees.

    Parameters
    ----------
    widths
        Window widths in bins, on each side of a bin.
    trees
        Number of trees per output.
    leaves
        Largest number of leaves per tree.
    learning_rate
        Factor on the values of each tree.
    columns_per_tree, rows_per_tree
        Share of columns and rows that each tree is fitted on.
    least_rows
        Smallest number of rows in a leaf.
    rows
        Rows to fit on: up to half of them bins near events, then a weighted sample of the others.
        Bins with event mass are all taken, up to 16 times this number; of more there is a sample.
    causal
        Use windows that end at the bin itself.
    statistics
        Statistics per channel of the input; taken from the features. They include mean and std.

    Examples
    --------
    >>> Trees(causal=True).causal
    True
    """

    fine_tunes: ClassVar[bool] = False
    training_fields: ClassVar[frozenset[str] | None] = frozenset(
        {"epochs", "updates", "budget", "checkpoint_epochs", "checkpoints", "stop_after", "seed"}
        | {"accelerator", "devices", "workers"}  # where to train: it changes no result
    )

    kind: Literal["trees"] = "trees"
    widths: Annotated[
        tuple[Annotated[int, Field(ge=1, le=LONGEST)], ...],
        Field(min_length=1, max_length=DEEPEST),
    ] = (1, 2, 4, 8, 16, 32, 64, 128)
    trees: Annotated[int, Field(ge=1, le=WIDEST)] = 200
    leaves: Annotated[int, Field(ge=2, le=WIDEST)] = 31
    learning_rate: PositiveFloat = 0.1
    columns_per_tree: Share = 0.3
    rows_per_tree: Share = 0.7
    least_rows: PositiveInt = 20
    rows: PositiveInt = 50_000
    causal: bool = False
    statistics: tuple[str, ...] | None = None

    def forward(self) -> Self:
        return self.replace(causal=True)

    def complete(self, statistics: Sequence[str]) -> Self:
        missing = {"mean", "std"} - {*statistics}
        if missing:
            raise ConfigError(
                f"trees read the mean and the std of each bin; features.statistics has no "
                f"{' and no '.join(sorted(missing))}"
            )
        return self.replace(statistics=tuple(statistics))

    def seconds_per_bin(self, window: int) -> float:
        """Rough core-seconds per bin; the cost follows the sampled rows, so this is generous."""
        return 1e-5

    def tiny(self) -> Self:
        return self.replace(trees=min(self.trees, 10), widths=self.widths[:3], rows=5_000)

    def build(self, inputs: int, outputs: int, calendar: bool) -> TreeEncoder:
        from bdl.encoders.networks.trees import TreeEncoder

        return TreeEncoder(self, inputs, outputs, calendar)

    def train(self, module: nn.Module, task: TrainingTask) -> TrainingResult:
        """Fit the trees; an interrupted fit, which takes seconds, starts from the beginning."""
        from bdl.encoders.networks.tree_fitting import fit_tree_encoder
        from bdl.encoders.networks.trees import TreeEncoder

        assert isinstance(module, TreeEncoder)
        return fit_tree_encoder(module, task)

    def fine_tune(self, module: nn.Module, task: TrainingTask) -> TrainingResult:
        """Raise an error: trees are fitted at once, so that there is nothing to continue."""
        raise ConfigError(
            "boosted trees cannot be fine-tuned: fit them again, or start from a model with a "
            "network (in an ensemble, trees keep what they have learned)"
        )

    def export(
        self, graph: Graph, weights: Weights, inputs: EncoderInputs, prefix: str = ""
    ) -> str:
        from bdl.encoders.graphs.trees import tree_density

        if not len(weights["root_0"]):
            raise ConfigError("export: the encoder has no trees: it was not fitted")
        return tree_density(graph, self, weights, inputs, prefix)
