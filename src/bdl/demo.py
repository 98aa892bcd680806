"""The demonstration: simulated wrist recordings, two detectors, scored on held-out recordings.

The default detector and interval segmentation share recordings, encoders, scaling, budget and seed:
both are the preset ``fast`` with a shorter training, the stride of the data set and windows of two
days, and differ in the objective, which is not chosen: a Gaussian kernel, or the cross-entropy of
states. Scores are those of recordings that neither training nor any choice has seen. Each step is
kept in the folder, so that an interrupted demonstration resumes.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

import numpy as np

from bdl import Detector
from bdl.config import Value
from bdl.datasets import Benchmark, Sleep, load
from bdl.decoding.candidates import to_events
from bdl.detector import DetectorSettings
from bdl.errors import ConfigError
from bdl.formats import write_events
from bdl.formats.atomic_files import atomic
from bdl.formats.files import reading
from bdl.plain_data import parse_json
from bdl.recording import Recordings
from bdl.report import Content, System, write_report
from bdl.training import Training

DAY = 86400.0
OBJECTIVES = {"bdl-gaussian": "Default", "seg-ce": "Segmentation"}


class DemoSettings(Value):
    """Size and budget of the demonstration; the defaults take a few minutes on two cores."""

    recordings: int = 40  # number of recordings to simulate
    days: float = 7.0  # days per recording
    window: float = 2.0  # days per training window
    # Budget and seed, the seed of the simulation too.
    training: Training = Training(updates=100)

    @property
    def held_out(self) -> int:
        """Number of recordings that are only scored."""
        return max(1, self.recordings // 5)


@dataclass(frozen=True)
class DemoResult:
    """The content of the report, and the path of the page."""

    content: Content
    page: Path


def run(
    out: Path,
    settings: DemoSettings | None = None,
    *,
    announce: Callable[[str], None] = lambda _: None,
    progress: bool = False,
) -> DemoResult:
    """Run the demonstration in a folder, or resume it."""
    settings = settings or DemoSettings()
    seed = settings.training.seed
    _claim(out, settings)
    benchmark = _data(out / "data", settings, announce)
    ids = benchmark.recordings.ids
    order = [ids[i] for i in np.random.default_rng(seed).permutation(len(ids))]
    test = benchmark.recordings.select(sorted(order[: settings.held_out]))
    train = benchmark.recordings.select(order[settings.held_out :])
    systems: list[System] = []
    for objective, name in OBJECTIVES.items():
        announce(f"training {name} on {len(train)} recordings")
        detector = Detector(
            **dict(_detector_settings(objective, settings, benchmark)),
            directory=out / f"{objective}.run",
            progress=progress,
        )
        # Finished trainings in the directory are used as they are, an unfinished one is resumed.
        detector.fit(
            train,
            benchmark.events.select(recordings=train.ids),
            intervals=benchmark.intervals,
            types=benchmark.settings.types,
        )
        announce(f"detecting in {len(test)} recordings")
        systems.append(_system(out, name, detector, test))
    content = Content(
        title="Demonstration: sleep onset and wake-up in simulated wrist recordings",
        truth=benchmark.events.select(recordings=test.ids),
        systems=tuple(systems),
        tolerances=benchmark.settings.tolerances,
        types=benchmark.settings.types,
        event_free=benchmark.settings.event_free,
        recordings=test,
        provenance=_provenance(settings),
        seed=seed,
    )
    announce("writing the report page")
    return DemoResult(content, write_report(content, out / "report.html"))


def _claim(out: Path, settings: DemoSettings) -> None:
    """Raise an error for a folder of another demonstration: models of both would be mixed."""
    record = out / "demo.json"
    plain = settings.model_dump(mode="json")
    if record.exists():
        with reading(record, "the settings of a demonstration"):
            recorded = parse_json(record.read_bytes(), record)
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


def _data(path: Path, settings: DemoSettings, announce: Callable[[str], None]) -> Benchmark:
    done = path / "complete"
    if not done.exists():
        announce(f"simulating {settings.recordings} wrist recordings of {settings.days:g} days")
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
        preset="fast",
        objective=objective,
        features={"stride": benchmark.settings.stride},
        window=settings.window * DAY,
        training=settings.training.replace(jitter=benchmark.settings.jitter),
    )


def _system(out: Path, name: str, detector: Detector, test: Recordings) -> System:
    """Return the detections and densities of a detector in the test recordings."""
    applied = [*detector.apply(test)]
    detections = to_events((density.recording, candidates) for density, [candidates] in applied)
    write_events(detections, out / f"{name.lower()}.csv")
    epochs = [float(row.epoch) for row in detector.history_]
    losses = {"loss": (epochs, [row.loss for row in detector.history_])}
    return System(name, detections, {density.recording: density for density, _ in applied}, losses)


def _provenance(settings: DemoSettings) -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "torch", "lightning")}
    fields = {**dict(settings), **dict(settings.training), **packages}
    return {key: str(value) for key, value in fields.items() if key != "training"}
