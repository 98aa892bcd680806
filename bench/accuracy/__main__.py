"""Run rows of one data set; runs that are kept are not repeated."""

from __future__ import annotations

import argparse
import time
from pathlib import Path

from bdl.installation import version
from bench.accuracy.kept import KEPT, read_run, run_file, write_run, write_truth
from bench.accuracy.rows import BASELINES, BEATS_ONLY, PRESETS, UNSEEDED, Row, find_row
from bench.accuracy.shared_training import shared_trainings
from bench.accuracy.tasks import TASKS
from bench.experiments.common import group_folds
from bench.processes import own_processor_seconds


def main() -> None:
    """Run the rows fold by fold."""
    parser = argparse.ArgumentParser(description="Accuracy in nested folds of groups.")
    parser.add_argument("task", choices=TASKS)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--out", type=Path, default=KEPT)
    parser.add_argument("--rows", nargs="+", default=[*BASELINES, *PRESETS])
    parser.add_argument("--folds", type=int, nargs="+", default=[*range(5)])
    parser.add_argument("--seeds", type=int, nargs="+", default=[0, 1, 2])
    parser.add_argument(
        "--trainings",
        type=Path,
        default=Path("runs/accuracy-trainings"),
        help="folder of trainings that several rows share",
    )
    parser.add_argument("--of", type=int, default=5, help="number of folds of groups")
    args = parser.parse_args()
    task, folder = TASKS[args.task], args.out / args.task
    benchmark = task.read(args.data)
    parts = group_folds(benchmark.recordings, folds=args.of, seed=0)
    write_truth(folder, task, benchmark, parts)
    for seed in args.seeds:
        for fold in args.folds:
            part = parts[fold]
            training = benchmark.recordings.select(part.train)
            events = benchmark.events.select(recordings=part.train)
            test = benchmark.recordings.select(part.test)
            for row in map(find_row, args.rows):
                file = run_file(folder, row.name, seed, fold)
                if skip(row, args.task, seed) or is_kept(file, row):
                    continue
                begin, clock = own_processor_seconds(), time.perf_counter()
                with shared_trainings(args.trainings) as saved:
                    detected = row.detect(task, benchmark, training, events, test, seed)
                about = {
                    "row": row.definition(),
                    "cpu": own_processor_seconds() - begin + saved.seconds,
                    "seconds": time.perf_counter() - clock,
                    "bdl": version(),
                }
                write_run(file, detected, about)
                scoring = task.scoring(benchmark)
                matches = scoring.match(benchmark.events, detected.ranked, part.test)
                print(
                    f"{args.task} {row.name} seed {seed} fold {fold}: "
                    f"mAP {matches.mean_average_precision():.4f}, "
                    f"best F1 {matches.mean_f1():.4f}, {about['cpu']:.0f} CPU seconds",
                    flush=True,
                )


def skip(row: Row, task: str, seed: int) -> bool:
    """Whether a row does not apply: QRS detectors elsewhere, further seeds where none is used."""
    return (row.name in BEATS_ONLY and task != "mitdb-beats") or (row.name in UNSEEDED and seed > 0)


def is_kept(file: Path, row: Row) -> bool:
    """Whether the run is kept; an error if it is one of other settings."""
    if not file.exists():
        return False
    if not agrees(before := read_run(file)[1]["row"], row.definition()):
        raise SystemExit(f"{file} was made with {before}; remove it, or name the row otherwise")
    return True


def agrees(before: object, now: object) -> bool:
    """Whether all settings of a kept run are unchanged; fields that are new do not count.

    >>> agrees({"training": {"batch": 8}}, {"training": {"batch": 8, "budget": None}})
    True
    """
    if isinstance(before, dict) and isinstance(now, dict):
        return all(key in now and agrees(value, now[key]) for key, value in before.items())
    return before == now


if __name__ == "__main__":
    main()
