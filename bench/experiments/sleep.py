"""Simulated sleep, 64 recordings of 14 days, a quarter held out: four objectives, three seeds.

    python -m bench.experiments.sleep --data FOLDER

If the folder is empty, data are simulated first. The held-out quarter is scored once per run; the
decoder of each run is chosen from the paper's grid on 8 of the other 48 recordings, which are not
trained on. Same windows (half a week), epochs and learning rate for all.
"""

from __future__ import annotations

import numpy as np

from bdl.datasets import Sleep, load
from bdl.objectives import BDL, BoundaryBCE, Segmentation
from bench.experiments import common

DAY = 86400.0
OBJECTIVES = {
    "bdl-hard": BDL(reference_spacing=DAY),
    "seg-ce": Segmentation(),
    "bce-hard": BoundaryBCE(reference_spacing=DAY),
    "bdl-hard without prior": BDL(prior=False),
}


def main() -> None:
    """Run all seeds of all objectives and print mean and standard deviation over seeds."""
    parser = common.argument_parser(__doc__, "sleep", OBJECTIVES, epochs=20)
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    args = parser.parse_args()
    if not (args.data / "train_events.csv").exists():
        Sleep().simulate(args.data, recordings=64, days=14, seed=0)
    dataset = common.in_memory(load("sleep", args.data))
    order = np.random.default_rng(0).permutation(dataset.recordings.ids).tolist()
    part = common.Part(tuple(order[24:]), tuple(order[16:24]), tuple(order[:16]))
    scores: dict[str, list[list[float]]] = {name: [] for name in args.objectives}
    with common.Budget(args.limit) as budget:
        for seed in args.seeds:
            for name in args.objectives:
                objective = OBJECTIVES[name]
                detections = common.run(
                    args,
                    dataset,
                    part,
                    name.replace(" ", "-"),
                    seed,
                    budget=budget,
                    grid=Sleep.grids()[objective.density_kind],
                    objective=objective,
                    window=3.5 * DAY,
                    seed=seed,
                )
                scores[name].append(common.scores(dataset, [detections], [part]))
    print(common.heading(dataset.settings.tolerances))
    for name, values in scores.items():
        if values:
            table = np.array(values)
            print(
                common.row(f"{name} ({len(values)} seeds)", table.mean(axis=0), table.std(axis=0))
            )


if __name__ == "__main__":
    main()
