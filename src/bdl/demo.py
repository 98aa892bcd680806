"""A first tour: simulated wrist recordings, two detectors on one budget, scored on held-out ones.

BDL-Hard and interval segmentation share recordings, encoder, budget and seed. Their decoders are
chosen on calibration recordings; the figures are those of recordings that neither training nor
calibration has seen. Each step is kept in the folder, so that an interrupted tour goes on.
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
from bdl.errors import ConfigError
from bdl.formats import write_events
from bdl.formats.files import atomic
from bdl.recording import Recordings
from bdl.report import Content, System, write_report

NAMES = {"bdl-hard": "BDL-Hard", "seg-ce": "Segmentation"}


class Tour(Value):
    """Size and seed of the tour; the defaults take a few minutes on two cores.

    >>> Tour(recordings=10).parts
    (6, 2, 2)
    """

    recordings: int = 40
    days: float = 7.0
    window: float = 2.0
    epochs: int = 30
    batch: int = 8
    learning_rate: float = 1e-2
    seed: int = 0

    @property
    def parts(self) -> tuple[int, int, int]:
        """How many recordings are for training, calibration and the test."""
        fifth = max(1, self.recordings // 5)
        return self.recordings - 2 * fifth, fifth, fifth


@dataclass(frozen=True)
class Result:
    """What the tour found: the content of the report, and where the page is."""

    content: Content
    page: Path


def run(
    out: Path,
    tour: Tour | None = None,
    *,
    say: Callable[[str], None] = lambda _: None,
    progress: bool = False,
) -> Result:
    """Run the tour in a folder, or go on where it stopped.

    Parameters
    ----------
    out : folder for data, models, detections and the page.
    tour : size and seed.
    say : told what comes next.
    progress : show progress bars.
    """
    tour = tour or Tour()
    _claim(out, tour)
    dataset = _data(out / "data", tour, say)
    order = [dataset.recordings.ids[i] for i in _shuffled(len(dataset.recordings), tour.seed)]
    first, second = np.cumsum(tour.parts[:2])
    names = (order[:first], order[first:second], sorted(order[second:]))
    train, calibration, test = (dataset.recordings.select(part) for part in names)
    systems: list[System] = []
    for objective in NAMES:
        detector = _fitted(out, objective, tour, dataset, train, say, progress)
        systems += _systems(out, detector, objective, dataset, calibration, test, say)
    content = Content(
        title="A first tour: sleep onset and wake-up in simulated wrist recordings",
        truth=dataset.events.select(recordings=test.ids),
        systems=tuple(systems),
        tolerances=dataset.settings.tolerances,
        recordings=test,
        provenance=_provenance(tour),
        seed=tour.seed,
    )
    say("writing the report page")
    return Result(content, write_report(content, out / "report.html"))


def _claim(out: Path, tour: Tour) -> None:
    """Refuse a folder that holds another tour: its models would be mixed with ours."""
    note = out / "tour.json"
    settings = tour.model_dump(mode="json")
    if note.exists():
        before = json.loads(note.read_text("utf-8"))
        if before != settings:
            raise ConfigError(
                f"{out} holds a tour with other settings ({before}, now {settings}); "
                "choose another --out or remove the folder"
            )
        return
    if out.exists() and any(out.iterdir()):
        raise ConfigError(f"{out} is not empty and holds no tour; choose another --out")
    with atomic(note) as temporary:
        temporary.write_text(json.dumps(settings), "utf-8")


def _data(path: Path, tour: Tour, say: Callable[[str], None]) -> Benchmark:
    done = path / "complete"
    if not done.exists():
        say(f"simulating {tour.recordings} wrist recordings of {tour.days:g} days")
        Sleep().simulate(path, recordings=tour.recordings, days=tour.days, seed=tour.seed)
        done.touch()
    return load("sleep", path)


def _shuffled(count: int, seed: int) -> list[int]:
    return [int(i) for i in np.random.default_rng(seed).permutation(count)]


def _fitted(
    out: Path,
    objective: str,
    tour: Tour,
    dataset: Benchmark,
    train: Recordings,
    say: Callable[[str], None],
    progress: bool,
) -> Detector:
    settings = dataset.settings
    detector = Detector(
        objective=objective,
        encoder="gru",
        stride=settings.stride,
        window=tour.window * 86400,
        calendar=settings.calendar,
        tolerances=settings.tolerances,
        separation=settings.separation,
        reference_spacing=settings.reference_spacing,
        epochs=tour.epochs,
        batch=tour.batch,
        learning_rate=tour.learning_rate,
        seed=tour.seed,
        directory=out / f"{objective}.run",
        progress=progress,
    )
    say(f"training {NAMES[objective]} on {len(train)} recordings")
    # A finished run in the directory is taken as it is, an unfinished one goes on.
    detector.fit(
        train,
        dataset.events.select(recordings=train.ids),
        intervals=dataset.intervals,
        types=settings.types,
    )
    return detector


def _systems(
    out: Path,
    detector: Detector,
    objective: str,
    dataset: Benchmark,
    calibration: Recordings,
    test: Recordings,
    say: Callable[[str], None],
) -> list[System]:
    """Detections of one model with the paper's decoder and, for a density, with ours beside it."""
    truth = dataset.events.select(recordings=calibration.ids)
    tolerances = dataset.settings.tolerances
    kind = detector.model.objective.density_kind
    grids = {"": Sleep.grids()[kind]}
    if kind == "events":
        grids[", expected AP"] = decoding.Grid.parse("expected-ap")
    say(
        f"calibrating {NAMES[objective]} on {len(calibration)} recordings, detecting in {len(test)}"
    )
    held = [*detector.densities(calibration)]
    densities = [*detector.densities(test)]
    epochs = [float(row.epoch) for row in detector.history]
    systems = []
    for suffix, grid in grids.items():
        chosen = decoding.calibrate(
            held, truth, grid, tolerances=tolerances, intervals=dataset.intervals
        )
        found = decoding.decode(densities, chosen.decoder, dataset.intervals)
        name = f"{NAMES[objective]}{suffix}"
        write_events(found, out / f"{name.lower().replace(', ', '-').replace(' ', '-')}.csv")
        history = {"loss": (epochs, [row.loss for row in detector.history])}
        systems.append(
            System(
                name,
                found,
                {d.recording: d for d in densities},
                history if not suffix else {},
            )
        )
    return systems


def _provenance(tour: Tour) -> dict[str, str]:
    packages = {name: version(name) for name in ("numpy", "torch", "lightning")}
    return {key: str(value) for key, value in {**tour.model_dump(), **packages}.items()}
