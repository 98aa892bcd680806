"""Fine-tuning compared with training from scratch: HAPT walking, 1 to 10 labelled recordings.

    python -m bench.experiments.fine_tuning --data FOLDER

Half of the users are those of an earlier model. Of the others two fifths are held out for the
score, and growing numbers of recordings of the rest are labelled: either a new model is trained on
them, or the earlier one is fine-tuned with a tenth of the steps.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from bdl import Detector, Events, Recordings
from bdl.datasets import load
from bdl.detector.holdouts import holdouts
from bdl.detector.learning_curve import learning_curve
from bdl.evaluation import match
from bench.experiments.common import in_memory


def main() -> None:
    """Run the experiment and print its table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--encoder", default="gru")
    parser.add_argument("--sizes", type=int, nargs="*", default=[1, 2, 5, 10])
    args = parser.parse_args()
    begin = time.perf_counter()
    dataset = in_memory(load("hapt", args.data, task="walking"))
    settings, groups = dataset.settings, dataset.recordings.groups
    users = np.random.default_rng(args.seed).permutation(sorted({*groups.values()})).tolist()
    first = [id for id in dataset.recordings.ids if groups[id] in users[::2]]
    second = [id for id in dataset.recordings.ids if groups[id] in users[1::2]]

    def from_scratch(recordings: Recordings, events: Events) -> Detector:
        detector = Detector(
            encoder=args.encoder,
            features={"stride": settings.stride},
            window=min(settings.window, min(i.duration for i in recordings.infos)),
            tolerances=settings.tolerances,
            training={"updates": args.updates, "seed": args.seed},
            selection={"folds": 0},
        )
        return detector.fit(recordings, events, intervals=dataset.intervals, types=settings.types)

    def part(ids: list[str]) -> tuple[Recordings, Events]:
        return dataset.recordings.select(ids), dataset.events.select(recordings=ids)

    model = from_scratch(*part(first))
    print(f"{len(first)} recordings of the earlier model, {len(second)} others; "
          f"tolerances {settings.tolerances} s")  # fmt: skip
    common = {"tolerances": settings.tolerances, "sizes": args.sizes, "share": 0.4,
              "seed": args.seed}  # fmt: skip
    tuned = learning_curve(model.fine_tune, *part(second), **common)
    print(tuned, flush=True)
    scratch = learning_curve(from_scratch, *part(second), **common)
    print(scratch, flush=True)
    [(_, held)] = holdouts(*part(second), folds=1, share=0.4, seed=args.seed)
    recordings, events = part(held)
    before = match(events, model.detect(recordings), settings.tolerances, recordings=held)
    print("| labelled recordings | fine-tuned | from scratch |\n|---|---|---|")
    print(f"| 0 | {before.mean_average_precision():.3f} | |")
    for size, *scores in zip(tuned.sizes, tuned.scores, scratch.scores, strict=True):
        print(f"| {size} | {' | '.join(score.text(3) for score in scores)} |")
    print(f"{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
