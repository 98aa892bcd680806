"""What a finished study publishes: results, tables, data of figures, outputs for the report."""

from __future__ import annotations

from collections.abc import Sequence

from bdl.study.figure_data import figure_data
from bdl.study.final_scores import stages_of
from bdl.study.outputs import EpochMeans, RowOutputs, StudyOutputs
from bdl.study.results import Results
from bdl.study.run_directory import StudyStep
from bdl.study.run_reader import RunReader, StepId
from bdl.study.selection import Study, TrainedModels
from bdl.study.table_formats import written


def publish(study: Study, results: Results, trained: TrainedModels) -> None:
    """Write results, tables in three formats, data of figures and outputs for the report."""
    run = study.run
    run.put_json("results.json", results.to_dict())
    for suffix, text in written(study.protocol, results).items():
        run.put(f"tables.{suffix}", text.encode())
    first_steps: dict[str, StudyStep] = {}
    for (row, _), steps in trained.densities.items():
        first_steps.setdefault(row, steps[0])
    figures = figure_data(
        run, study.protocol, study.dataset, study.plan.parts, results, first_steps
    )
    run.put_json("figures.json", figures)
    run.put_json("outputs.json", study_outputs(study, trained).model_dump(mode="json"))


def study_outputs(study: Study, trained: TrainedModels) -> StudyOutputs:
    """Collect the outputs of a study whose models are trained."""
    rows: dict[str, RowOutputs] = {}
    for (row, seed), steps in trained.runs.items():
        stages = stages_of(study.run, steps)
        if row in rows or not stages:
            continue
        models = [
            step
            for (name, _), row_steps in trained.densities.items()
            if name == row
            for step in row_steps
        ]
        rows[row] = RowOutputs(
            seed=seed,
            stage="tuned" if "tuned" in stages else stages[0],
            detections=tuple(step.id for step in steps),
            densities=tuple(step.id for step in trained.densities[row, seed]),
            loss=_losses(study.run, [step.id for step in models]),
            score=_scores(study.run, [step.id for step in trained.checkpoints[row]]),
        )
    test = sorted({id for part in study.plan.parts for id in part.test})
    return StudyOutputs(data=study.source.path, test=tuple(test), rows=rows)


def _losses(run: RunReader, steps: Sequence[StepId]) -> EpochMeans:
    return EpochMeans.of(dict(enumerate(run.result(step)["losses"], start=1)) for step in steps)


def _scores(run: RunReader, steps: Sequence[StepId]) -> EpochMeans:
    return EpochMeans.of(
        {checkpoint["epoch"]: checkpoint["score"] for checkpoint in run.result(step)["tried"]}
        for step in steps
    )
