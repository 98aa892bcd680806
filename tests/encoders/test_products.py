"""Products and sums against torch in float64; their bits at any threads and vector width."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from bdl.encoders.fused.batch_norm import BatchNormReLU
from bdl.encoders.fused.convolution_layers import CausalDepthwise, Conv1d
from bdl.encoders.fused.dense_layers import LayerNorm, Linear
from bdl.encoders.fused.products import SEGMENT, column_sum, multiply, outer_sum
from bdl.encoders.fused.setting import use_fused

SHAPES = [  # groups, rows, inner, columns
    (1, 1, 1, 1),
    (2, 7, 3, 5),
    (3, 100, 16, 32),
    (1, 5_000, 8, 2),
    (2, SEGMENT + 1, 33, 17),
]


def _close(ours: Tensor, truth: Tensor) -> None:
    tolerance = 3e-6 if ours.dtype == torch.float32 else 1e-14
    assert (ours - truth).abs().max() <= tolerance * float(truth.abs().max())


@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
@pytest.mark.parametrize("shape", SHAPES)
def test_equals_torch(shape: tuple[int, int, int, int], kind: torch.dtype, bits: int) -> None:
    groups, rows, inner, columns = shape
    g = torch.Generator().manual_seed(0)
    a = torch.randn(groups, rows, inner, generator=g, dtype=kind)
    b = torch.randn(inner, columns, generator=g, dtype=kind)
    bias = torch.randn(columns, generator=g, dtype=kind)
    c = torch.randn(groups, rows, columns, generator=g, dtype=kind)
    _close(multiply(a, b, bias), a.double() @ b.double() + bias.double())
    _close(multiply(a, b.t().contiguous().t()), a.double() @ b.double())
    _close(outer_sum(c, a), torch.einsum("grc,gri->ci", c.double(), a.double()))
    _close(column_sum(a), a.double().sum((0, 1)))


def test_rows_may_overlap() -> None:
    x = torch.randn(2, 12, 4)
    windows = x.as_strided((2, 10, 12), (48, 4, 1))  # three bins at every bin
    weights = torch.randn(12, 16)
    _close(multiply(windows, weights), windows.double() @ weights.double())
    _close(outer_sum(windows, windows), torch.einsum("gra,grb->ab", *[windows.double()] * 2))


def test_no_rows_have_no_sum() -> None:
    assert outer_sum(torch.zeros(3, 0, 2), torch.zeros(3, 0, 4)).tolist() == [[0.0] * 4] * 2


@pytest.mark.parametrize("width", [1, 8, 20, 32, 100])
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_layers_equal_torchs(width: int, kind: torch.dtype, bits: int) -> None:
    for ours, torchs in (
        (LayerNorm(width), nn.LayerNorm(width)),
        (Linear(width, 5), nn.Linear(width, 5)),
        (Linear(width, 16, bias=False), nn.Linear(width, 16, bias=False)),
    ):
        if width == 1 and isinstance(ours, LayerNorm):
            continue  # one number is its own mean: its gradient is rounding only
        nn.init.normal_(torchs.weight)
        ours.load_state_dict(torchs.state_dict())
        x = torch.randn(3, 700, width, dtype=kind)
        results = []
        for module in (ours.to(kind), torchs.to(kind)):
            given = x.clone().requires_grad_()
            y = module(given)
            y.backward(torch.randn(y.shape, generator=torch.Generator().manual_seed(0)).to(kind))
            results.append([y.detach(), given.grad, *(p.grad for p in module.parameters())])
            with torch.no_grad():
                assert torch.equal(module(x), y)
        for a, b in zip(*results, strict=True):
            tolerance = 1e-5 if kind == torch.float32 else 1e-13
            assert (a - b).abs().max() <= tolerance * float(b.abs().max())


@pytest.mark.parametrize("kernel", [1, 3, 7])
@pytest.mark.parametrize("bins", [1, 2, 50])
def test_convolutions_equal_torchs(kernel: int, bins: int, bits: int) -> None:
    ours, torchs = Conv1d(5, 18, kernel), nn.Conv1d(5, 18, kernel, padding=kernel // 2)
    ours.load_state_dict(torchs.state_dict())
    x = torch.randn(3, bins, 5)
    results = []
    for module, turned in ((ours, False), (torchs, True)):
        given = x.clone().requires_grad_()
        y = module(given.transpose(1, 2)).transpose(1, 2) if turned else module(given)
        y.backward(torch.randn(y.shape, generator=torch.Generator().manual_seed(0)))
        results.append([y.detach(), given.grad, *(p.grad for p in module.parameters())])
    for a, b in zip(*results, strict=True):
        assert (a - b).abs().max() <= 1e-5 * float(b.abs().max())


@pytest.mark.parametrize("fused", [True, False])
@pytest.mark.parametrize("channels", [1, 6, 64, 80])
@pytest.mark.parametrize("kind", [torch.float32, torch.float64])
def test_batch_norms_equal_torchs(channels: int, kind: torch.dtype, fused: bool, bits: int) -> None:
    torch.manual_seed(0)
    ours = BatchNormReLU(channels).to(kind)
    torchs = nn.Sequential(nn.BatchNorm1d(channels), nn.ReLU()).to(kind)
    with torch.no_grad():
        for mine, theirs in zip(ours.parameters(), torchs.parameters(), strict=True):
            mine.copy_(theirs.normal_())
    tolerance = 1e-4 if kind == torch.float32 else 1e-12
    short = [[2, 0, 0]] if kind == torch.float64 else []  # two bins may be too close for float32
    for lengths in ([900, 900, 900], [900, 17, 1], *short):
        valid = torch.arange(900) < torch.tensor(lengths)[:, None]
        x = (3 * torch.randn(3, 900, channels) + 1).to(kind)
        results = []
        use_fused(fused)
        for module in (ours, torchs):
            given = x.clone().requires_grad_()
            mask = None if min(lengths) == 900 else valid
            y = module(given, mask) if module is ours else module(given[valid])
            if module is ours:
                assert not y[~valid].any()
                y = y[valid]
            y.backward(torch.randn(y.shape, generator=torch.Generator().manual_seed(0)).to(kind))
            results.append([y.detach(), given.grad, *module.buffers()])
            results[-1] += [p.grad for p in module.parameters()]
        use_fused(True)
        for a, b in zip(*results, strict=True):
            torch.testing.assert_close(a, b, rtol=tolerance, atol=tolerance)
        ours.zero_grad(), torchs.zero_grad()
    ours.eval(), torchs.eval()
    torch.testing.assert_close(ours(x, valid)[valid], torchs(x[valid]), rtol=1e-4, atol=1e-4)


def test_batch_norms_pass_on_missing_numbers() -> None:
    x = torch.randn(2, 30, 4)
    x[1, 3, 2] = torch.nan
    assert BatchNormReLU(4)(x).isnan().any((0, 1)).tolist() == [False, False, True, False]


def test_depthwise_convolutions_equal_torchs() -> None:
    module = CausalDepthwise(6, 4).double()
    x = torch.randn(2, 9, 6, dtype=torch.float64, requires_grad=True)
    torchs = nn.functional.conv1d(x.transpose(1, 2), module.weight, module.bias, groups=6)
    torch.testing.assert_close(module(x), torchs.transpose(1, 2))
    assert torch.autograd.gradcheck(module, (x,))
    assert torch.autograd.gradcheck(
        lambda weight, bias: torch.func.functional_call(
            module, {"weight": weight, "bias": bias}, x
        ),
        tuple(module.parameters()),
    )


def test_layers_of_other_kinds_are_torchs() -> None:
    x = torch.randn(2, 3, 4).bfloat16()
    assert Linear(4, 2).bfloat16()(x).dtype == torch.bfloat16
    assert LayerNorm(4, elementwise_affine=False)(x.float()).shape == x.shape
    assert Linear(4, 2)(torch.zeros(0, 4)).shape == (0, 2)
