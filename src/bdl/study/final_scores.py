"""Scoring: the test labels are opened here, after everything that was chosen is frozen.

Detections of all folds are pooled and matched once a row, stage and seed; every figure, fold by
fold and pooled, and every bootstrap replicate reads those matches. Differences are paired: both
rows on the same recordings, their seeds averaged within a replicate. The intervals hold fitted
models and the split fixed, so fold differences stand beside them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bdl.datasets import Benchmark
from bdl.errors import StudyError
from bdl.evaluation import Matches, bootstrap, match
from bdl.evaluation.metrics import named
from bdl.events import Events
from bdl.study.protocol import Part, Protocol
from bdl.study.results import Difference, Results, ScoreRecord, defined
from bdl.study.run_directory import StudyStep
from bdl.study.run_reader import RunReader
from bdl.study.step_files import unpack_events
from bdl.study.study_data import Vault

Runs = Mapping[tuple[str, int], Sequence[StudyStep]]


@dataclass(frozen=True)
class Scored:
    """Matches by row, stage and seed, and the fold of every recording."""

    matches: dict[tuple[str, str], dict[int, Matches]]
    fold_of: dict[str, int]


def open_and_match(
    run: RunReader, protocol: Protocol, dataset: Benchmark, parts: Sequence[Part], runs: Runs
) -> Scored:
    """Match the detections of every row, stage and seed with the labels of the test parts.

    Parameters
    ----------
    runs : for each row and seed the steps that hold its detections, of all folds together.
    """
    fold_of = {id: number for number, part in enumerate(parts) for id in part.test}
    vault = Vault(dataset.recordings, dataset.events)
    truth = vault.labels(sorted(fold_of))
    settings = dataset.settings
    found: dict[tuple[str, str], dict[int, Matches]] = {}
    for (row, seed), steps in runs.items():
        for stage in stages_of(run, steps):
            name = f"detections/{stage}.csv"
            detections = Events.concat(unpack_events(run.read(step.id, name)) for step in steps)
            if detections.score is None:
                detections = Events.empty(scored=True)
            found.setdefault((row, stage), {})[seed] = match(
                truth,
                detections,
                protocol.rescored.get(stage, settings.tolerances),
                types=settings.types,
                event_free=settings.event_free,
                recordings=sorted(fold_of),
            )
    return Scored(found, fold_of)


def stages_of(run: RunReader, steps: Sequence[StudyStep]) -> list[str]:
    """Stages that all steps have detections of, in order."""
    shared: set[str] | None = None
    for step in steps:
        names = {
            name.removeprefix("detections/").removesuffix(".csv")
            for name in run.files(step.id)
            if name.startswith("detections/")
        }
        shared = names if shared is None else shared & names
    return sorted(shared or ())


def figures_of(scored: Scored, protocol: Protocol) -> list[ScoreRecord]:
    """Every metric of every row, stage and seed, pooled and fold by fold."""
    records = []
    for (row, stage), seeds in scored.matches.items():
        for seed, matches in seeds.items():
            folds = np.array([scored.fold_of[id] for id in matches.recordings])
            numbers = sorted(set(scored.fold_of.values()))
            weights = np.stack([np.ones(len(folds)), *(folds == number for number in numbers)])
            for metric in metrics_of(protocol, matches):
                values = named(metric)(matches, weights.astype(np.float64))
                for fold, value in zip([None, *numbers], values.tolist(), strict=True):
                    records.append(ScoreRecord(row, stage, metric, defined(value), seed, fold))
    return records


def metrics_of(protocol: Protocol, matches: Matches) -> list[str]:
    """The protocol's metrics that these matches have the tolerance of."""
    wanted = []
    for metric in protocol.metrics:
        at = metric.partition("@")[2].partition(":")[0]
        if not at or float(at) in matches.tolerances:
            wanted.append(metric)
    return wanted


def differences_of(
    scored: Scored, protocol: Protocol, groups: Mapping[str, str]
) -> list[Difference]:
    """Paired differences with bootstrap intervals, for every stage both rows have."""
    how = protocol.bootstrap
    clusters = dict(groups) if how.by == "group" else None
    found = []
    for first, second in protocol.differences:
        stages = sorted({stage for row, stage in scored.matches if row == first})
        for stage in stages:
            ours, theirs = (scored.matches.get((row, stage)) for row in (first, second))
            if ours is None or theirs is None:
                continue
            for metric in metrics_of(protocol, next(iter(ours.values()))):
                result = bootstrap(
                    {second: [*theirs.values()], first: [*ours.values()]},
                    clusters=clusters,
                    replicates=how.replicates,
                    seed=how.seed,
                    metric=metric,
                )
                one = result.differences[f"{first} - {second}"]
                figures = (defined(one.value), defined(one.low), defined(one.high))
                found.append(Difference(first, second, stage, metric, *figures))
    return found


def curves_of(scored: Scored) -> list[dict[str, Any]]:
    """AP over tolerance, mean and spread over seeds, of every row and stage."""
    curves = []
    for (row, stage), seeds in scored.matches.items():
        tables = [np.nanmean(matches.average_precision(), axis=0) for matches in seeds.values()]
        first = next(iter(seeds.values()))
        curves.append(
            {
                "row": row,
                "stage": stage,
                "tolerances": [float(value) for value in first.tolerances],
                "mean": [defined(value) for value in np.mean(tables, axis=0).tolist()],
                "sd": [defined(value) for value in np.std(tables, axis=0).tolist()],
            }
        )
    return curves


def score(
    run: RunReader,
    protocol: Protocol,
    dataset: Benchmark,
    parts: Sequence[Part],
    runs: Runs,
) -> Results:
    """All figures of a study from the detections in its run directory."""
    if not runs:
        raise StudyError(f"{run.url}: every row failed; there is nothing to score")
    scored = open_and_match(run, protocol, dataset, parts, runs)
    return Results(
        tuple(figures_of(scored, protocol)),
        tuple(differences_of(scored, protocol, dataset.recordings.groups)),
        (),
        tuple(curves_of(scored)),
    )
