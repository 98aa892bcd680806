"""What a finished study publishes: results, tables, outputs for the report and the figures."""

from __future__ import annotations

from bdl.study.model_fits import FitResult
from bdl.study.outputs import EpochMeans, RowOutputs, StudyOutputs
from bdl.study.results import Results
from bdl.study.step_files import common_stages
from bdl.study.study_plan import Study, TrainedRows
from bdl.study.table_formats import written


def publish(study: Study, results: Results, trained: TrainedRows) -> None:
    """Write results, tables in three formats, and outputs for the report and the figures."""
    run = study.run
    run.put_json("results.json", results.to_dict())
    for suffix, text in written(study.protocol, results).items():
        run.put(f"tables.{suffix}", text.encode())
    run.put_json("outputs.json", study_outputs(study, trained).model_dump(mode="json"))


def study_outputs(study: Study, trained: TrainedRows) -> StudyOutputs:
    """Collect the outputs of a study whose models are trained."""
    run = study.run
    rows: dict[str, RowOutputs] = {}
    for row_run in trained.runs:
        row = row_run.row
        stages = common_stages(run, row_run.detections)
        if row in rows or not stages:
            continue
        models = [step for other in trained.runs if other.row == row for step in other.densities]
        fits = [FitResult(**run.result(step)) for step in models]
        selections = [FitResult(**run.result(step)) for step in trained.checkpoints[row]]
        rows[row] = RowOutputs(
            seed=row_run.seed,
            stage="tuned" if "tuned" in stages else stages[0],
            detections=row_run.detections,
            densities=row_run.densities,
            loss=EpochMeans.of(dict(enumerate(fit.losses, start=1)) for fit in fits),
            score=EpochMeans.of(
                {checkpoint.epoch: checkpoint.score for checkpoint in fit.tried}
                for fit in selections
            ),
        )
    return StudyOutputs(data=study.source.path, test=study.plan.test_ids, rows=rows)
