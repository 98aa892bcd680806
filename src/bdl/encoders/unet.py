"""Convolutional encoders: a three-level U-Net, with or without attention at its lowest level."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

from pydantic import Field, model_validator

from bdl.encoders.encoder import DEEPEST, LONGEST, WIDEST, Encoder

if TYPE_CHECKING:
    from bdl.encoders.networks.unet import UNetEncoder
    from bdl.onnx_graph import EncoderInputs, Graph, Weights


class UNet(Encoder):
    """A convolutional encoder: a U-Net of three levels.

    Parameters
    ----------
    attention
        Self-attention at the lowest level; windows then have exactly ``bins`` bins.
    channels
        Channels of the three levels.
    kernel
        Bins that a convolution on the way down covers (odd).
    heads
        Attention heads.
    bins
        Window length that the attention is built for, a multiple of 4 × heads.

    Examples
    --------
    >>> sum(p.numel() for p in UNet().build(inputs=8, outputs=2, calendar=True).parameters())
    560258
    >>> UNet(attention=True, bins=100)
    Traceback (most recent call last):
    bdl.errors.ConfigError: UNet: ...
    """

    kind: Literal["unet"] = "unet"
    attention: bool = False
    channels: tuple[int, int, int] = (64, 128, 256)
    kernel: int = Field(default=7, ge=1, le=WIDEST)
    heads: int = Field(default=3, ge=1, le=DEEPEST)
    bins: int = Field(default=12_096, ge=4, le=LONGEST)

    @model_validator(mode="after")
    def _check_sizes(self) -> Self:
        if self.kernel % 2 == 0:
            raise ValueError(f"kernel must be odd, got {self.kernel}")
        if not 1 <= min(self.channels) <= max(self.channels) <= WIDEST:
            raise ValueError(f"channels must be from 1 to {WIDEST}, got {self.channels}")
        if not self.attention:
            self.refuse(("heads", "bins"), "without attention")
        if self.attention and self.bins % (4 * self.heads):
            raise ValueError(
                f"bins must be a multiple of 4 × heads = {4 * self.heads}, got {self.bins}"
            )
        return self

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        return {"attention-unet": {"attention": True}}

    @property
    def causal(self) -> bool:
        """Always False: convolutions cover bins on both sides."""
        return False

    @property
    def fixed_bins(self) -> int | None:
        return self.bins if self.attention else None

    def with_bins(self, bins: int) -> Self:
        return self.replace(bins=bins) if self.attention else self

    def seconds_per_bin(self, window: int) -> float:
        """Rough core-seconds of a training pass per bin: 3e-5; 7e-5 with attention."""
        first, second, third = self.channels
        convolutions = 3e-5 * (first * second) / (64 * 128)
        attention = 4e-5 * (third * window) / (256 * 12_096) if self.attention else 0.0
        return convolutions + attention

    def tiny(self) -> Self:
        first, second, third = self.channels
        return self.replace(channels=(min(first, 4), min(second, 8), min(third, 16)))

    def build(self, inputs: int, outputs: int, calendar: bool) -> UNetEncoder:
        from bdl.encoders.networks.unet import UNetEncoder

        return UNetEncoder(self, inputs, outputs, calendar)

    def export(
        self, graph: Graph, weights: Weights, inputs: EncoderInputs, prefix: str = ""
    ) -> str:
        from bdl.encoders.graphs.unet import unet_logits

        if self.attention:
            return super().export(graph, weights, inputs, prefix)
        return inputs.link(graph, unet_logits(graph, self, weights, inputs))

    def _not_exported(self) -> str:
        return "a U-Net with attention reads windows of one length, and an exported model any"
