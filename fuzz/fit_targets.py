"""Folders in which a fit, a demonstration or a detection over many recordings goes on."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bdl import Detector, demo
from bdl.detector.budget import within_budget
from bdl.detector.detection_run import detect_many
from bdl.detector.detector_settings import DetectorSettings
from bdl.events import Events
from fuzz.model_targets import ENCODERS, fitted, spikes
from fuzz.target import Target, WrongError, contents

BUDGET = DetectorSettings(training={"budget": 60})


def targets() -> Iterator[Target]:
    """Whatever is damaged: an error, or the result of an undisturbed run."""
    recordings, events = spikes()
    settings: dict[str, Any] = {
        "encoder": ENCODERS["gru"],
        "features": {"stride": 5},
        "tolerances": (10.0,),
        "training": {"epochs": 2, "checkpoints": 2, "accelerator": "cpu"},
        "selection": {"folds": 0},
    }

    def fit(folder: Path) -> bytes:
        with warnings.catch_warnings(), TemporaryDirectory() as place:
            warnings.simplefilter("ignore")
            detector = Detector(**settings, directory=folder / "fit").fit(recordings, events)
            detector.save(Path(place) / "model")
            return (Path(place) / "model").read_bytes()

    yield _equal("fit directory", fit)
    detector = fitted(ENCODERS["gru"], recordings, events)

    def detect(folder: Path) -> list[Any]:
        detections: Events = detect_many(
            detector, recordings, folder / "run", densities=True
        ).detections
        return [detections.recording.tolist(), detections.event.tolist(), detections.time.tolist()]

    yield _equal("fit detections", detect)
    unread: Any = None  # the data is not measured again
    yield Target(
        "fit budget", {"budget.json": b'{"60": 500}'}, ("budget.json",),
        lambda folder: within_budget(BUDGET, unread, trainings=1, directory=folder),
    )  # fmt: skip
    record = demo.DemoSettings().model_dump_json().encode()
    yield Target(
        "fit demonstration", {"demo.json": record}, ("demo.json",),
        lambda folder: demo._claim(folder, demo.DemoSettings()),
    )  # fmt: skip


def _equal(name: str, run: Callable[[Path], object]) -> Target:
    """A target whose work, gone on with in its damaged folder, must end as it did undisturbed."""
    with TemporaryDirectory() as folder:
        whole = run(Path(folder))
        files = contents(Path(folder))

    def again(folder: Path) -> None:
        if run(folder) != whole:
            raise WrongError("a damaged folder gave another result")

    return Target(name, files, tuple(files), again)
