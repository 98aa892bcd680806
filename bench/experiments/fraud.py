"""The paper's fraud row: GRU, seed 0, four series-level folds, 20 epochs, event AP at 2 samples.

    python -m bench.experiments.fraud --data FOLDER

The column "one clock" puts all series on one within-series clock, where a detection may match the
fraud of another hour. That is wrong; it is shown for comparison with figures that were computed in
this way.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bdl import Events
from bdl.datasets import Benchmark, load
from bdl.decoding import Peaks
from bdl.evaluation import match
from bench.experiments import common

OBJECTIVES = ("bdl-hard", "bdl-gaussian", "bdl-tolerance", "classifier")
PAPER = {"bdl-hard": 0.755, "bdl-gaussian": 0.734, "bdl-tolerance": 0.704, "classifier": 0.532}


def main() -> None:
    """Run all folds of all objectives and print the table."""
    parser = common.argument_parser(__doc__, "fraud", OBJECTIVES, epochs=20)
    parser.add_argument("--scaling", choices=("none", "robust"), default="none")
    args = parser.parse_args()
    dataset = load("fraud", args.data)
    order = np.random.default_rng(0).permutation(dataset.recordings.ids).tolist()
    parts = [
        common.Part(tuple(id for id in order if id not in order[j::4]), (), tuple(order[j::4]))
        for j in range(4)
    ]
    print(common.heading(dataset.settings.tolerances, more=("mean of folds", "one clock", "paper")))
    with common.Budget(args.limit) as budget:
        for name in args.objectives:
            detections = common.run_folds(
                args,
                dataset,
                parts,
                f"{name}-{args.scaling}",
                budget=budget,
                objective=name,
                features={"statistics": ("mean",), "scaling": args.scaling},
                decoder=Peaks(separation=dataset.settings.separation),
            )
            folds = zip(detections, parts, strict=True)
            fold_scores = [common.scores(dataset, [fold], [part])[0] for fold, part in folds]
            line = common.row(name, common.scores(dataset, detections, parts))
            more = [np.mean(fold_scores), one_clock(dataset, detections), PAPER[name]]
            print(line, *(f"{value:.3f} |" for value in more), flush=True)


def one_clock(dataset: Benchmark, detections: Sequence[Events]) -> float:
    """AP with all events on the clock of one series."""
    truth, pooled_detections = (
        Events.of("all", events.event.tolist(), events.time, score=events.score)
        for events in (dataset.events, Events.concat(detections))
    )
    return match(truth, pooled_detections, dataset.settings.tolerances).mean_average_precision()


if __name__ == "__main__":
    main()
