"""Common functions of the experiments: parts, one cached run, pooled scores, a table.

A run trains one model on the training part, chooses its decoder on the calibration part, and
detects in the test part, whose labels neither step sees. Its detections are kept as a CSV file,
so that an interrupted experiment resumes.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

import numpy as np

from bdl import Detector, Events, Recordings
from bdl.datasets import Benchmark
from bdl.detector import DetectorSettings
from bdl.detector.selection import Selection
from bdl.formats import read_events, write_events


@dataclass(frozen=True)
class Part:
    """Recording ids of one fold."""

    train: tuple[str, ...]
    calibration: tuple[str, ...]
    test: tuple[str, ...]


def group_folds(
    recordings: Recordings, *, folds: int, seed: int, calibration: float = 0.0
) -> list[Part]:
    """Shuffled folds of whole groups; a share of each fold's other groups is for calibration."""
    groups = recordings.groups
    names = np.random.default_rng(seed).permutation(sorted(set(groups.values())))
    parts = []
    for j in range(folds):
        test = {*names[j::folds].tolist()}
        rest = [name for name in names.tolist() if name not in test]
        calibration_groups = {*rest[: round(calibration * len(rest))]}
        divided = [{*rest} - calibration_groups, calibration_groups, test]
        ids = [tuple(id for id in recordings.ids if groups[id] in part) for part in divided]
        parts.append(Part(*ids))
    return parts


class DoneError(Exception):
    """The limit of new runs per call is reached; the next call continues."""


class Budget:
    """Limit of the new runs of one call of a script.

    As a context manager, it ends the block without an error when the limit is reached.
    """

    def __init__(self, limit: int | None) -> None:
        self.left = limit

    def spend(self) -> None:
        """Count a run, or stop."""
        if self.left is not None:
            if self.left <= 0:
                raise DoneError
            self.left -= 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> bool:
        return kind is DoneError


def run(
    args: argparse.Namespace,
    dataset: Benchmark,
    part: Part,
    label: str,
    number: int,
    *,
    budget: Budget,
    grid: Any = None,
    seed: int = 0,
    **parameters: Any,
) -> Events:
    """Detections in the test part; label and number (of a fold or seed) name the cached files."""
    out = args.out / f"{label}-{args.epochs}-{args.batch}-{number}"
    table, record = out.with_suffix(".csv"), out.with_suffix(".json")
    if record.exists():
        return read_events(table)
    budget.spend()
    begin = time.perf_counter()
    settings = dataset.settings
    training = {"accelerator": "cpu", "epochs": args.epochs, "batch": args.batch, "seed": seed}
    fields = {"training": training, "selection": Selection(folds=0), **parameters}
    detector = Detector(**dict(DetectorSettings.of(settings, **fields)))
    detector.fit(
        dataset.recordings.select(part.train),
        dataset.events.select(recordings=part.train),
        intervals=dataset.intervals,
        types=settings.types,
    )
    seconds = time.perf_counter() - begin
    summary: dict[str, Any] = {"seconds": seconds, "loss": detector.history_[-1].loss}
    if grid is not None:
        chosen = detector.calibrate(
            dataset.recordings.select(part.calibration),
            dataset.events.select(recordings=part.calibration),
            grid=grid,
            event_free=settings.event_free,
        )
        summary |= {"calibration": chosen.score, "decoder": chosen.decoder.model_dump(mode="json")}
    detections = detector.detect(dataset.recordings.select(part.test))
    table.parent.mkdir(parents=True, exist_ok=True)
    write_events(detections, table)
    record.write_text(json.dumps(summary))
    return detections


def run_folds(
    args: argparse.Namespace, dataset: Benchmark, parts: Sequence[Part], label: str, **options: Any
) -> list[Events]:
    """Out-of-fold detections, one `run` per fold."""
    return [run(args, dataset, part, label, j, **options) for j, part in enumerate(parts)]


def in_memory(dataset: Benchmark) -> Benchmark:
    """The data set with all its values read once."""
    return replace(dataset, recordings=Recordings.of(dataset.recordings))


def scores(dataset: Benchmark, detections: Sequence[Events], parts: Sequence[Part]) -> list[float]:
    """mAP, mF1, then AP at each tolerance averaged over types, of all test parts pooled."""
    ids = [id for part in parts for id in part.test]
    truth = dataset.events.select(recordings=ids)
    matches = dataset.match(truth, Events.concat(detections), ids)
    precision = np.nanmean(matches.average_precision(), axis=0)
    return [matches.mean_average_precision(), matches.mean_f1(), *precision.tolist()]


def heading(tolerances: Iterable[float], more: Sequence[str] = ()) -> str:
    """Heading of a table of `scores`, in Markdown."""
    names = ["objective", "mAP", "mF1", *(f"AP@{value:g} s" for value in tolerances), *more]
    return "| " + " | ".join(names) + " |\n|" + "---|" * len(names)


def argument_parser(
    description: str | None, name: str, objectives: Iterable[str], *, epochs: int
) -> argparse.ArgumentParser:
    """A parser with the arguments of every experiment."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, default=Path("runs/experiments") / name)
    parser.add_argument("--objectives", nargs="*", default=[*objectives])
    parser.add_argument("--limit", type=int, help="new runs in this call; the others are cached")
    parser.add_argument("--epochs", type=int, default=epochs)
    parser.add_argument("--batch", type=int, default=8)
    return parser


def row(name: str, values: Sequence[float], spread: Sequence[float] | None = None) -> str:
    """A row of the table; with a spread, mean ± standard deviation."""
    cells = [f"{value:.3f}" for value in values]
    if spread is not None:
        cells = [f"{cell} ± {deviation:.3f}" for cell, deviation in zip(cells, spread, strict=True)]
    return "| " + " | ".join([name, *cells]) + " |"
