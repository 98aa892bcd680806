"""Every variant of the outside package works wherever a variant is named.

Run by ``tests/test_variants.py`` in a process of its own, whose path has this folder: the variants
of the outside package must not be known to the other tests.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import bdl
from bdl.datasets import Dataset
from bdl.decoding import Decoder, Grid
from bdl.encoders import Encoder
from bdl.evaluation.metrics import Metric
from bdl.formats.events import EventFormat
from bdl.formats.recordings import RecordingFormat
from bdl.kernels import Kernel
from bdl.objectives import Objective
from bdl.scaling import Scaling
from calling import call, call_json

FAMILIES = {
    Kernel: "triangle",
    Objective: "squared-mass",
    Encoder: "per-bin",
    Scaling: "largest-value",
    Decoder: "largest",
    Grid: "largest",
    Metric: "detections-per-truth",
    RecordingFormat: "numbers",
    EventFormat: "lines",
    Dataset: "clicks",
}
PROTOCOL = """
name: toys
data: clicks
split: {kind: folds, folds: 2, seed: 0, calibration: 0.3}
rows:
  - {name: kernel, objective: bdl-triangle}
  - {name: objective and encoder, objective: squared-mass, encoder: {kind: per-bin, gain: 2.0}}
training: {epochs: 2, checkpoint_epochs: [1, 2], batch: 2}
window: 100.0
seeds: [0]
grid: {kind: largest, counts: [6]}
metrics: [mAP, detections-per-truth]
"""


@pytest.fixture(scope="module")
def data(tmp_path_factory) -> Path:
    """The simulated data set."""
    folder = tmp_path_factory.mktemp("clicks")
    call("simulate", "clicks", "--out", folder, "--recordings", 6)
    return folder


@pytest.mark.parametrize(
    ("family", "kind"), FAMILIES.items(), ids=lambda value: getattr(value, "__name__", None)
)
def test_the_family_knows_it(family, kind):
    variant = family.kinds()[kind]
    assert variant.__module__.startswith("toy_bdl.")
    assert family.parse({"kind": kind}) == family.parse(kind) == variant()


def test_all_work_in_a_detector(data, tmp_path):
    benchmark = Dataset.parse("clicks").load(data)
    for objective, encoder in (("bdl-triangle", "per-bin"), ("squared-mass", "gru")):
        detector = bdl.Detector(
            objective=objective,
            encoder=encoder,
            decoder={"kind": "largest", "most": 7},
            features={"stride": 2, "scaling": "largest-value"},
            window=100.0,
            tolerances=(2.0,),
            training={"epochs": 2},
        )
        detector.fit(benchmark.recordings, benchmark.events)
        detector.save(tmp_path / "model.safetensors")
        detections = bdl.load(tmp_path / "model.safetensors").detect(benchmark.recordings)
        assert len(detections) == 6 * 7
        bdl.write_events(detections, tmp_path / "detections.lines", format="lines")
        assert bdl.read_events(tmp_path / "detections.lines") == detections
        score = bdl.score(benchmark.events, detections, (2.0,))
        assert Metric.parse("detections-per-truth").value(score.matches) == 42 / 36


def test_all_work_on_the_command_line(data, tmp_path):
    model, detections = tmp_path / "model.safetensors", tmp_path / "detections.csv"
    source = ("--recordings", data, "--pattern", "*.numbers", "--events", data / "clicks.lines")
    assert call_json("inspect", data, *source[2:])["recordings"]["recordings"] == 6
    call("audit", "--dataset", "clicks", "--data", data, "--kernel", "triangle")
    call(
        *("fit", "--dataset", "clicks", "--data", data, "--out", model, "--quiet"),
        *("--objective", "bdl-triangle", "--encoder", "{kind: per-bin, gain: 2}"),
        *("--decoder", "{kind: largest, most: 7}", "--epochs", 2, "--selection-folds", 0),
        *("--scaling", "largest-value"),
    )
    call(
        *("detect", model, "--dataset", "clicks", "--data", data, "--out", detections),
        *("--densities", tmp_path / "densities"),
    )
    call("convert", detections, "--out", tmp_path / "detections.lines", "--to", "lines")
    truth = ("--truth", data / "clicks.lines", "--tolerance", 2)
    scored = call_json(
        *("score", *truth, "--detections", tmp_path / "detections.lines"),
        *("--bootstrap", 20, "--metric", "detections-per-truth"),
    )
    assert scored["bootstrap"]["metric"] == "detections-per-truth"
    (tmp_path / "grid.json").write_text(json.dumps({"kind": "largest", "counts": [6, 7]}))
    calibrated = call_json(
        *("calibrate", tmp_path / "densities", "--events", data / "clicks.lines"),
        *("--out", tmp_path / "calibration.json", "--grid", tmp_path / "grid.json"),
        *("--tolerance", 2, "--metric", "mAP"),
    )
    assert calibrated["decoder"]["kind"] == "largest"


def test_all_work_in_a_study(data, tmp_path):
    (tmp_path / "toys.yaml").write_text(PROTOCOL)
    call("study", "run", tmp_path / "toys.yaml", "--out", tmp_path / "run", "--data", data)
    results = json.loads((tmp_path / "run/results.json").read_text())
    assert results["records"]
    assert "detections-per-truth" in json.dumps(results)


def test_adding_one_to_the_tree_touches_one_file():
    """A file of the outside package needs nothing but itself: its only imports are public."""
    for file in (Path(__file__).parent / "toy_bdl").glob("*.py"):
        assert "toy_bdl." not in file.read_text(), file
    assert np.isclose(Kernel.parse("triangle").weights(1.0)[1].sum(), 1.0)
