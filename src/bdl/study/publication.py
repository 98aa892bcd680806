"""The files of a finished study: results, tables, outputs for the report and the figures.

They end a chain of hashes. ``results.json`` has the hash of ``chain.json``; that file has the
hashes of the bindings of the directory and of the mark of every step; a mark has the result of its
step and the hashes of its files. So no byte of a finished study can change unnoticed.
"""

from __future__ import annotations

from collections.abc import Iterable

from bdl.datasets import Benchmark
from bdl.errors import StudyError
from bdl.runs.digest import sha256
from bdl.runs.run_reader import RunReader, StepId
from bdl.runs.seal import sealed
from bdl.runs.step_files import common_stages
from bdl.study.model_fits import FitResult
from bdl.study.results import Results
from bdl.study.stages import TUNED
from bdl.study.study_outputs import EpochMeans, RowOutputs, StudyOutputs
from bdl.study.study_plan import StudyPlan, TrainedRows
from bdl.study.table_formats import written

CHAIN = "chain.json"
BOUND = ("protocol", "environment", "data", "split", "models", "frozen")


def joined_results(trained: TrainedRows, scores: Results, benchmark: Benchmark) -> Results:
    """All results: the selection, the scores, and a note if the data are simulated."""
    note = ""
    if benchmark.simulated:
        note = (
            f"Simulated data: {len(benchmark.recordings)} recordings by the simulator of "
            f"{benchmark.name}, not the recordings of the paper; the figures say nothing about "
            "real ones."
        )
    return Results(trained.records, failed=trained.failed, data=note).joined(scores)


def publication(
    run: RunReader,
    plan: StudyPlan,
    trained: TrainedRows,
    score: StepId,
    results: Results,
    data: str,
) -> dict[str, bytes]:
    """Files that a finished study publishes, by name; the results, which name the chain, are last.

    ``score`` is the step that scored, ``data`` the folder of the data.
    """
    chain = sealed({"files": _chain_of(run, [*trained.steps, score])})
    tables = written(plan.protocol, results)
    outputs = study_outputs(run, plan, trained, data).model_dump(mode="json")
    return {
        CHAIN: chain,
        **{f"tables.{suffix}": text.encode() for suffix, text in tables.items()},
        "outputs.json": sealed(outputs),
        "results.json": sealed({**results.to_dict(), "chain": sha256(chain)}),
    }


def study_outputs(run: RunReader, plan: StudyPlan, trained: TrainedRows, data: str) -> StudyOutputs:
    """Collect the outputs of a study whose models are trained."""
    rows: dict[str, RowOutputs] = {}
    for row_run in trained.runs:
        row = row_run.row
        stages = common_stages(run, row_run.detections)
        if row in rows or not stages:
            continue
        models = [step for other in trained.runs if other.row == row for step in other.densities]
        fits = [FitResult(**run.result(step)) for step in models]
        selections = [FitResult(**run.result(step)) for step in trained.checkpoints.get(row, ())]
        rows[row] = RowOutputs(
            seed=row_run.seed,
            stage=TUNED if TUNED in stages else stages[0],
            detections=row_run.detections,
            densities=row_run.densities,
            loss=EpochMeans.of(dict(enumerate(fit.losses, start=1)) for fit in fits),
            score=EpochMeans.of(
                {checkpoint.epoch: checkpoint.score for checkpoint in fit.tried}
                for fit in selections
            )
            if selections
            else None,
        )
    return StudyOutputs(data=data, test=plan.test_ids, rows=rows)


def _chain_of(run: RunReader, steps: Iterable[StepId]) -> dict[str, str]:
    """SHA-256 of what a study is bound to and of the marks of its steps, by name."""
    names = [f"{name}.json" for name in BOUND]
    names += [f"{step.folder}/done.json" for step in steps]
    hashes = {}
    for name in names:
        content = run.get(name)
        if content is None:
            raise StudyError(f"{run.url}: {name} is missing; run the same command again")
        hashes[name] = sha256(content)
    return hashes
