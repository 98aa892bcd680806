"""Score rows of the ablation inside the training part of one fold, to choose defaults.

    python -m bench.accuracy.development hapt-walking --rows gru gru-unaugmented --seeds 0 1

A third of the training groups is held out, a row is trained once on the others, and its event mAP
on the held-out groups is printed, with the better of its two decoders. With ``--nested`` the row is
fitted as it is, with all its choices among the others, and what it detects in the held-out groups
is scored. The test groups of the fold are not read. They are training groups of other folds:
defaults chosen here are optimistic there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bdl import Recordings
from bdl.datasets import Benchmark
from bench.accuracy.reported_f1 import ReportedF1
from bench.accuracy.rows import Row, find_row
from bench.accuracy.tasks import TASKS, Task
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
    parser.add_argument("--nested", action="store_true", help="score a row with its own choices")
    args = parser.parse_args()
    task = TASKS[args.task]
    benchmark = task.read(args.data)
    part = group_folds(benchmark.recordings, folds=5, seed=0)[args.fold]
    training = benchmark.recordings.select(part.train)
    score = score_nested if args.nested else score_choices
    for name in args.rows:
        for seed in args.seeds:
            scores = score(task, benchmark, training, find_row(name), seed)
            text = ", ".join(f"{metric} {value:.4f}" for metric, value in scores.items())
            print(f"{args.task} {name} seed {seed}: {text}", flush=True)


def score_choices(
    task: Task, benchmark: Benchmark, training: Recordings, row: Row, seed: int
) -> dict[str, float]:
    """The mAP of one training by which the decoder was chosen."""
    detector = row.detector(task, benchmark, seed)
    detector.set_params(selection=HELD_OUT)
    detector.fit(
        training,
        benchmark.events.select(recordings=training.ids),
        intervals=benchmark.intervals,
        types=benchmark.settings.types,
        event_free=benchmark.settings.event_free,
    )
    choices = detector.model_.choices
    assert choices is not None
    return {"mAP": choices.score}


def score_nested(
    task: Task, benchmark: Benchmark, training: Recordings, row: Row, seed: int
) -> dict[str, float]:
    """Scores in a third of the groups; the row is fitted, with its choices, on the others."""
    inner = group_folds(training, folds=3, seed=1)[0]
    events = benchmark.events
    detected = row.detect(
        task,
        benchmark,
        training.select(inner.train),
        events.select(recordings=inner.train),
        training.select(inner.test),
        seed,
    )
    scoring = task.scoring(benchmark)
    ranked, reported = (scoring.match(events, detections, inner.test) for detections in detected)
    scores = {"mAP": ranked.mean_average_precision()}
    for tolerance in task.operating or (None,):
        within = "" if tolerance is None else f" within {tolerance:g} s"
        scores[f"F1 at threshold{within}"] = ReportedF1(tolerance=tolerance).value(reported)
    return scores


if __name__ == "__main__":
    main()
