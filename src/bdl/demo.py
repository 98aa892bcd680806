"""The demonstration: simulated wrist recordings, two detectors, scored on held-out recordings.

BDL-Hard and interval segmentation share recordings, encoder, budget and seed. Their decoders are
chosen on calibration recordings; scores are those of recordings that neither training nor
calibration has seen. Each step is kept in the folder, so that an interrupted demonstration resumes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from bdl import Detector, decoding
from bdl.config import Value
from bdl.datasets import Benchmark, Sleep, load
from bdl.detector import DetectorSettings
from bdl.detector.selection import Selection
from bdl.errors import ConfigError
from bdl.formats import write_events
from bdl.formats.files import atomic
from bdl.recording import Recordings
from bdl.report import Content, System, write_report
from bdl.training import Training

DAY = 86400.0
OBJECTIVES = {"bdl-hard": "BDL-Hard", "seg-ce": "Segmentation"}


class DemoSettings(Value):
    """Size and budget of the demonstration; the defaults take a few minutes on two cores."""

    recordings: int = 40  # number of recordings to simulate
    days: float = 7.0  # days per recording
    window: float = 2.0  # days per training window
    # Budget and seed, the seed of the simulation too.
    training: Training = Training(epochs=30, batch=8, learning_rate=1e-2)

    @property
    def parts(self) -> tuple[int, int, int]:
        """Number of recordings for training, calibration and test."""
        fifth = max(1, self.recordings // 5)
        return self.recordings - 2 * fifth, fifth, fifth


@dataclass(frozen=True)
class DemoResult:
    """The content of the report, and the path of the page."""

    content: Content
    page: Path


def run(
    out: Path,
    settings: DemoSettings | None = None,
    *,
    say: Callable[[str], None] = lambda _: None,
    progress: bool = False,
) -> DemoResult:
    """Run the demonstration in a folder, or resume it."""
    settings = settings or DemoSettings()
    seed = settings.training.seed
    _claim(out, settings)
    benchmark = _data(out / "data", settings, say)
    ids = benchmark.recordings.ids
    order = [ids[i] for i in np.random.default_rng(seed).permutation(len(ids))]
    first, second = np.cumsum(settings.parts[:2])
    parts = (order[:first], order[first:second], sorted(order[second:]))
    train, calibration, test = (benchmark.recordings.select(part) for part in parts)
    systems: list[System] = []
    for objective, name in OBJECTIVES.items():
        say(f"training {name} on {len(train)} recordings")
        detector = Detector(
            **dict(_detector_settings(objective, settings, benchmark)),
            directory=out / f"{objective}.run",
            progress=progress,
        )
        # A finished run in the directory is used as it is, an unfinished one is resumed.
        detector.fit(
            train,
            benchmark.events.select(recordings=train.ids),
            intervals=benchmark.intervals,
            types=benchmark.settings.types,
        )
        say(f"calibrating {name} on {len(calibration)} recordings, detecting in {len(test)}")
        systems += _systems(out, name, detector, benchmark, calibration, test)
    content = Content(
        title="Demonstration: sleep onset and wake-up in simulated wrist recordings",
        truth=benchmark.events.select(recordings=test.ids),
        systems=tuple(systems),
        tolerances=benchmark.settings.tolerances,
        recordings=test,
        provenance=_provenance(settings),
        seed=seed,
    )
    say("writing the report page")
    return DemoResult(content, write_report(content, out / "report.html"))


def _claim(out: Path, settings: DemoSettings) -> None:
    """Refuse a folder of another demonstration, because models of both would be mixed."""
    record = out / "demo.json"
    plain = settings.model_dump(mode="json")
    if record.exists():
        recorded = json.loads(record.read_text("utf-8"))
        if recorded != plain:
            raise ConfigError(
                f"{out} contains a demonstration with other settings ({recorded}, now {plain}); "
                "choose another --out or remove the folder"
            )
        return
    if out.exists() and any(out.iterdir()):
        raise ConfigError(f"{out} is not empty and contains no demonstration; choose another --out")
    with atomic(record) as temporary:
        temporary.write_text(json.dumps(plain), "utf-8")


def _data(path: Path, settings: DemoSettings, say: Callable[[str], None]) -> Benchmark:
    done = path / "complete"
    if not done.exists():
        say(f"simulating {settings.recordings} wrist recordings of {settings.days:g} days")
        Sleep().simulate(
            path, recordings=settings.recordings, days=settings.days, seed=settings.training.seed
        )
        done.touch()
    return load("sleep", path)


def _detector_settings(
    objective: str, settings: DemoSettings, benchmark: Benchmark
) -> DetectorSettings:
    return DetectorSettings.of(
        benchmark.settings,
        objective=objective,
        selection=Selection(folds=0),  # decoders are compared on recordings set aside
        window=settings.window * DAY,
        training=settings.training.replace(jitter=benchmark.settings.jitter),
    )


def _systems(
    out: Path,
    name: str,
    detector: Detector,
    benchmark: Benchmark,
    calibration: Recordings,
    test: Recordings,
) -> list[System]:
    """Return detections with the paper's decoder and, for event densities, with expected AP."""
    truth = benchmark.events.select(recordings=calibration.ids)
    kind = detector.model_.objective.density_kind
    grids = {name: Sleep.grids()[kind]}
    if kind == "events":
        grids[f"{name}, expected AP"] = decoding.Grid.parse("expected-ap")
    calibration_densities = [*detector.densities(calibration)]
    densities = [*detector.densities(test)]
    epochs = [float(row.epoch) for row in detector.history_]
    losses = {"loss": (epochs, [row.loss for row in detector.history_])}
    systems = []
    for system, grid in grids.items():
        calibrated = decoding.calibrate(
            calibration_densities,
            truth,
            grid,
            tolerances=benchmark.settings.tolerances,
            intervals=benchmark.intervals,
        )
        detections = decoding.decode(densities, calibrated.decoder, benchmark.intervals)
        write_events(detections, out / f"{system.lower().replace(', ', '-').replace(' ', '-')}.csv")
        by_recording = {density.recording: density for density in densities}
        systems.append(System(system, detections, by_recording, losses if system == name else {}))
    return systems


def _provenance(settings: DemoSettings) -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "torch", "lightning")}
    fields = {**dict(settings), **dict(settings.training), **packages}
    return {key: str(value) for key, value in fields.items() if key != "training"}
