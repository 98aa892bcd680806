"""Share of damaged labels that the review queue finds: HAPT walking, a tenth of them damaged.

    python -m bench.experiments.label_review --data FOLDER

A third of the users is held out with its labels as published. Of the labels of the others a tenth
is damaged at random: deleted, shifted by 2 to 10 seconds, or invented, in equal parts. The other
users are divided into two halves; a model that is trained on the damaged labels of one half gives
the densities of the other, from which the queue is made. An entry finds a damage if the label it
shows is the damaged one, or if the time it suggests is within 1.5 s of a label that was deleted.
*At random* is the expected share when as many labels are read in random order; a deleted label is
then never found. mAP is that of a model trained on the damaged labels after the damages found in
the first n entries are corrected, in the held-out users.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from bdl import Density, Detector, Events, Recordings, score
from bdl.datasets import Benchmark, load
from bdl.review import Item, review
from bench.experiments.common import in_memory

ENTRIES = (10, 25, 50, 100, 200)
NEAR = 1.5


@dataclass(frozen=True)
class Damage:
    """One damaged label: its true time, if there is a true event, and the time in the table."""

    recording: str
    event: str
    true: float | None
    labelled: float | None

    def found_by(self, item: Item) -> bool:
        """Whether an entry of the queue shows it."""
        if (item.recording, item.event) != (self.recording, self.event):
            return False
        if self.labelled is not None:
            return item.label is not None and abs(item.label - self.labelled) < 1e-6
        assert self.true is not None
        return item.model is not None and abs(item.model - self.true) < NEAR


def damage(
    events: Events, recordings: Recordings, share: float, seed: int
) -> tuple[Events, list[Damage]]:
    """The labels with a share of them damaged, and what was done."""
    rng = np.random.default_rng(seed)
    count = round(share * len(events))
    chosen = rng.permutation(len(events))[:count]
    names, types = events.recording.tolist(), events.event.tolist()
    times = events.time.tolist()
    done: list[Damage] = []
    removed: set[int] = set()
    for place, row in enumerate(chosen.tolist()):
        name, kind, at = names[row], types[row], times[row]
        duration = recordings.info(name).duration
        if place % 3 == 0:
            removed.add(row)
            done.append(Damage(name, kind, at, None))
        elif place % 3 == 1:
            shift = float(rng.uniform(2, 10) * rng.choice([-1, 1]))
            times[row] = float(np.clip(at + shift, 0, duration - 0.02))
            done.append(Damage(name, kind, at, times[row]))
        else:
            names.append(name)
            types.append(kind)
            times.append(float(rng.uniform(0, duration)))
            done.append(Damage(name, kind, None, times[-1]))
    keep = [i for i in range(len(names)) if i not in removed]
    table = Events.of([names[i] for i in keep], [types[i] for i in keep], [times[i] for i in keep])
    return table, done


def repaired(events: Events, fixed: Sequence[Damage]) -> Events:
    """The damaged labels with some of the damages corrected."""
    wrong = {(d.recording, d.event, d.labelled) for d in fixed if d.labelled is not None}
    rows = [
        row
        for row in zip(events.recording, events.event, events.time.tolist(), strict=True)
        if row not in wrong
    ]
    rows += [(d.recording, d.event, d.true) for d in fixed if d.true is not None]
    names, types, times = zip(*rows, strict=True)
    return Events.of(names, types, times)


def trained(
    dataset: Benchmark, ids: Sequence[str], labels: Events, args: argparse.Namespace
) -> Detector:
    """A detector of some recordings and their labels; nothing is chosen."""
    detector = Detector(
        features={"stride": dataset.settings.stride},
        tolerances=dataset.settings.tolerances,
        training={"updates": args.updates, "seed": args.seed},
        selection={"folds": 0},
    )
    return detector.fit(
        dataset.recordings.select(ids),
        labels.select(recordings=ids),
        intervals=dataset.intervals,
        types=dataset.settings.types,
    )


def queue_of(
    dataset: Benchmark, users: Sequence[str], labels: Events, args: argparse.Namespace
) -> list[Item]:
    """The review queue by models of the other half of the users."""
    groups = dataset.recordings.groups
    densities: list[Density] = []
    for half in (0, 1):
        train = [id for id in dataset.recordings.ids if groups[id] in users[half::2]]
        other = [id for id in dataset.recordings.ids if groups[id] in users[1 - half :: 2]]
        model = trained(dataset, train, labels, args)
        densities += [model.density(dataset.recordings[id]) for id in other]
    return [*review(labels, densities=densities, tolerance=args.tolerance)]


def main() -> None:
    """Run the experiment and print its tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--tolerance", type=float, default=1.0)
    parser.add_argument("--retrain", type=int, nargs="*", default=[0, 50, 200])
    args = parser.parse_args()
    begin = time.perf_counter()
    dataset = in_memory(load("hapt", args.data, task="walking"))
    groups = dataset.recordings.groups
    names = np.random.default_rng(args.seed).permutation(sorted({*groups.values()})).tolist()
    held, users = names[::3], [name for i, name in enumerate(names) if i % 3]
    ids = [id for id in dataset.recordings.ids if groups[id] in users]
    test = [id for id in dataset.recordings.ids if groups[id] in held]
    true = dataset.events.select(recordings=ids)
    labels, damages = damage(true, dataset.recordings, 0.1, args.seed)
    queue = queue_of(dataset, users, labels, args)
    print(f"{len(labels)} labels of {len(users)} users, {len(damages)} damaged; "
          f"{len(queue)} entries; {time.perf_counter() - begin:.0f} s")  # fmt: skip
    visible = sum(d.labelled is not None for d in damages) / len(damages)
    print("| first n entries | damage found | entries that show damage | at random |")
    print("|---|---|---|---|")
    for n in sorted({min(n, len(queue)) for n in ENTRIES}):
        errors = [d for d in damages if any(d.found_by(item) for item in queue[:n])]
        good = sum(any(d.found_by(item) for d in damages) for item in queue[:n])
        share = min(1.0, n / len(labels)) * visible
        print(f"| {n} | {len(errors) / len(damages):.2f} | {good / n:.2f} "
              f"| {share:.2f} |")  # fmt: skip
    kinds = {"deleted": [d for d in damages if d.labelled is None],
             "shifted": [d for d in damages if None not in (d.true, d.labelled)],
             "invented": [d for d in damages if d.true is None]}  # fmt: skip
    for kind, of_kind in kinds.items():
        total = sum(any(d.found_by(item) for item in queue) for d in of_kind)
        print(f"{kind}: {total} of {len(of_kind)} in the whole queue")
    print("| labels of the training users | mAP in held-out users |\n|---|---|", flush=True)
    tables = {}
    for n in args.retrain:
        errors = [d for d in damages if any(d.found_by(item) for item in queue[:n])]
        tables[f"after the first {n} entries"] = repaired(labels, errors)
    for name, table in {**tables, "as published": true}.items():
        model = trained(dataset, ids, table, args)
        scored = score(
            dataset.events.select(recordings=test),
            model.detect(dataset.recordings.select(test)),
            dataset.settings.tolerances,
            types=dataset.settings.types,
            recordings=test,
        )
        print(f"| {name} | {scored.mean_average_precision:.3f} |", flush=True)
    print(f"{time.perf_counter() - begin:.0f} s")


if __name__ == "__main__":
    main()
