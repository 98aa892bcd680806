"""Beats of the MIT-BIH records, whole records held out in three folds, four objectives.

    python -m bench.experiments.mitdb --data FOLDER

Each third of the records is the test part once; two records of the others choose the decoder and
the rest is trained on. Out-of-fold detections are pooled and scored together.
"""

from __future__ import annotations

from dataclasses import replace

from bdl.datasets import load
from bdl.decoding import PeakGrid
from bench.experiments import common

OBJECTIVES = ("bdl-hard", "bdl-gaussian", "bce-hard", "classifier")
GRID = PeakGrid(thresholds=3, smooths=(0.0, 0.01), separation=0.2)


def main() -> None:
    """Run all folds and print the table."""
    args = common.argument_parser(__doc__, "mitdb", OBJECTIVES, epochs=40).parse_args()
    dataset = common.in_memory(load("mitdb", args.data, task="beats"))
    # Six samples are 17 ms: the strictest tolerance of 20 ms is resolved.
    settings = dataset.settings.replace(stride=6, window=20.0, sigma=0.02)
    dataset = replace(dataset, settings=settings)
    parts = common.group_folds(dataset.recordings, folds=3, seed=0, calibration=0.15)
    print(common.heading(settings.tolerances))
    with common.Budget(args.limit) as budget:
        for name in args.objectives:
            detections = common.run_folds(
                args,
                dataset,
                parts,
                name,
                budget=budget,
                objective=name,
                grid=GRID,
                features={"scaling": "robust"},
            )
            print(common.row(name, common.scores(dataset, detections, parts)), flush=True)


if __name__ == "__main__":
    main()
