"""The fused recurrences against torch's own: values, gradients, padding, state, training."""

from __future__ import annotations

import threading
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bdl.encoders.fused.recurrent_layers import FusedGRU, FusedLSTM

CELLS = {"gru": (FusedGRU, nn.GRU), "lstm": (FusedLSTM, nn.LSTM)}
SHAPES = [  # batch, bins, inputs, width
    (1, 1, 1, 1),
    (1, 40, 3, 8),
    (2, 7, 5, 3),
    (3, 33, 4, 16),
    (5, 20, 32, 32),
    (4, 9, 2, 24),
    (9, 17, 6, 48),
    (2, 12, 7, 128),
    (32, 5, 3, 4),
]


pytestmark = pytest.mark.usefixtures("one_thread")


def _pair(cell: str, inputs: int, width: int, seed: int = 0, **options: Any) -> Any:
    torch.manual_seed(seed)
    ours, torchs = (k(inputs, width, batch_first=True, **options) for k in CELLS[cell])
    ours.load_state_dict(torchs.state_dict())
    return ours, torchs


def _flat(last: Any) -> tuple[Tensor, ...]:
    return (last,) if isinstance(last, Tensor) else tuple(last)


def _states(cell: str, directions: int, batch: int, width: int, g: torch.Generator) -> Any:
    many = [torch.randn(directions, batch, width, generator=g) for _ in range(2)]
    return many[0] if cell == "gru" else tuple(many)


def _gradients(module: nn.Module, x: Tensor, hx: Any, **options: Any) -> list[Tensor]:
    """Outputs and all gradients of a loss that weighs every output and state differently."""
    x = x.clone().requires_grad_()
    states = [] if hx is None else [s.clone().requires_grad_() for s in _flat(hx)]
    given = None if hx is None else states[0] if isinstance(hx, Tensor) else tuple(states)
    module.zero_grad()
    y, last = module(x, given, **options)
    g = torch.Generator().manual_seed(5)
    loss = sum((v * torch.randn(v.shape, generator=g).to(v)).sum() for v in (y, *_flat(last)))
    loss.backward()
    grads = [p.grad for p in (x, *states, *module.parameters())]
    return [y.detach(), *(s.detach() for s in _flat(last)), *grads]


def _close(ours: list[Tensor], torchs: list[Tensor], tolerance: float) -> None:
    for a, b in zip(ours, torchs, strict=True):
        # Relative to the whole tensor: an element is a sum of terms of that size.
        assert (a - b).abs().max() <= tolerance * max(1.0, float(b.abs().max())), a.shape


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_torch_in_float32(
    cell: str, bidirectional: bool, shape: tuple[int, int, int, int]
) -> None:
    batch, bins, inputs, width = shape
    for seed, bias, state in ((0, True, False), (1, False, True)):
        ours, torchs = _pair(cell, inputs, width, seed, bidirectional=bidirectional, bias=bias)
        g = torch.Generator().manual_seed(seed)
        x = 2 * torch.randn(batch, bins, inputs, generator=g)
        hx = _states(cell, 1 + bidirectional, batch, width, g) if state else None
        _close(_gradients(ours, x, hx), _gradients(torchs, x, hx), 3e-6)


@pytest.mark.parametrize("cell", CELLS)
def test_random_shapes_in_float64(cell: str) -> None:
    g = torch.Generator().manual_seed(7)
    for seed in range(60):
        batch, bins, inputs = (int(torch.randint(1, n, (), generator=g)) for n in (9, 30, 6))
        width = (1, 3, 8)[seed % 3]  # few: every width is compiled anew
        ours, torchs = _pair(cell, inputs, width, seed, bidirectional=bool(seed % 2))
        ours, torchs = ours.double(), torchs.double()
        x = torch.randn(batch, bins, inputs, generator=g, dtype=torch.float64)
        _close(_gradients(ours, x, None), _gradients(torchs, x, None), 1e-12)


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("width", [1, 3])
def test_gradcheck(cell: str, width: int) -> None:
    ours, _ = _pair(cell, 2, width, bidirectional=True)
    ours = ours.double()
    names, values = zip(*ours.named_parameters(), strict=True)
    g = torch.Generator().manual_seed(1)
    x = torch.randn(2, 4, 2, generator=g, dtype=torch.float64, requires_grad=True)
    h = torch.randn(2, 2, width, generator=g, dtype=torch.float64, requires_grad=True)

    def call(x: Tensor, h: Tensor, *parameters: Tensor) -> tuple[Tensor, ...]:
        given = h if cell == "gru" else (h, h * 0.5)
        y, last = torch.func.functional_call(
            ours,
            dict(zip(names, parameters, strict=True)),
            (x, given),
            {"lengths": torch.tensor([4, 2])},
        )
        return (y, *_flat(last))

    assert torch.autograd.gradcheck(call, (x, h, *values))


