"""A batch norm over bins, then ReLU, whose results do not depend on the number of threads."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from bdl.encoders.fused import norm_kernels as kernels
from bdl.encoders.fused import threads
from bdl.encoders.fused.llvm import MachineCode, lanes_for
from bdl.encoders.fused.products import (
    SEGMENT,
    address,
    column_sum,
    pieces_of,
    real_of,
    supported,
    total_of,
)


class BatchNormReLU(nn.BatchNorm1d):
    """torch.nn.BatchNorm1d whose statistics are those of the valid bins, then ReLU.

    Takes and returns (batch, bins, channels), zero where not valid; ``valid`` is (batch, bins)
    bool, or None if all are.

    >>> norm = BatchNormReLU(1)
    >>> x = torch.tensor([[[1.0], [3.0], [99.0]]])
    >>> norm(x, torch.tensor([[True, True, False]])).detach().round(decimals=2).flatten().tolist()
    [0.0, 1.0, 0.0]
    """

    def forward(self, input: Tensor, valid: Tensor | None = None) -> Tensor:
        assert self.running_mean is not None
        assert self.running_var is not None
        shape = input.shape[:2]
        keep = input.new_ones(shape) if valid is None else valid.to(input.dtype)
        bins = keep.numel() if valid is None else int(valid.sum())
        if not self.training or bins < 2:  # one bin has no variance: the running one serves
            scale = self.weight * torch.rsqrt(self.running_var + self.eps)
            normal = torch.addcmul(self.bias - self.running_mean * scale, input, scale)
            out = F.relu(normal, inplace=True)
            return out if valid is None else out * keep[..., None]
        fused = supported(input, self.weight, self.bias)
        apply: Any = _BatchNormReLU.apply if fused else _by_torch
        result: tuple[Tensor, ...] = apply(input, keep, bins, self.weight, self.bias, self.eps)
        out, mean, variance = result
        with torch.no_grad():
            share = 0.1 if self.momentum is None else self.momentum
            self.running_mean.lerp_(mean, share)
            self.running_var.lerp_(variance * (bins / (bins - 1)), share)
            if self.num_batches_tracked is not None:
                self.num_batches_tracked += 1
        return out


def _by_torch(
    x: Tensor, keep: Tensor, bins: int, weight: Tensor, bias: Tensor, eps: float
) -> tuple[Tensor, Tensor, Tensor]:
    keep = keep[..., None]
    mean = (x * keep).sum((0, 1)) / bins
    centred = x - mean
    variance = (centred.square() * keep).sum((0, 1)) / bins
    scale = weight * torch.rsqrt(variance + eps)
    return F.relu(torch.addcmul(bias, centred, scale)) * keep, mean, variance


class _BatchNormReLU(Function):
    @staticmethod
    def forward(
        ctx: Any, x: Tensor, keep: Tensor, bins: int, weight: Tensor, bias: Tensor, eps: float
    ) -> tuple[Tensor, Tensor, Tensor]:
        x = x.contiguous()
        mean = column_sum(x if bins == keep.numel() else x * keep[..., None]) / bins
        (squares,) = _run(kernels.batch_norm_squares, [x, keep], [mean], sums=1)
        variance = squares / bins
        scale = torch.rsqrt(variance + eps)
        columns = [mean, weight * scale, bias.contiguous()]
        y = torch.empty_like(x)
        _run(kernels.batch_norm_forward, [x, keep, y], columns)
        ctx.save_for_backward(x, keep, scale, *columns)
        ctx.bins = bins
        ctx.mark_non_differentiable(mean, variance)
        return y, mean, variance

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor, *_: Any) -> Any:
        x, keep, scale, *columns = ctx.saved_tensors
        grad, dx = grad.contiguous(), torch.empty_like(x)
        plain, product = _run(kernels.batch_norm_sums, [x, keep, grad], columns, sums=2)
        shares = [plain / ctx.bins, product * scale.square() / ctx.bins]
        _run(kernels.batch_norm_backward, [x, keep, grad, dx], [*columns, *shares])
        return dx, None, None, product * scale, plain, None


def _run(
    kernel: Callable[[str, int], MachineCode],
    by_row: list[Tensor],
    by_column: list[Tensor],
    sums: int = 0,
) -> Tensor:
    """Call a kernel for all rows of (batch, bins, channels), and return its sums over rows."""
    x = by_row[0]
    columns, real, size = x.shape[2], real_of(x), x.element_size()
    lanes = lanes_for(columns, real)
    compiled, rows = kernel(real, lanes), x.shape[0] * x.shape[1]
    statistics = [column.data_ptr() for column in by_column]
    pieces = [*pieces_of(1, rows, SEGMENT)]
    parts = x.new_zeros(len(pieces), sums, columns)
    jobs = []
    for i, (_, first, count) in enumerate(pieces):
        places = [t.data_ptr() + first * (t.numel() // rows) * size for t in by_row]
        to = [address(parts, i, k) for k in range(sums)]
        work = partial(compiled, count, columns // lanes, *places, *statistics, *to)
        jobs.append((8 * count * columns, work))
    threads.run(jobs)
    return total_of(parts)
