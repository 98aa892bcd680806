"""Convolutions over bins whose results do not depend on the number of threads.

They have the parameters of torch's modules and its results up to rounding, but take and return
tensors of shape (batch, bins, channels). On the CPU their sums over bins and channels are computed
by `bdl.encoders.fused.products`; elsewhere by torch.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable

from bdl.encoders.fused.products import column_sum, multiply, outer_sum, supported


class Conv1d(nn.Conv1d):
    """torch.nn.Conv1d with an odd kernel, padded with zeros to the same length.

    >>> x = torch.randn(2, 9, 3)
    >>> ours, torchs = Conv1d(3, 4, 5), nn.Conv1d(3, 4, 5, padding=2)
    >>> _ = ours.load_state_dict(torchs.state_dict())
    >>> torch.allclose(ours(x), torchs(x.transpose(1, 2)).transpose(1, 2), atol=1e-6)
    True
    """

    def __init__(self, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__(inputs, outputs, kernel, padding=kernel // 2)

    def forward(self, input: Tensor) -> Tensor:
        if not supported(input, self.weight, self.bias):
            return super().forward(input.transpose(1, 2)).transpose(1, 2)
        apply: Any = _Convolution.apply
        out: Tensor = apply(input, self.weight, self.bias)
        return out


class _Convolution(Function):
    """A convolution as a product: the bins under the kernel are one row, and rows overlap."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return multiply(_windows(x, weight.shape[2]), weight.permute(2, 1, 0).flatten(0, 1), bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        kernel = weight.shape[2]
        grad = grad.contiguous()
        dx = None
        if ctx.needs_input_grad[0]:
            dx = multiply(_windows(grad, kernel), weight.flip(2).permute(2, 0, 1).flatten(0, 1))
        taps = outer_sum(grad, _windows(x, kernel)).view(-1, kernel, x.shape[2])
        return dx, taps.transpose(1, 2), column_sum(grad)


def _windows(x: Tensor, kernel: int) -> Tensor:
    """(batch, bins, channels) → (batch, bins, kernel · channels), a view of the padded tensor."""
    (batch, bins, channels), half = x.shape, kernel // 2
    padded = x.contiguous()
    if half:  # `pad` would fill the whole tensor first
        padded = x.new_empty(batch, half + bins + half, channels)
        padded[:, :half] = padded[:, half + bins :] = 0.0
        padded[:, half : half + bins] = x
    return padded.as_strided((batch, bins, kernel * channels), (padded.stride(0), channels, 1))


class CausalDepthwise(nn.Conv1d):
    """A convolution of each channel with its own kernel, over a bin and those before it.

    Takes (batch, kernel - 1 + bins, channels) and returns (batch, bins, channels). A sum of shifted
    copies: elementwise, so that no thread shares a sum with another.

    >>> x = torch.randn(2, 9, 3)
    >>> module = CausalDepthwise(3, 4)
    >>> torchs = nn.functional.conv1d(x.mT, module.weight, module.bias, groups=3).mT
    >>> torch.allclose(module(x), torchs, atol=1e-6)
    True
    """

    def __init__(self, channels: int, kernel: int) -> None:
        super().__init__(channels, channels, kernel, groups=channels)

    def forward(self, input: Tensor) -> Tensor:
        apply: Any = _Depthwise.apply
        out: Tensor = apply(input, self.weight[:, 0].t().contiguous(), self.bias)
        return out


class _Depthwise(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, taps: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, taps)
        bins = x.shape[1] - len(taps) + 1
        out = bias.expand(x.shape[0], bins, -1).clone()
        for k, tap in enumerate(taps):
            out.addcmul_(x[:, k : k + bins], tap)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, taps = ctx.saved_tensors
        bins, dx = grad.shape[1], torch.zeros_like(x)
        sums = []
        for k, tap in enumerate(taps):
            dx[:, k : k + bins].addcmul_(grad, tap)
            sums.append(sum_rows(grad * x[:, k : k + bins]))
        return dx, torch.stack(sums), sum_rows(grad)


def sum_rows(x: Tensor) -> Tensor:
    """Sum of (batch, bins, channels) over batch and bins."""
    if supported(x):
        return column_sum(x if x.stride(2) == 1 else x.contiguous())
    return x.sum((0, 1))
