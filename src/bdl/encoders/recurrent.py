"""Recurrent encoders: residual blocks of one GRU or LSTM layer and a small feed-forward part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from bdl.encoders.encoder import DEEPEST, WIDEST, Encoder

if TYPE_CHECKING:
    from bdl.encoders.networks.recurrent import RecurrentEncoder
    from bdl.onnx_graph import EncoderInputs, Graph, Weights


class Recurrent(Encoder):
    """A recurrent encoder: blocks of a GRU or LSTM layer and a feed-forward part.

    Parameters
    ----------
    width
        Hidden units per direction.
    blocks
        Number of residual blocks.
    bidirectional
        Read the sequence both ways; if False, the encoder is causal.
    cell
        Recurrent cell, ``gru`` or ``lstm``.
    front
        Bins under a convolution before the recurrence, an odd number of at least 3; 0 for none. In
        a causal encoder it reads the current and earlier bins.
    fused
        Use the package's own CPU kernels where they are faster than torch's.

    Examples
    --------
    >>> sum(p.numel() for p in Recurrent().build(inputs=8, outputs=2, calendar=True).parameters())
    51746
    """

    kind: Literal["recurrent"] = "recurrent"
    width: int = Field(default=32, ge=1, le=WIDEST)
    blocks: int = Field(default=2, ge=1, le=DEEPEST)
    bidirectional: bool = True
    cell: Literal["gru", "lstm"] = "gru"
    front: int = Field(default=0, ge=0, le=WIDEST)
    fused: bool = True

    @model_validator(mode="after")
    def _odd(self) -> Self:
        if self.front and (self.front < 3 or self.front % 2 == 0):
            raise ValueError(f"front is 0 or an odd number of at least 3 bins, got {self.front}")
        return self

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        return {
            "gru": {},
            "chbmit-gru": {"width": 128, "blocks": 3},
            "forward-gru": {"bidirectional": False},
            "forward-lstm": {"bidirectional": False, "cell": "lstm"},
        }

    @property
    def causal(self) -> bool:
        """Whether no output depends on a later bin."""
        return not self.bidirectional

    def forward(self) -> Self:
        return self.replace(bidirectional=False)

    def seconds_per_bin(self, window: int) -> float:
        """Rough core-seconds of training per bin: 7e-6 for ``gru``, 8e-5 for ``chbmit-gru``."""
        layers = self.blocks * (2 if self.bidirectional else 1)
        return float(layers * 1.75e-6 * (self.width / 32) ** 1.5)

    def tiny(self) -> Self:
        """At most 8 units, and one block fewer."""
        return self.replace(width=min(self.width, 8), blocks=max(self.blocks - 1, 1))

    def build(self, inputs: int, outputs: int, calendar: bool) -> RecurrentEncoder:
        from bdl.encoders.networks.recurrent import RecurrentEncoder

        return RecurrentEncoder(self, inputs, outputs, calendar)

    def export(
        self, graph: Graph, weights: Weights, inputs: EncoderInputs, prefix: str = ""
    ) -> str:
        from bdl.encoders.graphs.recurrent import recurrent_logits

        return inputs.link(graph, recurrent_logits(graph, self, weights, inputs, prefix))
