"""The paper's fraud row: GRU, seed 0, four series-level folds, 20 epochs, event AP at 2 samples.

python -m bench.experiments.fraud --data FOLDER
"""

from __future__ import annotations

import numpy as np

from bdl.datasets import load
from bdl.decoding import Peaks
from bdl.features import Robust
from bench.experiments.common import (
    Budget,
    DoneError,
    Part,
    arguments,
    figures,
    heading,
    pooled,
    row,
    run,
)

OBJECTIVES = ("bdl-hard", "bdl-gaussian", "bdl-tolerance", "classifier")
PAPER = {"bdl-hard": 0.755, "bdl-gaussian": 0.734, "bdl-tolerance": 0.704, "classifier": 0.532}


def main() -> None:
    """Run all folds of all objectives and print the table."""
    parser = arguments(__doc__, "fraud", OBJECTIVES)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--scaling", choices=("none", "robust"), default="none")
    asked = parser.parse_args()
    budget = Budget(asked.limit)
    dataset = load("fraud", asked.data)
    order = np.random.default_rng(0).permutation(dataset.recordings.ids).tolist()
    parts = [
        Part(tuple(id for id in order if id not in order[j::4]), (), tuple(order[j::4]))
        for j in range(4)
    ]
    print(heading(dataset.settings.tolerances, more=("mean of folds", "paper")))
    for name in asked.objectives:
        try:
            found = [
                run(
                    dataset,
                    part,
                    asked.out / f"{name}-{asked.scaling}-{asked.epochs}-{asked.batch}-{j}",
                    budget=budget,
                    objective=name,
                    epochs=asked.epochs,
                    batch=asked.batch,
                    statistics=("mean",),
                    scaling=Robust() if asked.scaling == "robust" else None,
                    decoder=Peaks(separation=dataset.settings.separation),
                )[0]
                for j, part in enumerate(parts)
            ]
        except DoneError:
            return
        each = [figures(pooled(dataset, [f], [p]))[0] for f, p in zip(found, parts, strict=True)]
        line = row(name, figures(pooled(dataset, found, parts)))
        print(f"{line} {np.mean(each):.3f} | {PAPER.get(name, np.nan):.3f} |", flush=True)


if __name__ == "__main__":
    main()
