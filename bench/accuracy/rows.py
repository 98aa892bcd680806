"""The rows of the accuracy tables: each detects in test recordings, from training recordings."""

from __future__ import annotations

from dataclasses import dataclass

from bdl import Events, Recordings
from bdl.datasets import Benchmark
from bench import baselines
from bench.accuracy.tasks import Task
from bench.baselines import Detected

BASELINES = {
    "boosting": baselines.boosting,
    "peaks": baselines.peaks,
    "xqrs": baselines.xqrs,
    "gqrs": baselines.gqrs,
}
BEATS_ONLY = ("xqrs", "gqrs")
UNSEEDED = ("peaks", "xqrs", "gqrs")


@dataclass(frozen=True)
class Row:
    """A baseline by name."""

    name: str

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
        scoring = task.scoring(benchmark)
        return BASELINES[self.name](training, events, test, scoring, seed)

    def definition(self) -> dict[str, object]:
        """The settings of the row as they are kept."""
        return {"preset": None, "changes": {}}


def find_row(name: str) -> Row:
    """The row of a name."""
    if name not in BASELINES:
        raise SystemExit(f"no row {name!r}; expected one of {', '.join(BASELINES)}")
    return Row(name)
