"""Score rows of the ablation inside the training part of one fold, to choose defaults.

    python -m bench.accuracy.development hapt-walking --rows gru gru-unaugmented --seeds 0 1

A third of the training groups is held out, a row is trained once on the others, and its event mAP
on the held-out groups is printed, with the better of its two decoders. The test groups of the fold
are not read. They are training groups of other folds: defaults chosen here are optimistic there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.accuracy.rows import find_row
from bench.accuracy.tasks import TASKS
from bench.experiments.common import group_folds

HELD_OUT = {"folds": 1, "share": 0.35, "refit": False}


def main() -> None:
    """Print one line per row and seed."""
    parser = argparse.ArgumentParser(description="Scores on held-out training groups.")
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--rows", nargs="+", required=True)
    parser.add_argument("--fold", type=int, default=0)
    parser.add_argument("--seeds", type=int, nargs="+", default=[0])
    asked = parser.parse_args()
    task = TASKS[asked.task]
    benchmark = task.read(asked.data)
    part = group_folds(benchmark.recordings, folds=5, seed=0)[asked.fold]
    training = benchmark.recordings.select(part.train)
    events = benchmark.events.select(recordings=part.train)
    for name in asked.rows:
        for seed in asked.seeds:
            detector = find_row(name).detector(task, benchmark, seed)
            detector.set_params(selection=HELD_OUT)
            detector.fit(
                training,
                events,
                intervals=benchmark.intervals,
                types=benchmark.settings.types,
                event_free=benchmark.settings.event_free,
            )
            choices = detector.model_.choices
            assert choices is not None
            print(
                f"{asked.task} {name} seed {seed}: mAP {choices.score:.4f} in {choices.groups} "
                "held-out groups",
                flush=True,
            )


if __name__ == "__main__":
    main()
