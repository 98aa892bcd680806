"""Convolutions and batch norms over bins whose results do not depend on the number of threads.

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
from torch.nn import functional as F

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


def _padded(x: Tensor, kernel: int) -> Tensor:
    """With zeros for half a kernel at both ends."""
    half = kernel // 2
    return F.pad(x, (0, 0, half, half)).contiguous() if half else x.contiguous()


def _windows(x: Tensor, kernel: int) -> Tensor:
    """(batch, bins, channels) → (batch, bins, kernel · channels), a view of the padded tensor."""
    batch, bins, channels = x.shape
    padded = _padded(x, kernel)
    return padded.as_strided((batch, bins, kernel * channels), (padded.stride(0), channels, 1))


class CausalDepthwise(nn.Conv1d):
    """A convolution of each channel with its own kernel, over a bin and those before it.

    Takes (batch, kernel - 1 + bins, channels) and returns (batch, bins, channels). A sum of shifted
    copies: elementwise, so that no thread shares a sum with another.

    >>> x = torch.randn(2, 9, 3)
    >>> module = CausalDepthwise(3, 4)
    >>> torchs = F.conv1d(x.transpose(1, 2), module.weight, module.bias, groups=3).transpose(1, 2)
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


class BatchNorm(nn.BatchNorm1d):
    """torch.nn.BatchNorm1d whose statistics are those of the valid bins.

    Takes and returns (batch, bins, channels); ``valid`` is (batch, bins) bool, or None if all are.

    >>> norm = BatchNorm(1)
    >>> x = torch.tensor([[[1.0], [3.0], [99.0]]])
    >>> norm(x, torch.tensor([[True, True, False]])).detach().round(decimals=2).flatten().tolist()
    [-1.0, 1.0, 0.0]
    """

    def forward(self, input: Tensor, valid: Tensor | None = None) -> Tensor:
        assert self.running_mean is not None
        assert self.running_var is not None
        bins = input.shape[0] * input.shape[1] if valid is None else int(valid.sum())
        if not self.training or bins < 2:  # one bin has no variance: the running one serves
            scale = self.weight * torch.rsqrt(self.running_var + self.eps)
            return torch.addcmul(self.bias - self.running_mean * scale, input, scale)
        apply: Any = _BatchNorm.apply
        result: tuple[Tensor, Tensor, Tensor] = apply(
            input, valid, bins, self.weight, self.bias, self.eps
        )
        out, mean, variance = result
        with torch.no_grad():
            share = 0.1 if self.momentum is None else self.momentum
            self.running_mean.lerp_(mean, share)
            self.running_var.lerp_(variance * (bins / (bins - 1)), share)
            if self.num_batches_tracked is not None:
                self.num_batches_tracked += 1
        return out


class _BatchNorm(Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        valid: Tensor | None,
        bins: int,
        weight: Tensor,
        bias: Tensor,
        eps: float,
    ) -> tuple[Tensor, Tensor, Tensor]:
        mean = sum_rows(_masked(x, valid)) / bins
        normal = _masked(x - mean, valid)
        variance = sum_rows(normal.square()) / bins
        scale = torch.rsqrt(variance + eps)
        normal.mul_(scale)
        ctx.save_for_backward(normal, valid, weight * scale)
        ctx.bins = bins
        ctx.mark_non_differentiable(mean, variance)
        return torch.addcmul(bias, normal, weight), mean, variance

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Any) -> Any:
        normal, valid, scale = ctx.saved_tensors
        grad = _masked(grad, valid)
        dbias, dweight = sum_rows(grad), sum_rows(grad * normal)
        inner = torch.addcmul(grad, normal, dweight / -ctx.bins).sub_(dbias / ctx.bins)
        return _masked(inner.mul_(scale), valid), None, None, dweight, dbias, None


def sum_rows(x: Tensor) -> Tensor:
    """Sum of (batch, bins, channels) over batch and bins."""
    if supported(x):
        return column_sum(x if x.stride(2) == 1 else x.contiguous())
    return x.sum((0, 1))


def _masked(x: Tensor, valid: Tensor | None) -> Tensor:
    return x if valid is None else x.masked_fill(~valid[..., None], 0.0)
