"""Kept files: the events of a data set once, and one file per row, seed and fold."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bdl import Events
from bdl.datasets import Benchmark
from bdl.formats.atomic_files import atomic
from bench.accuracy.tasks import Task
from bench.baselines import Detected, Scoring
from bench.experiments.common import Part

KEY = "accuracy"
KEPT = Path(__file__).parent / "detections"  # kept with the code: runs take hours


@dataclass(frozen=True)
class Truth:
    """The parts of a data set that a table needs: events, groups, folds and scoring."""

    events: Events
    groups: dict[str, str]
    folds: tuple[tuple[str, ...], ...]
    scoring: Scoring
    operating: tuple[float, ...]


def write_truth(folder: Path, task: Task, benchmark: Benchmark, parts: list[Part]) -> None:
    """Keep the truth, or check that it is the one already kept."""
    scoring = asdict(task.scoring(benchmark))
    about = {
        "groups": benchmark.recordings.groups,
        "folds": [part.test for part in parts],
        "scoring": {name: value for name, value in scoring.items() if value != {}},
        "operating": task.operating,
    }
    text = json.dumps(about)
    file = folder / "truth.parquet"
    if file.exists():
        if pl.read_parquet_metadata(file)[KEY] != text:
            raise SystemExit(f"{file} is of other folds or another scoring; choose another --out")
        return
    with atomic(file) as temporary:
        benchmark.events.to_frame("polars").write_parquet(temporary, metadata={KEY: text})


def read_truth(folder: Path) -> Truth:
    """Read what `write_truth` wrote."""
    file = folder / "truth.parquet"
    about = json.loads(pl.read_parquet_metadata(file)[KEY])
    scoring: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value
        for name, value in about["scoring"].items()
    }
    return Truth(
        Events.from_frame(pl.read_parquet(file)),
        about["groups"],
        tuple(map(tuple, about["folds"])),
        Scoring(**scoring),
        tuple(about["operating"]),
    )


def run_file(folder: Path, row: str, seed: int, fold: int) -> Path:
    """The file of one run."""
    return folder / f"{row}.seed{seed}.fold{fold}.parquet"


def write_run(file: Path, detected: Detected, about: dict[str, Any]) -> None:
    """Keep the detections of one run: ranked ones and those at the operating point."""
    frame = pl.concat(
        _columns(events).with_columns(reported=pl.lit(reported))
        for events, reported in ((detected.ranked, False), (detected.reported, True))
    )
    with atomic(file) as temporary:
        frame.write_parquet(temporary, metadata={KEY: json.dumps(about)})


def read_run(file: Path) -> tuple[Detected, dict[str, Any]]:
    """The detections of one run, and its row, time and version."""
    frame = pl.read_parquet(file)
    ranked, reported = (
        Events.from_frame(frame.filter(pl.col("reported") == is_reported).drop("reported"))
        for is_reported in (False, True)
    )
    return Detected(ranked, reported), json.loads(pl.read_parquet_metadata(file)[KEY])


def _columns(events: Events) -> pl.DataFrame:
    score = np.zeros(0) if events.score is None else events.score
    frame: pl.DataFrame = replace(events, score=score).to_frame("polars")
    types = {"recording": pl.String, "event": pl.String, "time": pl.Float64, "score": pl.Float64}
    return frame.cast(pl.Schema(types))
