"""Attention by jobs is torch's attention, in results and in all gradients."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor
from torch.nn import functional as F

from bdl.encoders.fused import attention as module
from bdl.encoders.fused.attention import attention


def _mask(kind: str, shape: tuple[int, ...], keys: int, g: torch.Generator) -> Tensor | None:
    items, heads, bins, _ = shape
    if kind == "bool":
        mask = torch.rand(items, 1, 1, keys, generator=g) < 0.7
        mask[..., 0] = True  # an item without any key has no result
        return mask
    if kind == "bias of all items":
        return torch.randn(1, heads, bins, keys, generator=g).double().requires_grad_()
    if kind == "bias per item":
        return torch.randn(items, heads, bins, keys, generator=g).double().requires_grad_()
    return None


@settings(max_examples=60, deadline=None)
@given(
    st.tuples(st.integers(1, 5), st.integers(1, 4), st.integers(1, 9), st.sampled_from((1, 3, 8))),
    st.integers(1, 9),
    st.sampled_from(("none", "causal", "bool", "bias of all items", "bias per item")),
    st.sampled_from((1, 500, 1 << 24)),
    st.integers(1, 3),
    st.integers(0, 2**16),
)
def test_it_is_that_of_torch(
    shape: tuple[int, int, int, int], keys: int, kind: str, job: int, threads: int, seed: int
) -> None:
    g = torch.Generator().manual_seed(seed)
    items, heads, bins, columns = shape
    keys = bins if kind == "causal" else keys
    sizes = [(items, heads, n, columns) for n in (bins, keys, keys)]
    operands = [torch.randn(s, generator=g).double().requires_grad_() for s in sizes]
    mask = _mask(kind, shape, keys, g)
    leaves = [x for x in (*operands, mask) if x is not None and x.requires_grad]
    weights = torch.randn(shape, generator=g).double()
    before, count = module.JOB, torch.get_num_threads()
    module.JOB = job
    torch.set_num_threads(threads)
    try:
        ours = attention(*operands, mask, causal=kind == "causal")
        gradients = torch.autograd.grad((ours * weights).sum(), leaves)
        assert torch.get_num_threads() == threads
    finally:
        module.JOB = before
        torch.set_num_threads(count)
    plain = F.scaled_dot_product_attention(*operands, mask, is_causal=kind == "causal")
    expected = torch.autograd.grad((plain * weights).sum(), leaves)
    for a, b in zip((ours, *gradients), (plain, *expected), strict=True):
        torch.testing.assert_close(a, b)


@pytest.mark.parametrize("known", [True, False])
def test_operands_without_gradient_get_none(known: bool) -> None:
    q, k, v = torch.randn(3, 2, 2, 5, 4)
    q.requires_grad_()
    v.requires_grad_(known)
    attention(q, k, v).sum().backward()
    assert q.grad is not None
    assert k.grad is None
    assert (v.grad is not None) == known
