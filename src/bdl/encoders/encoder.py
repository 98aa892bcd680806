"""The family of encoders: how an encoder describes itself.

To add an encoder, write one file with a subclass of `Encoder` that has a ``kind`` and the methods
``build`` and ``causal``, and ``train`` if it is not trained by gradient descent; the file may hold
the torch module as well. The encoders of this package keep their modules in
``bdl.encoders.networks``, so that a protocol or a model file is read without importing torch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from bdl.errors import ConfigError
from bdl.registry import Variant

if TYPE_CHECKING:
    from torch import nn

    from bdl.onnx_graph import EncoderInputs, Graph, Weights
    from bdl.training.history import TrainingResult
    from bdl.training.task import TrainingTask

# Limits of the width, the layers and the bins at once of any encoder, so that a configuration from
# outside cannot exhaust the memory before it is compared with its weights.
WIDEST, DEEPEST, LONGEST = 1 << 16, 1_000, 1 << 24
CARRIED = 1 << 13  # bins that a causal encoder processes at a time
WHOLE = 1 << 17  # bins that pass through a module at once: 75 days of the sleep benchmark


class Encoder(Variant):
    """A sequence model, described by its settings.

    A variant must define ``causal`` (a field or a property, True if no output depends on a later
    bin) and ``build``. Everything else has a default that it may override.

    Examples
    --------
    >>> Encoder.names()[2:6]
    ('recurrent', 'gru', 'chbmit-gru', 'forward-gru')
    """

    package: ClassVar[str] = "bdl.encoders"
    fine_tunes: ClassVar[bool] = True
    """Whether a trained module can be trained further."""
    training_fields: ClassVar[frozenset[str] | None] = None
    """Fields of `bdl.training.Training` that its training uses; None for all."""

    if TYPE_CHECKING:  # pydantic allows no field of this name in a variant if it exists here

        @property
        def causal(self) -> bool: ...

    @classmethod
    def parse(cls, given: object, what: str | None = None) -> Self:
        """As `Variant.parse`; a user's torch module becomes a `Custom` encoder."""
        if hasattr(given, "state_dict"):  # a torch module; torch itself may not be installed
            return super().parse({"kind": "custom", "module": given}, what)
        return super().parse(given, what)

    @property
    def parts(self) -> tuple[Encoder, ...]:
        """The encoders whose densities are averaged: itself, unless it is an ensemble."""
        return (self,)

    @property
    def shares(self) -> tuple[float, ...]:
        """Weight of each of the parts in the mean."""
        return (1.0,)

    @property
    def distinct(self) -> Encoder:
        """The encoder with each part once, which has the weight of all its copies."""
        return self

    def uses(self, field: str) -> bool:
        """Whether the training of any part uses a field of `bdl.training.Training`."""
        fields = [part.training_fields for part in self.parts]
        return any(names is None or field in names for names in fields)

    @property
    def fixed_bins(self) -> int | None:
        """The only window length in bins that the module accepts; None if it accepts any."""
        return None

    @property
    def has_flat_state(self) -> bool:
        """Whether the state that a causal encoder carries has a constant size."""
        return True

    def forward(self) -> Encoder:
        """Return the form of this encoder that reads no later bin; itself if there is none."""
        return self

    def with_bins(self, bins: int) -> Self:
        """The encoder for windows of ``bins`` bins; only one of fixed length differs."""
        return self

    def complete(self, statistics: Sequence[str]) -> Self:
        """Return a copy that knows the statistics per channel that it reads."""
        return self

    def tile(self, window: int) -> int:
        """Largest number of bins for inference at once, after training on ``window`` bins."""
        return max(window, WHOLE)

    def seconds_per_bin(self, window: int) -> float:
        """Rough core-seconds of a training pass, per bin of windows of ``window`` bins.

        Measured once on one core of a server: an order of magnitude, minutes rather than weeks.
        """
        return 2e-5

    def tiny(self) -> Self:
        """A version that trains in seconds, for trying out a study."""
        return self

    def build(self, inputs: int, outputs: int, calendar: bool) -> nn.Module:
        """A new module with random weights from torch's generator.

        Parameters
        ----------
        inputs
            Numbers per bin.
        outputs
            Logits per bin.
        calendar
            Whether hour of day and weekday are given as well.
        """
        raise NotImplementedError(f"{type(self).__name__} does not define build")

    def train(self, module: nn.Module, task: TrainingTask) -> TrainingResult:
        """Train a module of this encoder in place, by default by gradient descent.

        Parameters
        ----------
        module
            A module that `build` made.
        task
            What it is trained on and how. An encoder with a training of its own gets its result
            from ``task.start()`` and adds to it by ``task.keep(result, module, ...)`` for each
            epoch of ``task.length.kept``.
        """
        return task.by_gradient(module)

    def fine_tune(self, module: nn.Module, task: TrainingTask) -> TrainingResult:
        """Continue the training of a trained module, by default by gradient descent.

        Parameters
        ----------
        module
            A trained module of this encoder.
        task
            As for `train`.
        """
        return task.by_gradient(module)

    def export(
        self, graph: Graph, weights: Weights, inputs: EncoderInputs, prefix: str = ""
    ) -> str:
        """Add the trained encoder to an ONNX graph and return the name of its density.

        A causal encoder declares its state by ``graph.state`` and ``graph.carry``; any other one
        gets all bins at once. An encoder that cannot be exported keeps this method.

        Parameters
        ----------
        graph
            The graph.
        weights
            Weights of the module by name.
        inputs
            What it reads, and how logits become a density.
        prefix
            What the names of its states begin with.
        """
        raise ConfigError(f"export: {self._not_exported()}")

    def _not_exported(self) -> str:
        """Return why the encoder cannot be exported."""
        return f"the encoder {self.kind!r} has no form in ONNX operators"
