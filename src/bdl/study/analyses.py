"""Analyses beside the event score: states rebuilt from densities, and counts.

- ``states``: every conversion of event densities to a state sequence, and a segmentation's own
  probabilities, against the true intervals, sample by sample. Parameters of a conversion are
  chosen on the folds that are reported in the validation regime, as in the paper, and on the
  other folds in the nested one.
- ``counts``: summed densities against numbers of events, before and after a Poisson adapter that
  is cross-fitted over groups of recordings; ``adapted`` scores are multiplied by its factors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal

from bdl.datasets import Benchmark
from bdl.density import Density
from bdl.evaluation import match
from bdl.evaluation.adapter import adapt
from bdl.evaluation.reconstruction import candidates
from bdl.evaluation.states import StateScore, choose, states
from bdl.events import Events
from bdl.study.protocol import Protocol
from bdl.study.results import Results, ScoreRecord, defined
from bdl.study.run_directory import StudyStep
from bdl.study.run_reader import RunReader
from bdl.study.step_files import read_step_densities, unpack_events

Runs = Mapping[tuple[str, int], Sequence[StudyStep]]
Conversion = Literal["exponential", "integrated", "peaks", "direct"]
STAGE: dict[Conversion, str] = {
    "exponential": "exponential",
    "peaks": "peak fill",
    "integrated": "integrated",
    "direct": "direct",
}


def analyse(
    run: RunReader, protocol: Protocol, dataset: Benchmark, runs: Runs, densities: Runs
) -> Results:
    """Figures of all analyses that a protocol asks for.

    Parameters
    ----------
    runs : steps with the detections of each row and seed.
    densities : steps with the densities of each row and seed, by fold.
    """
    records: list[ScoreRecord] = []
    if not protocol.analyses:
        return Results(())
    for (row, seed), steps in densities.items():
        folds = [read_step_densities(run, step.id) for step in steps]
        if "states" in protocol.analyses and dataset.intervals:
            crossed = protocol.regime == "nested"
            records += _states(row, seed, folds, dataset, crossed=crossed)
        if "counts" in protocol.analyses and folds[0][0].kind == "events":
            parts = [
                unpack_events(run.read(step.id, "detections/tuned.csv")) for step in runs[row, seed]
            ]
            records += _counts(row, seed, folds, Events.concat(parts), dataset)
    return Results(tuple(records))


def _states(
    row: str, seed: int, folds: list[list[Density]], dataset: Benchmark, *, crossed: bool
) -> list[ScoreRecord]:
    interval, truth = dataset.intervals[0], dataset.events
    ways: tuple[Conversion, ...] = (
        ("direct",) if folds[0][0].kind == "state" else ("exponential", "peaks", "integrated")
    )
    records = []
    for way in ways:
        if crossed and len(folds) > 1:
            scores = []
            for number, fold in enumerate(folds):
                others = [one for j, part in enumerate(folds) if j != number for one in part]
                chosen = choose(others, truth, interval, candidates(way)).reconstruction
                scores.append(states(fold, truth, interval, chosen))
            score = _sum(scores)
        else:
            pooled = [one for fold in folds for one in fold]
            score = choose(pooled, truth, interval, candidates(way)).score
        records += [
            ScoreRecord(row, STAGE[way], f"state {name}", value, seed)
            for name, value in score.to_dict().items()
        ]
    return records


def _sum(scores: Sequence[StateScore]) -> StateScore:
    return StateScore(
        hits=sum(one.hits for one in scores),
        false=sum(one.false for one in scores),
        missed=sum(one.missed for one in scores),
        squared=sum(one.squared for one in scores),
        samples=sum(one.samples for one in scores),
    )


def _counts(
    row: str, seed: int, folds: list[list[Density]], detections: Events, dataset: Benchmark
) -> list[ScoreRecord]:
    settings, truth = dataset.settings, dataset.events
    labelled = set(truth.recording.tolist())
    every = settings.event_free == "count"
    used = [one for fold in folds for one in fold if every or one.recording in labelled]
    kept = detections.select(recordings=[one.recording for one in used])
    found = adapt(used, truth, groups=dataset.recordings.groups)
    adapted = match(
        truth,
        found.rescale(kept),
        settings.tolerances,
        types=settings.types,
        event_free=settings.event_free,
        recordings=[one.recording for one in used],
    )
    records = [
        ScoreRecord(row, stage, f"count {name}", defined(value), seed)
        for stage, counts in (("tuned", found.before), ("adapted", found.after))
        for name, value in (
            ("MAE", counts.mae),
            ("relative MAE", counts.relative_mae),
            ("ratio", counts.ratio),
        )
    ]
    value = defined(adapted.mean_average_precision())
    return [*records, ScoreRecord(row, "adapted", "mAP", value, seed)]
