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
from bench.experiments.common import (
    Budget,
    arguments,
    figures,
    group_folds,
    heading,
    in_memory,
    pooled,
    row,
    run_folds,
)

OBJECTIVES = ("bdl-hard", "bdl-gaussian", "bce-hard", "seg-ce")
TOLERANCES = (0.2, 0.5, 1.0, 2.0, 3.0)
SMOOTHS = (0.0, 0.1, 0.3)
TURNS = (False, True)
GRIDS = {
    "events": PeakGrid(thresholds=3, smooths=SMOOTHS, separation=1.0, alternations=TURNS),
    "state": TransitionGrid(
        thresholds=3, windows=(1.0, 3.0), smooths=SMOOTHS, separation=1.0, alternations=TURNS
    ),
}


def main() -> None:
    """Run all folds of both tasks and print a table for each."""
    parser = arguments(__doc__, "hapt", OBJECTIVES, epochs=40)
    parser.add_argument("--tasks", nargs="*", default=["walking", "transitions"])
    asked = parser.parse_args()
    with Budget(asked.limit) as budget:
        for task in asked.tasks:
            dataset = in_memory(load("hapt", asked.data, task=task))
            settings = dataset.settings.replace(
                tolerances=TOLERANCES, stride=5, window=60.0, sigma=0.2
            )
            dataset = replace(dataset, settings=settings)
            parts = group_folds(dataset.recordings, folds=5, seed=0, calibration=0.2)
            print(f"\n{task}\n\n{heading(TOLERANCES)}")
            for name in asked.objectives:
                grid = GRIDS[Objective.parse(name).density_kind]
                detections = run_folds(
                    asked,
                    dataset,
                    parts,
                    f"{task}-{name}",
                    budget=budget,
                    objective=name,
                    grid=grid,
                )
                print(row(name, figures(pooled(dataset, detections, parts))), flush=True)


if __name__ == "__main__":
    main()
