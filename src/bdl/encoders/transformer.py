"""Self-attention encoders: offline, causal, and causal with a local convolution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from bdl.encoders.encoder import DEEPEST, WIDEST, Encoder

if TYPE_CHECKING:
    from bdl.encoders.networks.transformer import TransformerEncoder


LONGEST = 1 << 14  # bins of a context


class Transformer(Encoder):
    """A self-attention encoder with sinusoidal positions.

    Parameters
    ----------
    width
        Numbers per bin inside the encoder; even, a multiple of ``heads``.
    layers
        Number of layers.
    heads
        Attention heads per layer.
    feedforward
        Hidden width of the feed-forward part of a layer; four times the width if None.
    dropout
        Probability with which numbers of the residual branches are dropped in training.
    causal
        Attention covers no later bin.
    local_convolution
        Add a causal depthwise convolution of ``kernel`` bins to the attention.
    kernel
        Bins that the local convolution covers.
    context
        Bins that the attention of a causal encoder covers, the current one included; None for all
        so far. With a context, positions are relative, and the encoder can run on a stream.

    Examples
    --------
    >>> module = Transformer().build(inputs=8, outputs=2, calendar=True)
    >>> sum(p.numel() for p in module.parameters())
    201602
    """

    kind: Literal["transformer"] = "transformer"
    width: int = Field(default=64, ge=2, le=WIDEST)
    layers: int = Field(default=4, ge=1, le=DEEPEST)
    heads: int = Field(default=4, ge=1, le=DEEPEST)
    feedforward: int | None = Field(default=None, ge=1, le=WIDEST)
    dropout: float = Field(default=0.1, ge=0, lt=1)
    causal: bool = False
    local_convolution: bool = False
    kernel: int = Field(default=15, ge=2, le=WIDEST)
    context: int | None = Field(default=None, ge=2, le=LONGEST)

    @model_validator(mode="after")
    def _check_width(self) -> Self:
        if self.width % self.heads or self.width % 2:
            raise ValueError(
                f"width must be even and a multiple of heads, got {self.width} and {self.heads}"
            )
        if self.context is not None and not self.causal:
            raise ValueError("context is for a causal encoder: set causal as well")
        if not self.local_convolution:
            self.refuse(("kernel",), "without local_convolution")
        return self

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        return {
            "transformer-large": {"width": 128, "layers": 6, "heads": 8},
            "causal-transformer": {"causal": True},
            "local-causal-transformer": {"causal": True, "local_convolution": True},
        }

    @property
    def has_flat_state(self) -> bool:
        return self.context is not None

    def forward(self) -> Self:
        return self.replace(causal=True)

    def tile(self, window: int) -> int:
        """The training window: later positions were not trained, and attention costs its square."""
        return max(window, 2)

    def seconds_per_bin(self, window: int) -> float:
        """Rough core-seconds of a training pass per bin, in proportion to the window."""
        window = min(window, self.context or window)
        seconds = 7e-4 * (self.layers * self.width * window) / (4 * 64 * 12_096)
        return 0.6 * seconds if self.causal else seconds

    def tiny(self) -> Self:
        width = max(self.width // 8 // 4 * 4, 4)
        return self.replace(width=width, layers=1, heads=2, feedforward=None)

    def build(self, inputs: int, outputs: int, calendar: bool) -> TransformerEncoder:
        from bdl.encoders.networks.transformer import TransformerEncoder

        return TransformerEncoder(self, inputs, outputs, calendar)

    def _not_exported(self) -> str:
        return (
            "attention of a Transformer over all bins needs memory that grows with the square of "
            "their number in ONNX operators; export a recurrent encoder, a U-Net or trees"
        )
