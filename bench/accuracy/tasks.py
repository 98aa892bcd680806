"""The data sets of the accuracy tables, and how each is scored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from bdl.datasets import Benchmark, Sleep, load
from bench.baselines import Scoring
from bench.experiments.common import in_memory

SIMULATED = Path("runs/simulated-sleep")
HAPT_TOLERANCES = (0.2, 0.5, 1.0, 2.0, 3.0)


@dataclass(frozen=True)
class Task:
    """A data set with its options and its scoring.

    Parameters
    ----------
    dataset, options
        Name and options of the data set.
    title
        What it is, for readers.
    tolerances
        Matching tolerances in seconds; None for those of the data set.
    operating
        Tolerances at which F1 at the operating point is reported; empty for the mean over all.
    """

    dataset: str
    title: str
    options: Mapping[str, Any] = field(default_factory=dict)
    tolerances: tuple[float, ...] | None = None
    operating: tuple[float, ...] = ()

    def read(self, data: Path) -> Benchmark:
        """All values in memory; recordings that are simulated are written to a folder first."""
        folder = data / self.dataset
        if self.dataset == "sleep":
            folder = SIMULATED
            if not (folder / "train_events.csv").exists():
                Sleep().simulate(folder, recordings=40, days=10, seed=0)
        return in_memory(load(self.dataset, folder, **self.options))

    def scoring(self, benchmark: Benchmark) -> Scoring:
        """How detections are scored."""
        settings = benchmark.settings
        tolerances = self.tolerances or settings.tolerances
        spans = {info.id: info.annotated for info in benchmark.recordings.infos if info.annotated}
        return Scoring(settings.types, tuple(tolerances), settings.event_free, spans)


TASKS = {
    "hapt-walking": Task(
        "hapt",
        "walking bouts, 22 people with a smartphone",
        {"task": "walking"},
        HAPT_TOLERANCES,
    ),
    "hapt-transitions": Task(
        "hapt", "postural transitions of the same people", {"task": "transitions"}, HAPT_TOLERANCES
    ),
    "sleep": Task("sleep", "simulated nights, 40 recordings"),
    "fraud": Task("fraud", "card fraud, 80 series"),
    "mitdb-beats": Task(
        "mitdb", "heart beats, 22 records", {"task": "beats"}, operating=(0.15, 0.05)
    ),
}
