"""Short recordings that pass through a model together: nothing depends on what shares a batch."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn

from bdl import Detector, Events, Recording, Recordings
from bdl.batched_inference import TOGETHER, densities, inference_batches
from bdl.binning import Binned
from bdl.encoders import Ensemble, Recurrent, Transformer, Trees, UNet
from bdl.encoders.fused import threads
from bdl.encoders.fused.setting import use_fused
from bdl.inference import density
from learning import quick, spikes

ENCODERS = {
    "gru": Recurrent(width=20),
    "lstm": Recurrent(width=8, cell="lstm"),
    "front": Recurrent(width=8, front=5),
    "forward": Recurrent(width=8, bidirectional=False, front=5),
    "unet": UNet(channels=(4, 8, 8)),
    "trees": Trees(trees=5, widths=(1, 4), statistics=("mean", "std")),
    "ensemble": Ensemble(
        members=(Recurrent(width=8), Trees(widths=(1, 4), statistics=("mean", "std")))
    ),
}
MODULES: dict[str, nn.Module] = {}


def built(name: str, *, calendar: bool = True) -> nn.Module:
    if name not in MODULES:
        torch.manual_seed(0)
        MODULES[name] = ENCODERS[name].build(4, 2, calendar).eval()
    return MODULES[name]


def binned(bins: int, rng: np.random.Generator) -> Binned:
    values = rng.normal(size=(bins, 4)).astype(np.float32)
    hour, weekday = (rng.integers(0, most, bins) for most in (24, 7))
    return Binned(values, hour, weekday, np.zeros(bins, dtype=np.bool_))


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(sorted(ENCODERS)),
    st.lists(st.integers(0, 70), min_size=2, max_size=9),
    st.integers(0, 2**16),
)
def test_a_recording_in_a_batch_is_as_it_is_alone(name: str, lengths: list[int], seed: int) -> None:
    rng, module = np.random.default_rng(seed), built(name)
    items = [binned(bins, rng) for bins in lengths]
    options = {"outputs": 2, "link": nn.functional.softplus}
    together = densities(module, items, **options)
    for item, values in zip(items, together, strict=True):
        assert np.array_equal(values, density(module, item, **options))


@given(st.lists(st.integers(0, 9000), max_size=60))
def test_batches_keep_the_order_and_a_bound(lengths: list[int]) -> None:
    batches = [*inference_batches(lengths, built("gru"), int)]
    assert [bins for batch in batches for bins in batch] == lengths
    assert all(len(batch) == 1 or len(batch) * max(batch) <= TOGETHER for batch in batches)
    if batches and max(lengths) <= TOGETHER // 100:
        assert len(batches) == 1


def test_other_modules_see_one_recording_at_a_time() -> None:
    others = (
        Transformer(width=8, layers=1, heads=2),
        UNet(channels=(4, 4, 4), attention=True, heads=1, bins=32),
        Recurrent(width=8, fused=False),
        Recurrent(width=264),
        Ensemble(members=(Recurrent(width=8), Transformer(width=8, layers=1, heads=2))),
    )
    for encoder in others:
        module = encoder.build(4, 2, False)
        assert [*inference_batches([5, 5], module, int)] == [(5,), (5,)]
    assert [*inference_batches([5, 5], nn.Linear(4, 2), int)] == [(5,), (5,)]
    use_fused(False)
    try:
        assert [*inference_batches([5, 5], built("gru"), int)] == [(5,), (5,)]
    finally:
        use_fused(True)


@pytest.fixture(scope="module")
def fitted() -> Detector:
    return Detector(**quick(epochs=1)).fit(*spikes(4))


def test_detections_of_many_are_those_of_each(fitted: Detector) -> None:
    rng = np.random.default_rng(0)
    lengths = [30, 400, 0, 401, 33_000, 7, 1200]
    recordings = Recordings.of(
        Recording.of(rng.normal(size=(samples, 2)) * 8, id=f"r{samples}", period=1.0)
        for samples in lengths
    )
    parts = [fitted.detect(recording) for recording in recordings]
    assert fitted.detect(recordings) == Events.concat(parts)
    assert len(Events.concat(parts)) > 100
    for recording, density_ in zip(recordings, fitted.densities(recordings), strict=True):
        assert np.array_equal(density_.values, fitted.density(recording).values)


def test_small_work_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[int] = []

    class Looks(nn.Linear):
        def forward(self, values, hour, weekday, mask):
            seen.append(torch.get_num_threads())
            return super().forward(values)

    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        item, module = binned(50, np.random.default_rng(0)), Looks(4, 2)
        density(module, item, outputs=2, link=torch.exp)
        monkeypatch.setattr(threads, "SMALL", 100)
        density(module, item, outputs=2, link=torch.exp)
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(before)
    assert seen == [1, 2]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_after_threads_detects_as_before(fitted: Detector) -> None:
    """The child has none of its parent's threads; it must not wait for them."""
    recordings, _ = spikes(2, seed=3, samples=40_000)
    before = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        torch.ones(1 << 20).exp().sum()  # torch starts its threads
        threads.run([(threads.LEAST, lambda: None)] * 4)
        expected = fitted.detect(recordings)
        child = os.fork()
        if child == 0:
            torch.ones(1 << 20).exp().sum()
            os._exit(0 if fitted.detect(recordings) == expected else 1)
    finally:
        torch.set_num_threads(before)
    until, ended = time.monotonic() + 60, (0, 0)
    while ended[0] == 0 and time.monotonic() < until:
        ended = os.waitpid(child, os.WNOHANG)
        time.sleep(0.02)
    if ended[0] == 0:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
    assert ended == (child, 0)
