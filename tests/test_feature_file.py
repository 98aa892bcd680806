"""Training past memory: features in a mapped file give the same model, within a limit."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bdl import Detector
from bdl.events import Events
from bdl.formats import prepare, write_events
from bdl.recording import RecordingInfo, Recordings
from bdl.training import feature_file
from learning import quick, spikes


def test_a_file_in_place_of_memory_changes_no_weight(monkeypatch):
    data, events = spikes(4)
    inside = Detector(**quick()).fit(data, events)
    monkeypatch.setattr(feature_file, "available_memory", lambda: 0)
    mapped = Detector(**quick()).fit(data, events)
    assert [epoch.loss for epoch in mapped.history_] == [epoch.loss for epoch in inside.history_]
    weights, others = inside.module_.state_dict(), mapped.module_.state_dict()
    assert all(np.array_equal(weights[name], others[name]) for name in weights)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the limit is that of Linux")
def test_a_store_ten_times_larger_than_the_limit(tmp_path: Path):
    allowance = 64 << 20
    samples, count = 1 << 16, 640  # 1 MiB per recording with 4 channels
    assert count * samples * 4 * 4 >= 10 * allowance

    def values(info):
        made = np.random.default_rng(int(info.id)).normal(size=(samples, 4)).astype(np.float32)
        made[:: samples // 8, 0] += 25.0
        return made

    channels = ("a", "b", "c", "d")
    infos = tuple(RecordingInfo(str(i), samples, channels, 1.0) for i in range(count))
    prepare(Recordings(infos, values), tmp_path / "store")
    places = np.arange(0, samples, samples // 8).astype(float)
    names = [info.id for info in infos for _ in places]
    write_events(Events.of(names, "spike", np.tile(places, count)), tmp_path / "events.csv")
    script = Path(__file__).parent / "naive/fit_within_limit.py"
    done = subprocess.run(
        [sys.executable, script, tmp_path, str(allowance)],
        env={**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert done.stdout.strip() == "fitted", done.stderr[-2000:]
    assert Detector.load(tmp_path / "model").model_.channels == infos[0].channels
