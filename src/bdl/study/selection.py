"""The two regimes: from a bound study to detections, with everything chosen frozen on the way.

Both take ``do``, which runs steps to their end wherever the workers are, and read what the steps
found from the run directory, so that a study that goes on makes the same choices again.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bdl.datasets import Benchmark
from bdl.study import binding
from bdl.study.protocol import Protocol
from bdl.study.results import ScoreRecord
from bdl.study.run_directory import RunDirectory, StudyStep
from bdl.study.study_data import DataSource
from bdl.study.study_plan import SelectedModel, StudyPlan, pick

Do = Callable[[str, Sequence[StudyStep]], None]


@dataclass(frozen=True)
class TrainedModels:
    """What training and choosing gave, before any test label is looked at.

    Parameters
    ----------
    runs : for each row and seed the steps with its detections, of all folds together.
    densities : for each row and seed the steps with its densities, by fold.
    checkpoints : for each row the steps that scored its checkpoints, at the selected rate.
    records : figures of the choices.
    failed : what diverged, in words.
    """

    runs: dict[tuple[str, int], list[StudyStep]]
    densities: dict[tuple[str, int], list[StudyStep]]
    checkpoints: dict[str, list[StudyStep]]
    records: list[ScoreRecord]
    failed: list[str]


@dataclass(frozen=True)
class Study:
    """A study bound to its directory, ready to run or to be looked at."""

    run: RunDirectory
    protocol: Protocol
    dataset: Benchmark
    source: DataSource
    plan: StudyPlan


def nested(study: Study, do: Do) -> TrainedModels:
    """Select on calibration recordings, freeze, train the final models."""
    run, plan, protocol = study.run, study.plan, study.protocol
    do("selecting", plan.selects())
    choices, failed = [], []
    for row in protocol.rows:
        made = []
        for fold in range(len(plan.parts)):
            rates = protocol.learning_rates(row)
            tried = [(rate, run.result(plan.select(fold, row, rate).id)) for rate in rates]
            failed += [
                f"{row.name}, fold {fold}, learning rate {rate:g}: {result['reason']}"
                for rate, result in tried
                if result["status"] == "failed"
            ]
            best = pick(tried)
            if best is not None:
                rate, result = best
                made.append(
                    SelectedModel(
                        row.name, fold, rate, result["epoch"], result["score"], result["decoders"]
                    )
                )
        if len(made) == len(plan.parts):
            choices += made
        else:
            failed.append(f"{row.name}: every learning rate failed in a fold; left out")
    binding.freeze(run, [choice.to_dict() for choice in choices])
    do("training final models", plan.finals(choices))
    runs: dict[tuple[str, int], list[StudyStep]] = {}
    for row, seed in plan.runs():
        steps = [plan.finals_of(one)[seed] for one in choices if one.row == row.name]
        broken = [
            run.result(step.id) for step in steps if run.result(step.id)["status"] == "failed"
        ]
        if broken:
            failed.append(f"{row.name}, seed {seed}: {broken[0]['reason']}; left out")
        elif steps:
            runs[row.name, seed] = steps
    records = [
        ScoreRecord(one.row, "selection", metric, value, None, one.fold)
        for one in choices
        for metric, value in (
            ("learning rate", one.rate),
            ("epoch", float(one.epoch)),
            ("mAP", one.score),
        )
    ]
    checkpoints: dict[str, list[StudyStep]] = {}
    for one in choices:
        step = plan.select(one.fold, protocol.row(one.row), one.rate)
        checkpoints.setdefault(one.row, []).append(step)
    return TrainedModels(runs, runs, checkpoints, records, failed)


def validated(study: Study, do: Do) -> TrainedModels:
    """Train on the other folds, choose decoders on the pooled ones, freeze."""
    run, plan, protocol = study.run, study.plan, study.protocol
    do("training", plan.validates())
    tunes: dict[tuple[str, int], list[StudyStep]] = {}
    used: dict[tuple[str, int], list[StudyStep]] = {}
    records, failed = [], []
    folds = range(len(plan.parts))
    for row, seed in plan.runs():
        by_rate = []
        for rate in protocol.learning_rates(row):
            steps = [plan.validate(fold, row, seed, rate) for fold in folds]
            found = [run.result(step.id) for step in steps]
            broken = [result["reason"] for result in found if result["status"] == "failed"]
            if broken:
                failed.append(f"{row.name}, seed {seed}, learning rate {rate:g}: {broken[0]}")
                continue
            scores = [float(result["score"]) for result in found]
            by_rate.append((sum(scores) / len(scores), scores, steps))
        if not by_rate:
            failed.append(f"{row.name}, seed {seed}: every learning rate failed; left out")
            continue
        mean, scores, steps = max(by_rate, key=lambda one: one[0])
        tunes[row.name, seed] = [plan.tune(row, seed, steps)]
        used[row.name, seed] = steps
        records.append(ScoreRecord(row.name, "valid", "mAP", mean, seed))
        records += [ScoreRecord(row.name, "valid", "mAP", s, seed, f) for f, s in enumerate(scores)]
    do("choosing decoders", [step for steps in tunes.values() for step in steps])
    decoders = [
        {"row": row, "seed": seed, **run.result(steps[0].id)}
        for (row, seed), steps in tunes.items()
    ]
    binding.freeze(run, decoders)
    checkpoints: dict[str, list[StudyStep]] = {}
    for (name, _), steps in used.items():
        checkpoints.setdefault(name, []).extend(steps)
    return TrainedModels(tunes, used, checkpoints, records, failed)
