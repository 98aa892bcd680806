"""Convolutional encoders: a three-level U-Net, with or without attention at its lowest level.

A "double conv" is twice (convolution, batch norm, ReLU). Down: two double convolutions with kernel
7, each followed by halving with max-pooling; lowest level with kernel 1; up: repeat every bin twice
(cut to the skip's length), concatenate the skip, double convolution with kernel 3. Then a
convolution with kernel 1, ReLU and a linear output. 560,258 parameters in the published sleep
setting. Tensors are (batch, bins, channels) throughout.

The attention variant has one multi-head self-attention at the lowest level whose tokens are the
channels and whose embedding is the bin axis, added to its input: windows have one fixed length, and
items of a batch are independent.

Padded bins are treated like bins beyond the end of a recording: zero after every layer and left out
of the batch statistics. An odd last bin is pooled alone, so that any length is possible.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bdl.encoders.fused.attention import attention
from bdl.encoders.fused.batch_norm import BatchNormReLU
from bdl.encoders.fused.convolution_layers import Conv1d
from bdl.encoders.fused.dense_layers import Linear, linear
from bdl.encoders.fused.products import supported
from bdl.encoders.networks.module import EncoderModule, valid_of
from bdl.encoders.unet import UNet


class DoubleConv(nn.Module):
    """(batch, bins, inputs) → (batch, bins, outputs), zero where padded."""

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        self.conv1 = Conv1d(inputs, outputs, kernel)
        self.norm1 = BatchNormReLU(outputs)
        self.conv2 = Conv1d(outputs, outputs, kernel)
        self.norm2 = BatchNormReLU(outputs)

    def forward(self, x: Tensor, valid: Tensor | None) -> Tensor:
        x = self.norm1(self.conv1(x), valid)
        normal: Tensor = self.norm2(self.conv2(x), valid)
        return normal


class ChannelAttention(nn.MultiheadAttention):
    """Self-attention of (batch, tokens, embedding), as torch's module computes it."""

    def forward(self, x: Tensor) -> Tensor:  # type: ignore[override]
        batch, tokens, embedding = x.shape
        parts = linear(x, self.in_proj_weight, self.in_proj_bias)
        heads = parts.view(batch, tokens, 3, self.num_heads, -1).permute(2, 0, 3, 1, 4)
        attended = attention(*heads)
        merged = attended.transpose(1, 2).reshape(batch, tokens, embedding)
        return linear(merged, self.out_proj.weight, self.out_proj.bias)


class UNetEncoder(EncoderModule):
    """Module of `bdl.encoders.UNet`.

    Examples
    --------
    >>> module = UNet(channels=(4, 8, 8)).build(inputs=3, outputs=1, calendar=False)
    >>> module(torch.randn(2, 11, 3)).shape
    torch.Size([2, 11, 1])
    """

    def __init__(self, settings: UNet, inputs: int, outputs: int, calendar: bool) -> None:
        super().__init__(inputs, calendar)
        first, second, third = settings.channels
        self.fixed_bins = settings.fixed_bins
        self.down1 = DoubleConv(self.features, first, settings.kernel)
        self.down2 = DoubleConv(first, second, settings.kernel)
        self.bottom = DoubleConv(second, third, 1)
        self.attention = (
            ChannelAttention(settings.bins // 4, settings.heads, batch_first=True)
            if settings.attention
            else None
        )
        self.up2 = DoubleConv(third + second, second, 3)
        self.up1 = DoubleConv(second + first, first, 3)
        self.mix = Conv1d(first, first, 1)
        self.last = Linear(first, outputs)

    @property
    def batchable(self) -> bool:
        return self.attention is None and supported(*self.parameters())

    def encode(self, x: Tensor, lengths: Tensor | None) -> Tensor:
        valid1 = valid_of(lengths, x.shape[1])
        if valid1 is not None:
            x = x.masked_fill(~valid1[..., None], 0.0)
        x1 = self.down1(x, valid1)
        x2, valid2 = _halve(x1, lengths)
        x2 = self.down2(x2, valid2)
        x3, valid3 = _halve(x2, None if lengths is None else -(-lengths // 2))
        x3 = self.bottom(x3, valid3)
        if self.attention is not None:
            x3 = x3 + self.attention(x3.transpose(1, 2)).transpose(1, 2)
            if valid3 is not None:
                x3 = x3 * valid3[..., None]
        x2 = self.up2(torch.cat([_double(x3, x2, valid2), x2], dim=2), valid2)
        x1 = self.up1(torch.cat([_double(x2, x1, valid1), x1], dim=2), valid1)
        logits: Tensor = self.last(F.relu(self.mix(x1), inplace=True))
        return logits


def _halve(x: Tensor, lengths: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Maximum of every two bins; an odd last one stays alone."""
    even, odd = x[:, 0::2], x[:, 1::2]
    if odd.shape[1] < even.shape[1]:
        odd = torch.cat([odd, even[:, -1:]], dim=1)
    half = torch.maximum(even, odd)
    return half, valid_of(None if lengths is None else -(-lengths // 2), half.shape[1])


def _double(x: Tensor, skip: Tensor, valid: Tensor | None) -> Tensor:
    """Every bin twice, cut to the skip's length, zero where padded.

    Exact at any length; an interpolation by a float32 ratio is off near the end of long windows.
    """
    twice = x[:, :, None].expand(-1, -1, 2, -1).flatten(1, 2)[:, : skip.shape[1]]
    return twice if valid is None else twice * valid[..., None]
