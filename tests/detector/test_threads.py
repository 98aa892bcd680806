"""A trained detector is the same, bit for bit, for any number of threads."""

from __future__ import annotations

import pytest
import torch

from bdl import Detector
from bdl.encoders import Ensemble, Recurrent, Transformer, Trees, UNet
from bdl.encoders.vectors import VARIABLE, available_bits
from bdl.intervals import IntervalType
from learning import bouts, quick

INTERVALS = (IntervalType(name="bout", onset="on", offset="off"),)
ENCODERS = {
    "gru": Recurrent(width=32),
    "lstm": Recurrent(width=20, cell="lstm", bidirectional=False),
    "wide": Recurrent(width=128, blocks=1),  # gradients larger than torch's grain of 32,768
    "unet": UNet(channels=(16, 16, 32)),
    "transformer": Transformer(width=16, layers=1, heads=2),
    "context": Transformer(width=16, layers=1, heads=2, causal=True, context=64),
    "trees": Trees(trees=20, widths=(1, 4, 16)),
    "ensemble": Ensemble(members=(Recurrent(width=8, front=5), Trees(trees=20, causal=True))),
}


def _fit(threads: int, **parameters: object) -> Detector:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        recordings, events = bouts(6, samples=1500)
        detector = Detector(**quick(stride=1, batch=3, epochs=2, seed=3, **parameters))
        return detector.fit(recordings, events, intervals=INTERVALS)
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("name", ENCODERS)
@pytest.mark.parametrize("objective", ["bdl-gaussian", "seg-ce"])
def test_threads_change_no_weight(name: str, objective: str, tmp_path) -> None:
    files, losses = [], []
    for threads in (1, 2, 4):
        detector = _fit(threads, encoder=ENCODERS[name], objective=objective)
        detector.save(tmp_path / f"{threads}.bdl")
        files.append((tmp_path / f"{threads}.bdl").read_bytes())
        losses.append([epoch.loss for epoch in detector.history_])
    assert losses[1:] == losses[:1] * 2
    assert files[1:] == files[:1] * 2


@pytest.mark.parametrize("bits", available_bits())
def test_the_vector_width_is_recorded(bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, str(bits))
    detector = _fit(1, encoder=Recurrent(width=8, blocks=1))
    assert detector.model_.versions["vector_bits"] == str(bits)
