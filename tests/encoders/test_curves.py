"""Training on simulated sleep follows the same curve with the fused recurrence as with torch's."""

from __future__ import annotations

import pytest

from bdl import Detector
from bdl.datasets import Sleep, load
from bdl.encoders import Recurrent

DAY = 86400.0


@pytest.mark.slow
def test_curves_on_simulated_sleep(tmp_path):
    Sleep().simulate(tmp_path, recordings=6, days=3, seed=0)
    data = load("sleep", tmp_path)
    curves = []
    for fused in (True, False):
        detector = Detector(
            objective="seg-ce",
            encoder=Recurrent(fused=fused),
            features={"stride": data.settings.stride, "calendar": True, "scaling": "none"},
            window=DAY,
            selection={"folds": 0},
            tolerances=data.settings.tolerances,
            training={"epochs": 8, "batch": 3, "learning_rate": 1e-2, "accelerator": "cpu"},
        )
        detector.fit(
            data.recordings, data.events, intervals=data.intervals, types=data.settings.types
        )
        curves.append([row.loss for row in detector.history_])
    fused, torchs = curves
    assert fused[-1] < 0.9 * fused[0]  # it learns, so that the curve says something
    assert fused == pytest.approx(torchs, rel=1e-3)
    assert fused != torchs  # two ways of computing, not one compared with itself
