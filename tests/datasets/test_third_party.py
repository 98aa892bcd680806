"""A data set of another package, found by its entry point, works wherever a data set is named."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import bdl

MODULE = '''
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import numpy as np

from bdl.datasets import Benchmark, Dataset, Scale, Settings
from bdl.events import Events
from bdl.recording import Recording, Recordings


class Clicks(Dataset):
    """Clicks in noise.

    Parameters
    ----------
    gain
        Factor on the values.
    """

    kind: str = "clicks"
    gain: float = 1.0

    licence = "public domain"
    requires = "nothing: it is simulated"
    scales: ClassVar[Mapping[str, Scale]] = {
        "tiny": Scale(recordings=6, epochs=2, window=100.0, folds=2, tiny=True, replicates=10)
    }

    def read(self, path):
        times = {file.stem: np.load(file) for file in sorted(path.glob("*.npy"))}
        recordings = []
        for id in times:
            noise = np.random.default_rng(int(id[1:])).normal(size=400)
            noise[times[id]] += 9
            recordings.append(Recording.of(noise * self.gain, id=id, period=1.0))
        events = Events.concat([Events.of(id, "click", at * 1.0) for id, at in times.items()])
        settings = Settings(
            types=("click",), tolerances=(2.0,), stride=2, window=200.0,
            reference_spacing=50.0, sigma=1.0, separation=5.0,
        )
        return Benchmark(self.kind, Recordings.of(recordings), events, (), settings)

    def simulator(self):
        return write


def write(folder, *, recordings, days, seed, progress):
    for number in range(recordings):
        rng = np.random.default_rng([seed, number])
        np.save(folder / f"r{number}.npy", np.sort(rng.choice(400, size=8, replace=False)))
        progress(number + 1, recordings)
'''
PROTOCOL = """
name: clicks-nested
data: {kind: clicks, gain: 2.0}
split: {kind: folds, folds: 2, seed: 0, calibration: 0.3}
rows: [{name: BDL, objective: bdl-hard}]
training: {epochs: 2, checkpoint_epochs: [1, 2], batch: 2}
window: 100.0
seeds: [0]
metrics: [mAP]
"""


@pytest.fixture
def run(tmp_path):
    """Runs ``bdl`` with the other package installed."""
    (tmp_path / "clicks_package.py").write_text(MODULE)
    metadata = tmp_path / "clicks_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: clicks-package\nVersion: 1.0\n"
    )
    (metadata / "entry_points.txt").write_text("[bdl.datasets]\nclicks = clicks_package:Clicks\n")
    path = os.pathsep.join([str(Path(bdl.__file__).parents[1]), str(tmp_path)])

    def call(*words: object) -> str:
        program = "from bdl.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", program, *map(str, words)],
            env={**os.environ, "PYTHONPATH": path, "COLUMNS": "100"},
            cwd=tmp_path, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call


@pytest.mark.slow
def test_commands(run):
    shown = run("data", "list")
    assert "Clicks in noise." in shown
    assert "Factor on the values." in shown
    run("simulate", "clicks", "--out", "clicks", "--recordings", 6)
    audit = json.loads(run("audit", "--dataset", "clicks", "--data", "clicks", "--json"))
    assert audit["types"][0]["placed"] == 48
    assert audit["notes"][-1] == "licence: public domain"
    summary = json.loads(
        run("inspect", "clicks", "--dataset", "clicks", "--option", "gain=3", "--json")
    )
    assert summary["recordings"]["recordings"] == 6


@pytest.mark.slow
def test_training_and_a_study(run, tmp_path):
    run("simulate", "clicks", "--out", "clicks", "--recordings", 6)
    run("fit", "--dataset", "clicks", "--data", "clicks", "--option", "gain=2", "--out",
        "model.safetensors", "--epochs", 1, "--quiet")  # fmt: skip
    assert (tmp_path / "model.safetensors").exists()
    (tmp_path / "clicks.yaml").write_text(PROTOCOL)
    run("study", "run", "clicks.yaml", "--out", "run", "--scale", "tiny")
    results = json.loads((tmp_path / "run/results.json").read_text())
    assert results["records"]