@pytest.mark.parametrize("cell", CELLS)
@pytest.mark.parametrize("bidirectional", [False, True])
@pytest.mark.parametrize("lengths", [[6, 6, 6, 6, 2], [1, 9, 3, 9, 9], [9, 8, 7, 6, 5]])
def test_padded_batches_equal_packed_ones(
    cell: str, bidirectional: bool, lengths: list[int]
) -> None:
    ours, torchs = _pair(cell, 4, 8, bidirectional=bidirectional)
    torchs = type(ours)(4, 8, batch_first=True, bidirectional=bidirectional, fused=False)
    torchs.load_state_dict(ours.state_dict())
    g = torch.Generator().manual_seed(3)
    x = torch.randn(5, 9, 4, generator=g)
    hx = _states(cell, 1 + bidirectional, 5, 8, g)
    many = torch.tensor(lengths)
    _close(_gradients(ours, x, hx, lengths=many), _gradients(torchs, x, hx, lengths=many), 3e-6)


@pytest.mark.parametrize("cell", CELLS)
def test_an_item_has_the_same_bits_among_many(cell: str) -> None:
    """Blocks of several sizes, joined in one call or not."""
    ours, _ = _pair(cell, 3, 8, bidirectional=True)
    g = torch.Generator().manual_seed(5)
    x, state = torch.randn(75, 6, 3, generator=g), _states(cell, 2, 75, 8, g)
    lengths = torch.tensor([6] * 39 + [2] * 30 + [6] * 6)
    with torch.no_grad():
        out, last = ours(x, state, lengths=lengths)
        for item in (0, 3, 4, 37, 38, 39, 68, 69, 74):
            chosen = slice(item, item + 1)
            own = state[:, chosen] if cell == "gru" else tuple(part[:, chosen] for part in state)
            alone, after = ours(x[chosen], own, lengths=lengths[chosen])
            assert torch.equal(alone[0], out[item])
            for part, whole in zip(_flat(after), _flat(last), strict=True):
                assert torch.equal(part[:, 0], whole[:, item])


@pytest.mark.parametrize("cell", CELLS)
def test_nothing_is_read_of_an_empty_item(cell: str) -> None:
    for fused in (True, False):
        module = CELLS[cell][0](3, 8, batch_first=True, bidirectional=True, fused=fused)
        x = torch.randn(3, 5, 3, requires_grad=True)
        y, _ = module(x, lengths=torch.tensor([5, 0, 2]))
        y.square().sum().backward()
        assert y[1].abs().max() == 0
        assert x.grad is not None
        assert x.grad[1].abs().max() == 0


def test_several_callers_at_once() -> None:
    ours, _ = _pair("gru", 3, 16, bidirectional=True)
    torch.set_num_threads(2)
    inputs = [torch.randn(3, 200, 3, generator=torch.Generator().manual_seed(i)) for i in range(4)]
    with torch.no_grad():
        expected = [ours(x)[0] for x in inputs]
    wrong: list[int] = []

    def call(i: int) -> None:
        with torch.no_grad():
            wrong.extend(i for _ in range(20) if not torch.equal(ours(inputs[i])[0], expected[i]))

    callers = [threading.Thread(target=call, args=(i,)) for i in range(4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert not wrong


@pytest.mark.parametrize("cell", CELLS)
def test_a_kept_graph_allows_a_second_backward_pass(cell: str) -> None:
    ours, _ = _pair(cell, 3, 8, bidirectional=True)
    x = torch.randn(2, 9, 3, requires_grad=True)
    y, _ = ours(x)
    (first,) = torch.autograd.grad(y.square().sum(), x, retain_graph=True)
    (second,) = torch.autograd.grad(y.square().sum(), x)
    assert torch.equal(first, second)


@pytest.mark.parametrize("cell", CELLS)
def test_not_a_number_is_not_hidden(cell: str) -> None:
    ours, _ = _pair(cell, 3, 16, bidirectional=True)
    x = torch.randn(2, 9, 3)
    x[1, 4, 0] = float("nan")
    y, _ = ours(x)
    assert y[1, 4].isnan().all()
    assert y[0].isfinite().all()


@pytest.mark.parametrize("cell", CELLS)
def test_extreme_inputs_saturate_as_torchs_do(cell: str) -> None:
    ours, torchs = _pair(cell, 3, 16)
    x = torch.randn(2, 9, 3) * 1e4
    mine, theirs = _gradients(ours, x, None), _gradients(torchs, x, None)
    _close(mine[:2], theirs[:2], 3e-6)
    assert all(g.isfinite().all() for g in mine)
