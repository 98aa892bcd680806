"""A kernel, an objective and a scaling of another package, found by their entry points."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest

import bdl
from bdl.formats import write_events
from learning import spikes

MODULE = '''
import numpy as np

from bdl import targets
from bdl.kernels import Kernel
from bdl.kernels.kernel import reach_in_samples
from bdl.objectives import Objective
from bdl.scaling import Scaling


class Triangle(Kernel):
    """A kernel that falls linearly to zero.

    Parameters
    ----------
    half_width
        Seconds from the peak to zero.
    """

    kind: str = "triangle"
    half_width: float = 4.0

    def weights(self, period):
        reach = reach_in_samples(self.half_width, period)
        weights = 1.0 + reach - np.abs(np.arange(-reach, reach + 1))
        return -reach, weights / weights.sum()


class Hinge(Objective):
    """Squared hinge loss on bins with and without an event."""

    kind: str = "hinge"
    margin: float = 1.0

    def density(self, logits):
        return logits.float().clamp(min=0)

    def scores(self, logits, target):
        sign = 2 * target - 1
        return (self.margin - sign * logits.float()).clamp(min=0) ** 2

    def _target(self, labels, stride, first, samples):
        return targets.event_points(labels.events, stride=stride, first=first, samples=samples)


class Largest(Scaling):
    """Division by the largest absolute value of the training recordings."""

    kind: str = "largest"
    by: float | None = None

    def fit(self, recordings):
        return self.replace(by=max(float(np.abs(each.values).max()) for each in recordings))

    def affine(self, channels):
        return np.zeros(channels), np.full(channels, self.by)
'''
ENTRY_POINTS = """
[bdl.kernels]
triangle = learning_package:Triangle
[bdl.objectives]
hinge = learning_package:Hinge
[bdl.scaling]
largest = learning_package:Largest
"""
PROTOCOL = """
name: mine-nested
data: sleep
split: {kind: folds, folds: 2, seed: 0, calibration: 0.3}
rows:
  - {name: Triangle, objective: {kind: bdl, kernel: {kind: triangle, half_width: 100}}}
  - {name: Triangle cross-entropy, objective: bce-triangle}
  - {name: Hinge, objective: hinge}
training: {epochs: 1, checkpoint_epochs: [1], batch: 2}
seeds: [0]
metrics: [mAP]
"""


@pytest.fixture
def run(tmp_path: Path) -> Callable[..., str]:
    """Runs a program or ``bdl`` with the other package installed."""
    (tmp_path / "learning_package.py").write_text(MODULE)
    metadata = tmp_path / "learning_package-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: learning-package\nVersion: 1.0\n"
    )
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS)
    here = Path(__file__).parent
    path = os.pathsep.join([str(Path(bdl.__file__).parents[1]), str(tmp_path), str(here)])

    def call(*words: object, program: str = "from bdl.cli import main; main()") -> str:
        done = subprocess.run(
            [sys.executable, "-c", program, *map(str, words)],
            env={**os.environ, "PYTHONPATH": path},
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return call


def test_in_the_detector_and_on_the_command_line(run: Callable[..., str], tmp_path: Path) -> None:
    run(
        program="""
from bdl import Detector
from learning import quick, spikes
detector = Detector(**quick(objective="bdl-triangle", scaling="largest", epochs=1))
detector.fit(*spikes(3)).save("model")
loaded = Detector.load("model")
assert loaded.model_.objective.kernel.half_width == 4.0
assert loaded.model_.features.scaling.by > 20
assert loaded.detect(spikes(3)[0]) == detector.detect(spikes(3)[0])
"""
    )
    recordings, events = spikes(4)
    (tmp_path / "signals").mkdir()
    for recording in recordings:
        frame = pl.DataFrame({"x": recording.values[:, 0]})
        frame.write_parquet(tmp_path / "signals" / f"{recording.id}.parquet")
    write_events(events, tmp_path / "events.csv")
    for name, objective in (("a", "mse-triangle"), ("b", "{kind: hinge, margin: 0.5}")):
        run(
            *("fit", "--recordings", "signals", "--events", "events.csv", "--period", 1),
            *("--out", name, "--objective", objective, "--scaling", "largest", "--stride", 4),
            *("--tolerance", 8, "--epochs", 1, "--validation", 0, "--quiet"),
        )
        run("detect", name, "--recordings", "signals", "--period", 1, "--out", f"{name}.csv")
        assert (tmp_path / f"{name}.csv").exists()


@pytest.mark.slow
def test_in_a_study(run: Callable[..., str], tmp_path: Path) -> None:
    (tmp_path / "mine.yaml").write_text(PROTOCOL)
    run("study", "run", "mine.yaml", "--out", "run", "--scale", "tiny")
    records = json.loads((tmp_path / "run/results.json").read_text())["records"]
    assert len(records) >= 3
