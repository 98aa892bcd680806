"""When the fused recurrences are used, and that training with them is training as before."""

from __future__ import annotations

import os
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bdl.encoders import Recurrent
from bdl.encoders.fused.recurrent_layers import FusedGRU, FusedLSTM, _fits
from bdl.encoders.fused.setting import use_fused
from bdl.errors import ConfigError, InputError

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_child_computes_too() -> None:
    from bdl.encoders.fused import threads

    done: list[int] = []
    torch.set_num_threads(2)
    threads.run([(1, lambda: done.append(1)), (1, lambda: done.append(2))])  # threads exist now
    child = os.fork()
    if child == 0:
        done.clear()
        threads.run([(1, lambda: done.append(1)), (1, lambda: done.append(2))])
        os._exit(0 if sorted(done) == [1, 2] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def _is_fused(module: nn.Module, x: Tensor) -> bool:
    return "Recurrence" in type(module(x)[0].grad_fn).__name__


def test_one_setting_leaves_it_to_torch() -> None:
    x = torch.randn(2, 64, 3)
    module = FusedGRU(3, 8, batch_first=True)
    use_fused(True)
    assert _is_fused(module, x)
    use_fused(False)
    assert not _is_fused(module, x)
    use_fused(True)
    assert not _is_fused(FusedGRU(3, 8, batch_first=True, fused=False), x)
    assert Recurrent(fused=False).build(3, 1, False).blocks[0].recurrence.fused is False


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize("shape", [(1, 1), (2, 64), (1, 5_000)])
@pytest.mark.parametrize(("width", "fused"), [(1, True), (20, True), (256, True), (257, False)])
def test_only_the_width_decides(
    shape: tuple[int, int], width: int, fused: bool, threads: int, bits: int
) -> None:
    torch.set_num_threads(threads)
    for kind in (FusedGRU, FusedLSTM):
        module = kind(3, width, batch_first=True)
        assert _fits(module, torch.empty(*shape, 3)) is fused


def test_what_is_not_ours_is_torchs() -> None:
    x = torch.randn(2, 64, 3)
    assert not _is_fused(FusedGRU(3, 8, num_layers=2, batch_first=True), x)
    assert not _is_fused(FusedGRU(3, 8), x)
    assert not _is_fused(FusedLSTM(3, 8, proj_size=4, batch_first=True), x)
    module = FusedGRU(3, 8, batch_first=True)
    assert _fits(module, x)
    with torch.autocast("cpu", dtype=torch.bfloat16):  # asked, not run: not every CPU has bfloat16
        assert not _fits(module, x)
    assert not _fits(module, x.half())
    assert not _fits(module, x.to("meta"))


@pytest.mark.parametrize("lengths", [[1, 2, 3], [5, -1], [2, 6]])
def test_lengths_must_fit(lengths: list[int]) -> None:
    with pytest.raises(InputError, match="lengths"):
        FusedGRU(3, 8, batch_first=True)(torch.randn(2, 5, 3), lengths=torch.tensor(lengths))


@pytest.mark.parametrize("cell", ["gru", "lstm"])
def test_training_curves_are_the_same(cell: Any) -> None:
    """Find where a noisy level changes: the losses of 15 Adam steps, fused and torch's own."""
    g = torch.Generator().manual_seed(0)
    place = torch.randint(20, 180, (8,), generator=g)
    state = (torch.arange(200) >= place[:, None]).float()
    x = torch.stack([state, -state, torch.zeros_like(state)], dim=2)
    x = x + 0.5 * torch.randn(x.shape, generator=g)
    mask = torch.arange(200) < torch.tensor([200] * 6 + [190, 150])[:, None]
    curves = []
    for fused in (True, False):
        torch.manual_seed(1)
        module = Recurrent(width=16, cell=cell, fused=fused).build(3, 1, False)
        steps = torch.optim.Adam(module.parameters(), lr=1e-2)
        curve = []
        for _ in range(15):
            logits = module(x, mask=mask)[:, :, 0]
            loss = nn.functional.binary_cross_entropy_with_logits(logits[mask], state[mask])
            steps.zero_grad()
            loss.backward()
            steps.step()
            curve.append(loss.item())
        curves.append(curve)
    assert curves[0][-1] < 0.7 * curves[0][0]
    assert curves[0] == pytest.approx(curves[1], rel=1e-3)


def test_a_front_of_one_direction_sees_nothing_later_and_padding_changes_nothing() -> None:
    torch.manual_seed(0)
    values = torch.randn(2, 50, 3)
    for bidirectional in (True, False):
        encoder = Recurrent(width=8, blocks=1, bidirectional=bidirectional, front=7)
        module = encoder.build(3, 1, False).eval()
        with torch.inference_mode():
            whole = module(values[:, :30])
            mask = torch.arange(50)[None].expand(2, -1) < 30
            torch.testing.assert_close(module(values, None, None, mask)[:, :30], whole)
            changed = values.clone()
            changed[:, 30:] += 1
            same = torch.allclose(module(changed)[:, :30], module(values)[:, :30])
        assert same is not bidirectional
    with pytest.raises(ConfigError, match="odd"):
        Recurrent(front=4)
