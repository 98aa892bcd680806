"""The rows of the accuracy tables: each detects in test recordings, from training recordings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from bdl import Detector, Events, Recordings
from bdl.datasets import Benchmark
from bdl.detector import DetectorSettings
from bench import baselines
from bench.accuracy.tasks import Task
from bench.baselines import Detected

BASELINES = {
    "boosting": baselines.boosting,
    "peaks": baselines.peaks,
    "xqrs": baselines.xqrs,
    "gqrs": baselines.gqrs,
}
PRESETS = ("paper", "segmentation", "fast", "best")
BEATS_ONLY = ("xqrs", "gqrs")
UNSEEDED = ("peaks", "xqrs", "gqrs")
ABLATION = Path(__file__).parent / "ablation.yaml"


@dataclass(frozen=True)
class Row:
    """A row by name: a baseline, or a preset of the detector with changes."""

    name: str
    preset: str | None = None
    changes: Mapping[str, Any] | None = None

    def detect(
        self,
        task: Task,
        benchmark: Benchmark,
        training: Recordings,
        events: Events,
        test: Recordings,
        seed: int,
    ) -> Detected:
        """Detections in the test recordings, whose events are not given."""
        if self.preset is None:
            scoring = task.scoring(benchmark)
            return BASELINES[self.name](training, events, test, scoring, seed)
        detector = self.detector(task, benchmark, seed)
        settings = benchmark.settings
        detector.fit(
            training,
            events,
            intervals=benchmark.intervals,
            types=settings.types,
            event_free=settings.event_free,
        )
        return Detected(detector.detect(test), detector.detect(test, operating_point=True))

    def detector(self, task: Task, benchmark: Benchmark, seed: int) -> Detector:
        """The detector of a row that has one; ``paper`` takes the numbers of the data set."""
        assert self.preset is not None
        settings = benchmark.settings
        if self.preset == "paper":
            # There are fewer recordings than in the paper: batches of 8 give as many updates.
            training = {"seed": seed, "batch": 8}
            settings = settings.replace(tolerances=task.scoring(benchmark).tolerances)
            return Detector(**dict(DetectorSettings.of(settings, "paper", training=training)))
        changes = dict(self.changes or {})
        if changes.get("objective") == "segmentation":
            # Point events have no state: there a classifier of bins takes its place.
            changes["objective"] = "seg-ce" if benchmark.intervals else "classifier"
        changes["training"] = {**changes.get("training", {}), "seed": seed}
        return Detector.preset(
            self.preset, tolerances=task.scoring(benchmark).tolerances, **changes
        )

    def definition(self) -> dict[str, object]:
        """The settings of the row as they are kept with its runs."""
        changes = dict(self.changes or {})
        if self.preset is None:
            return {"baseline": self.name}
        settings = DetectorSettings.preset(self.preset).model_dump(mode="json")
        return {"preset": self.preset, "settings": settings, "changes": changes}


def ablation_rows() -> dict[str, dict[str, Any]]:
    """The presets and changed settings of the ablation by row."""
    rows: dict[str, dict[str, Any]] = yaml.safe_load(ABLATION.read_text(encoding="utf-8"))
    return rows


def find_row(name: str) -> Row:
    """The row of a name: a baseline, a preset, or one of the ablation."""
    if name in BASELINES:
        return Row(name)
    if name == "segmentation":
        return Row(name, "fast", {"objective": "segmentation", "encoder": "gru"})
    if name in PRESETS:
        return Row(name, name)
    if name not in (listed := ablation_rows()):
        known = [*BASELINES, *PRESETS, *listed]
        raise SystemExit(f"no row {name!r}; expected one of {', '.join(known)}")
    changes = listed[name]
    return Row(name, changes.pop("preset"), changes)
