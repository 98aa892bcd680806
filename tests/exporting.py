"""An exported model with recordings and the detections of the original, and how to compare them.

``python tests/exporting.py FOLDER`` writes the files, where torch is; ``python tests/exporting.py
FOLDER TABLE`` compares the detections of another installation with those of the original.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np

from bdl import Events, read_events, read_recordings, write_events

TREES = {"kind": "trees", "trees": 8, "widths": (1, 4, 16)}


def write_example(folder: Path) -> None:
    """Write signals, a model of the default encoder with a second stage, and the model exported."""
    import polars as pl

    from bdl import Detector
    from bdl.detector.application import describe, features_of
    from bdl.encoders import Ensemble, Recurrent
    from bdl.rescoring import Rescoring, ScoreCalibration
    from learning import quick, spikes

    recordings, events = spikes(12)
    (folder / "signals").mkdir(parents=True)
    for recording in recordings:
        frame = pl.DataFrame(
            {"time": np.arange(len(recording.values)), "x": recording.values[:, 0]}
        )
        frame.write_csv(folder / "signals" / f"{recording.id}.csv")
    signals = read_recordings(folder / "signals")
    encoder = Ensemble(members=(Recurrent(width=8, blocks=1), TREES))
    detector = Detector(**quick(encoder=encoder, scaling="per-recording")).fit(signals, events)
    tables, detected = [], []
    for recording, (density, [candidates]) in zip(signals, detector.apply(signals), strict=True):
        binned = features_of(recording, detector.model_)
        tables.append(describe(density, candidates, binned, detector.model_))
        detected.append(candidates)
    shares = [(table[:, 0] > np.median(table[:, 0])).astype(float) for table in tables]
    calibration = ScoreCalibration.fit(detected, shares)
    second = Rescoring(trees=5, least_rows=2)
    detector.rescorer_ = second.fit(tables, shares, detected, calibration, seed=0)
    detector.model_ = detector.model_.replace(calibration=calibration)
    detector.save(folder / "model.bdl")
    detector.export(folder / "model.onnx")
    write_events(detector.detect(signals), folder / "expected.csv")


WITHOUT_TORCH = """\
import sys
class Without:
    def __init__(self, finder): self.finder = finder
    def __getattr__(self, name): return getattr(self.finder, name)
    def find_spec(self, name, *rest):
        gone = name.split(".")[0] in {"torch", "lightning", "lightgbm", "onnx", "sklearn"}
        return None if gone else self.finder.find_spec(name, *rest)
sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
from bdl.cli import main
main()
"""


def without_torch(*command: object, given: str = "") -> str:
    """Run a command where torch and the other libraries of training are absent; what it prints."""
    done = subprocess.run(
        [sys.executable, "-c", WITHOUT_TORCH, *map(str, command)],
        input=given,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def assert_same_events(left: Events, right: Events) -> None:
    """Raise an error unless the detections are the same but for rounding."""
    assert len(left) == len(right) > 0
    assert left.types == right.types
    np.testing.assert_array_equal(left.recording, right.recording)
    np.testing.assert_array_equal(left.type_code, right.type_code)
    np.testing.assert_allclose(left.time, right.time, atol=1e-3)
    np.testing.assert_allclose(left.score, right.score, atol=1e-4)


if __name__ == "__main__":
    place = Path(sys.argv[1])
    if len(sys.argv) == 2:
        write_example(place)
    else:
        detections = read_events(sys.argv[2])
        assert_same_events(detections, read_events(place / "expected.csv"))
        print(f"{len(detections)} detections of the exported model are those of the original")
