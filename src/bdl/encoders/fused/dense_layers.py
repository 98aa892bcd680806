"""Linear layers and layer norms whose results do not depend on the number of threads.

`Linear` and `LayerNorm` are torch's modules with the same parameters and results up to rounding. On
the CPU their sums over bins are computed by `bdl.encoders.fused.products`; elsewhere by torch.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from bdl.encoders.fused import threads
from bdl.encoders.fused.norm_kernels import GROUP, norm_backward
from bdl.encoders.fused.products import (
    SEGMENT,
    address,
    column_sum,
    multiply,
    needs_gradient,
    outer_sum,
    pieces_of,
    real_of,
    rows_of,
    supported,
    total_of,
)


class Linear(nn.Linear):
    """torch.nn.Linear.

    Examples
    --------
    >>> x = torch.randn(2, 5, 3)
    >>> ours, torchs = Linear(3, 4), nn.Linear(3, 4)
    >>> _ = ours.load_state_dict(torchs.state_dict())
    >>> torch.allclose(ours(x), torchs(x), atol=1e-6)
    True
    """

    def forward(self, input: Tensor) -> Tensor:
        return linear(input, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """torch.nn.functional.linear."""
    if not supported(x, weight, bias):
        return F.linear(x, weight, bias)
    if not needs_gradient(x, weight, bias):
        return _linear(x, weight, bias)
    apply: Any = _Linear.apply
    out: Tensor = apply(x, weight, bias)
    return out


class _Linear(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        ctx.save_for_backward(x, weight)
        ctx.has_bias = bias is not None
        return _linear(x, weight, bias)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, weight = ctx.saved_tensors
        grads = rows_of(grad)
        return (
            multiply(grads, weight).view(x.shape) if ctx.needs_input_grad[0] else None,
            outer_sum(grads, rows_of(x)),
            column_sum(grads) if ctx.has_bias else None,
        )


def _linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    out = multiply(rows_of(x), weight.t(), bias)
    # Not a view, so that it may be changed in place; torch's own layer does the same.
    shaped: Tensor = torch.ops.aten._unsafe_view(out, [*x.shape[:-1], weight.shape[0]])
    return shaped


class LayerNorm(nn.LayerNorm):
    """torch.nn.LayerNorm over the last dimension."""

    def forward(self, input: Tensor) -> Tensor:
        tensors = (input, self.weight, self.bias)
        if not (supported(*tensors) and needs_gradient(*tensors)):
            return super().forward(input)  # every row is computed by one thread
        apply: Any = _LayerNorm.apply
        out: Tensor = apply(input, self.weight, self.bias, self.eps)
        return out


class _LayerNorm(Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor, eps: float) -> Tensor:
        x = x.contiguous()
        out, mean, scale = torch.native_layer_norm(x, x.shape[-1:], weight, bias, eps)
        ctx.save_for_backward(x, mean, scale, weight)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        x, mean, scale, weight = ctx.saved_tensors
        columns = x.shape[-1]
        spare = -columns % GROUP
        full, rows = columns + spare, x.numel() // columns
        wide = [F.pad(part, (0, spare)) if spare else part for part in (grad, x, weight)]
        grad, wide_x, weight = (part.contiguous() for part in wide)
        dx = torch.empty_like(wide_x)
        pieces = [*pieces_of(1, rows, SEGMENT)]
        sums = x.new_zeros(len(pieces), 2, full)
        kernel, groups, size = norm_backward(real_of(x)), full // GROUP, x.element_size()
        jobs = []
        for i, (_, first, count) in enumerate(pieces):
            by_row = [part.data_ptr() + first * full * size for part in (grad, wide_x)]
            by_row += [part.data_ptr() + first * size for part in (mean, scale)]
            out = [dx.data_ptr() + first * full * size, address(sums, i, 0), address(sums, i, 1)]
            work = partial(kernel, count, columns, groups, *by_row, weight.data_ptr(), *out)
            jobs.append((16 * count * full, work))
        threads.run(jobs)
        dweight, dbias = total_of(sums)[:, :columns]
        return dx[..., :columns], dweight, dbias, None
