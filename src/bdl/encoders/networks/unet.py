"""Convolutional encoders: a three-level U-Net, with or without attention on its bottom.

A "double conv" is twice (convolution, batch norm, ReLU). Down: two double convolutions with kernel
7, each followed by halving with max-pooling; bottom with kernel 1; up: repeat every bin twice (cut
to the skip's length), concatenate the skip, double convolution with kernel 3. Then a convolution
with kernel 1, ReLU and a linear output. 560,258 parameters in the published sleep setting.

The attention variant has one multi-head self-attention on the bottom whose tokens are the channels
and whose embedding is the bin axis, added to its input: windows have one fixed length, and items
of a batch never meet.

Padded bins count as what lies beyond a recording's end: zero after every layer and left out of the
batch statistics. An odd last bin is pooled alone, so that any length goes.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from bdl.encoders.networks.module import EncoderModule, valid_of
from bdl.encoders.unet import UNet


class Norm(nn.BatchNorm1d):
    """Batch norm whose statistics are those of the valid bins.

    Examples
    --------
    >>> norm = Norm(1)
    >>> x = torch.tensor([[[1.0, 3.0, 99.0]]])
    >>> norm(x, torch.tensor([[True, True, False]])).detach().round(decimals=2).tolist()
    [[[-1.0, 1.0, 0.0]]]
    """

    def forward(self, input: Tensor, valid: Tensor | None = None) -> Tensor:
        if not self.training:
            return super().forward(input)
        bins = input.shape[0] * input.shape[2] if valid is None else int(valid.sum())
        if bins < 2:  # one bin has no variance: what was learned so far must do
            return F.batch_norm(
                input, self.running_mean, self.running_var, self.weight, self.bias, eps=self.eps
            )
        if valid is None:
            return super().forward(input)
        rows = super().forward(input.transpose(1, 2)[valid])  # (valid bins, channels)
        full = rows.new_zeros(input.shape[0], input.shape[2], input.shape[1])
        full[valid] = rows
        return full.transpose(1, 2)


class DoubleConv(nn.Module):
    """(batch, inputs, bins) → (batch, outputs, bins), zero where padded."""

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv1d(inputs, outputs, kernel, padding=kernel // 2)
        self.norm1 = Norm(outputs)
        self.conv2 = nn.Conv1d(outputs, outputs, kernel, padding=kernel // 2)
        self.norm2 = Norm(outputs)

    def forward(self, x: Tensor, valid: Tensor | None) -> Tensor:
        for conv, norm in ((self.conv1, self.norm1), (self.conv2, self.norm2)):
            x = F.relu(norm(conv(x), valid), inplace=True)
            if valid is not None:
                x = x * valid[:, None]
        return x


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
        a, b, c = settings.channels
        self.fixed_bins = settings.fixed_bins
        self.down1 = DoubleConv(self.features, a, settings.kernel)
        self.down2 = DoubleConv(a, b, settings.kernel)
        self.bottom = DoubleConv(b, c, 1)
        self.attention = (
            nn.MultiheadAttention(settings.bins // 4, settings.heads, batch_first=True)
            if settings.attention
            else None
        )
        self.up2 = DoubleConv(c + b, b, 3)
        self.up1 = DoubleConv(b + a, a, 3)
        self.mix = nn.Conv1d(a, a, 1)
        self.last = nn.Linear(a, outputs)

    def encode(self, x: Tensor, lengths: Tensor | None) -> Tensor:
        """Embedded bins of these lengths → logits."""
        valid1 = valid_of(lengths, x.shape[1])
        x = x.transpose(1, 2)  # (batch, features, bins)
        if valid1 is not None:
            x = x.masked_fill(~valid1[:, None], 0.0)
        x1 = self.down1(x, valid1)
        x2, valid2 = _halve(x1, lengths)
        x2 = self.down2(x2, valid2)
        x3, valid3 = _halve(x2, None if lengths is None else -(-lengths // 2))
        x3 = self.bottom(x3, valid3)
        if self.attention is not None:
            x3 = x3 + self.attention(x3, x3, x3, need_weights=False)[0]
            if valid3 is not None:
                x3 = x3 * valid3[:, None]
        x2 = self.up2(torch.cat([_double(x3, x2, valid2), x2], dim=1), valid2)
        x1 = self.up1(torch.cat([_double(x2, x1, valid1), x1], dim=1), valid1)
        logits: Tensor = self.last(F.relu(self.mix(x1), inplace=True).transpose(1, 2))
        return logits


def _halve(x: Tensor, lengths: Tensor | None) -> tuple[Tensor, Tensor | None]:
    """Max of every two bins; a last odd one stays alone."""
    half = F.max_pool1d(x, 2, ceil_mode=True)
    return half, valid_of(None if lengths is None else -(-lengths // 2), half.shape[2])


def _double(x: Tensor, skip: Tensor, valid: Tensor | None) -> Tensor:
    """Nearest-neighbour up-sampling to the skip's length, zero where padded.

    Exact at any length; an interpolation by a float32 ratio slips near the end of long windows.
    """
    wide = x.repeat_interleave(2, dim=2)[:, :, : skip.shape[2]]
    return wide if valid is None else wide * valid[:, None]
