"""No bit depends on the number of threads, on the vector width or on the items of a batch."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from bdl.encoders import Encoder, Recurrent, Transformer, UNet
from bdl.encoders.fused.recurrent_layers import FusedGRU, FusedLSTM
from bdl.encoders.vectors import VARIABLE, available_bits


@contextmanager
def _machine(threads: int, bits: int) -> Iterator[None]:
    before, variable = torch.get_num_threads(), os.environ.get(VARIABLE)
    torch.set_num_threads(threads)
    os.environ[VARIABLE] = str(bits)
    try:
        yield
    finally:
        torch.set_num_threads(before)
        if variable is None:
            del os.environ[VARIABLE]
        else:
            os.environ[VARIABLE] = variable


def _gradients(module: nn.Module, *inputs: Tensor, **options: object) -> list[Tensor]:
    """Outputs, and gradients of all inputs and parameters."""
    given = [x.clone().requires_grad_() for x in inputs]
    states = given[1] if len(given) == 2 else tuple(given[1:])
    module.zero_grad()
    result = module(given[0], states, **options) if states != () else module(given[0], **options)
    outputs = [result] if isinstance(result, Tensor) else [result[0]]
    if not isinstance(result, Tensor):
        outputs += [result[1]] if isinstance(result[1], Tensor) else result[1]
    g = torch.Generator().manual_seed(5)
    sum((y * torch.randn(y.shape, generator=g)).sum() for y in outputs).backward()
    grads = [x.grad for x in (*given, *module.parameters())]
    return [*(y.detach() for y in outputs), *(x for x in grads if x is not None)]


def _equal(a: list[Tensor], b: list[Tensor]) -> bool:
    return len(a) == len(b) and all(torch.equal(x, y) for x, y in zip(a, b, strict=True))


MACHINES = st.tuples(st.sampled_from((1, 2, 3, 4, 8)), st.sampled_from(available_bits()))
CELLS = st.sampled_from(("gru", "lstm"))
WIDTHS = st.sampled_from((16, 20, 32, 128))  # few: every width is compiled anew
SHAPES = st.one_of(  # the second: more rows than one segment of a sum
    st.tuples(st.integers(1, 9), st.integers(1, 60)),
    st.tuples(st.integers(1, 3), st.integers(2040, 2060)),
)


@settings(max_examples=20, deadline=None)
@given(CELLS, WIDTHS, SHAPES, st.booleans(), MACHINES, MACHINES, st.integers(0, 2**16))
def test_recurrences(
    cell: str,
    width: int,
    shape: tuple[int, int],
    bidirectional: bool,
    one: tuple[int, int],
    other: tuple[int, int],
    seed: int,
) -> None:
    batch, bins = shape
    torch.manual_seed(seed)
    make = FusedGRU if cell == "gru" else FusedLSTM
    module = make(5, width, batch_first=True, bidirectional=bidirectional)
    x = torch.randn(batch, bins, 5)
    states = torch.randn(1 if cell == "gru" else 2, 1 + bidirectional, batch, width)
    lengths = torch.randint(0, bins + 1, (batch,)) if seed % 2 else None
    results = []
    for threads, bits in (one, other):
        with _machine(threads, bits):
            results.append(_gradients(module, x, *states, lengths=lengths))
    assert len(results[0]) >= (7 if cell == "gru" else 9)
    assert _equal(*results)


ENCODERS = st.one_of(
    st.builds(lambda cell, width: Recurrent(cell=cell, width=width), CELLS, WIDTHS),
    st.sampled_from(
        (
            UNet(channels=(16, 20, 64)),
            UNet(channels=(16, 16, 32), attention=True, heads=1),
            Transformer(width=24, layers=2, heads=2),
            Transformer(width=16, layers=1, heads=1),
            Transformer(width=16, layers=1, heads=2, causal=True, local_convolution=True),
            Transformer(width=16, layers=1, heads=2, causal=True, context=64),
        )
    ),
)


@settings(max_examples=20, deadline=None)
@given(ENCODERS, SHAPES, MACHINES, MACHINES, st.integers(0, 2**16))
def test_trained_encoders(
    encoder: Encoder,
    shape: tuple[int, int],
    one: tuple[int, int],
    other: tuple[int, int],
    seed: int,
) -> None:
    """Two steps of Adam on a whole encoder: outputs, gradients and weights."""
    batch, bins = shape
    if encoder.fixed_bins is not None:
        bins = -(-bins // 4) * 4
        encoder = encoder.with_bins(bins)
    torch.manual_seed(seed)
    x = torch.randn(batch, bins, 7)
    mask = torch.arange(bins) < torch.randint(1, bins + 1, (batch, 1))
    start = encoder.build(7, 2, False).state_dict()
    results = []
    for threads, bits in (one, other):
        with _machine(threads, bits):
            module = encoder.build(7, 2, False)
            module.load_state_dict(start)
            steps = torch.optim.Adam(module.parameters())
            for step in range(2):
                torch.manual_seed(step)  # of the dropout
                out = _gradients(module, x, mask=mask)
                steps.step()
            results.append([*out, *module.state_dict().values()])
    assert _equal(*results)


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_items_and_tiles_say_what_the_whole_says(cell: str) -> None:
    """Bit for bit: an item alone, and a causal encoder in tiles of any size."""
    module = Recurrent(width=16, bidirectional=False, cell=cell).build(3, 2, False).eval()
    x = torch.randn(5, 70, 3)
    with torch.no_grad():
        together = module(x)
        for i in range(5):
            assert torch.equal(module(x[i : i + 1]), together[i : i + 1])
        for size in (1, 7, 64):
            state, parts = module.initial_state(5), []
            for first in range(0, 70, size):
                part, state = module.step(x[:, first : first + size], state)
                parts.append(part)
            assert torch.equal(torch.cat(parts, dim=1), together)
    assert torch.equal(module(x).detach(), together)  # with gradients, the same
