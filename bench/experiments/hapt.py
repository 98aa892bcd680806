"""Walking bouts and postural transitions of HAPT, users in five groups, four objectives.

    python -m bench.experiments.hapt --data FOLDER

Each group of users is the test part once; of the others a fifth of the users chooses the decoder
and the rest is trained on. Out-of-fold detections are pooled and scored together.
"""

from __future__ import annotations

from dataclasses import replace

from bdl.datasets import load
from bdl.decoding import PeakGrid, TransitionGrid
from bdl.objectives import Objective
from bench.experiments import common

OBJECTIVES = ("bdl-hard", "bdl-gaussian", "bce-hard", "seg-ce")
TOLERANCES = (0.2, 0.5, 1.0, 2.0, 3.0)
SMOOTHS = (0.0, 0.1, 0.3)
ALTERNATIONS = (False, True)
GRIDS = {
    "events": PeakGrid(thresholds=3, smooths=SMOOTHS, separation=1.0, alternations=ALTERNATIONS),
    "state": TransitionGrid(
        thresholds=3, windows=(1.0, 3.0), smooths=SMOOTHS, separation=1.0, alternations=ALTERNATIONS
    ),
}


def main() -> None:
    """Run all folds of both tasks and print a table for each."""
    parser = common.argument_parser(__doc__, "hapt", OBJECTIVES, epochs=40)
    parser.add_argument("--tasks", nargs="*", default=["walking", "transitions"])
    args = parser.parse_args()
    with common.Budget(args.limit) as budget:
        for task in args.tasks:
            dataset = common.in_memory(load("hapt", args.data, task=task))
            settings = dataset.settings.replace(
                tolerances=TOLERANCES, stride=5, window=60.0, sigma=0.2
            )
            dataset = replace(dataset, settings=settings)
            parts = common.group_folds(dataset.recordings, folds=5, seed=0, calibration=0.2)
            print(f"\n{task}\n\n{common.heading(TOLERANCES)}")
            for name in args.objectives:
                grid = GRIDS[Objective.parse(name).density_kind]
                detections = common.run_folds(
                    args,
                    dataset,
                    parts,
                    f"{task}-{name}",
                    budget=budget,
                    objective=name,
                    grid=grid,
                )
                print(common.row(name, common.scores(dataset, detections, parts)), flush=True)


if __name__ == "__main__":
    main()
