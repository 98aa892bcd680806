"""Attention whose gradients do not depend on the number of threads.

torch leaves the products of a backward pass to libraries that may split a sum among threads. Here a
job computes some items, or one head of an item, in one thread. The jobs depend on the shapes alone,
and a mask's gradient is summed in their order.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import product
from typing import Any

import torch
from torch import Tensor
from torch.autograd import Function
from torch.autograd.function import once_differentiable
from torch.nn import functional as F

from bdl.encoders.fused import threads
from bdl.encoders.fused.products import needs_gradient, supported

JOB = 1 << 24  # operations per job: about a millisecond, so that starting it takes little of that
Part = tuple[slice, slice]  # items and heads


def attention(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None = None, *, causal: bool = False
) -> Tensor:
    """torch.nn.functional.scaled_dot_product_attention of (batch, heads, bins, columns).

    A mask has four dimensions, too; one item or head of it is for all.

    Examples
    --------
    >>> q, k, v = torch.randn(3, 2, 4, 9, 8, requires_grad=True)
    >>> torch.allclose(attention(q, k, v), F.scaled_dot_product_attention(q, k, v), atol=1e-6)
    True
    """
    if not (supported(query, key, value) and needs_gradient(query, key, value, mask)):
        return F.scaled_dot_product_attention(query, key, value, mask, is_causal=causal)
    apply: Any = _Attention.apply
    out: Tensor = apply(causal, query, key, value, *(() if mask is None else (mask,)))
    return out


class _Attention(Function):
    @staticmethod
    def forward(ctx: Any, causal: bool, *operands: Tensor) -> Tensor:
        query, key, value = operands[:3]
        out = value.new_empty(*query.shape[:3], value.shape[3])
        ctx.parts = _parts_of(query.shape, key.shape[2])
        ctx.shapes = [x.shape for x in operands]
        ctx.graphs = {}  # of each part: its operands, and its result

        def attend(job: int) -> None:
            part = ctx.parts[job]
            given = [x[_place(x.shape, part)].detach() for x in operands]
            q, k, v, *mask = (x.requires_grad_(x.is_floating_point()) for x in given)
            bias = mask[0] if mask else None
            with torch.enable_grad():
                result = F.scaled_dot_product_attention(q, k, v, bias, is_causal=causal)
            out[part] = result.detach()
            ctx.graphs[job] = given, result

        _run(attend, ctx)
        return out

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Any:
        needed = ctx.needs_input_grad[1:]
        computed: dict[int, Any] = {}

        def differentiate(job: int) -> None:
            operands, result = ctx.graphs.pop(job)
            leaves = [x for x, need in zip(operands, needed, strict=True) if need]
            computed[job] = torch.autograd.grad(result, leaves, grad[ctx.parts[job]])

        _run(differentiate, ctx)
        grads = [
            grad.new_zeros(s) if need else None for s, need in zip(ctx.shapes, needed, strict=True)
        ]
        totals = [total for total in grads if total is not None]
        for job, part in enumerate(ctx.parts):
            for total, of_part in zip(totals, computed.pop(job), strict=True):
                total[_place(total.shape, part)] += of_part
        return None, *grads


def _place(shape: torch.Size, part: Part) -> Part:
    """The place of a part in a tensor, whose one item or head is for all."""
    items, heads = (slice(None) if n == 1 else s for n, s in zip(shape[:2], part, strict=True))
    return items, heads


def _parts_of(shape: torch.Size, keys: int) -> list[Part]:
    """The parts of queries (items, heads, bins, columns), each a job."""
    items, heads, bins, columns = shape
    operations = 4 * heads * bins * keys * columns  # of an item
    size = max(1, JOB // operations)
    together = heads if operations <= JOB else 1
    starts = product(range(0, items, size), range(0, heads, together))
    return [(slice(i, min(i + size, items)), slice(h, h + together)) for i, h in starts]


def _run(work: Callable[[int], None], ctx: Any) -> None:
    """Do the work of all parts, each of about as many operations as a job should have."""
    threads.run_torch([(JOB, partial(work, job)) for job in range(len(ctx.parts))])
