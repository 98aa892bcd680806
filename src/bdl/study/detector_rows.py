"""Rows that are a preset of the detector: one step per fold and seed trains, chooses and detects.

The detector makes its choices on groups that it holds out of the recordings outside the test part,
whose labels are sealed. They are frozen with those of other rows before the test part is opened.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bdl.datasets import Benchmark
from bdl.decoding.candidates import ByType, to_events
from bdl.density import Density
from bdl.runs.run_reader import RunReader
from bdl.runs.step import StepOutput
from bdl.runs.step_files import pack_densities, pack_events
from bdl.study.label_vault import LabelVault
from bdl.study.model_fits import FitResult, fitted_detector, losses, model_file
from bdl.study.protocol import Row
from bdl.study.results import ScoreRecord
from bdl.study.row_models import RowModel
from bdl.study.stages import OPERATING_POINT, SELECTION, TUNED
from bdl.study.steps import RowRun, StepData, StudyStep
from bdl.study.study_plan import StudyPlan


class DetectorStep(StudyStep):
    """Train the detector of a row outside the test part, and detect in the test recordings."""

    kind = "detector"
    model: RowModel
    seed: int
    data: StepData
    test: StepData

    def perform(self, run: RunReader, benchmark: Benchmark) -> StepOutput:
        """Train and choose; write the model, densities, ranking and chosen detections."""
        vault = LabelVault(benchmark, self.data.ids)
        detector = fitted_detector(self.model, vault, benchmark, self.data.ids, seed=self.seed)
        model = detector.model_
        point = model.operating_point
        densities: list[Density] = []
        stages: dict[str, list[tuple[str, ByType]]] = {TUNED: []}
        if point is not None:
            stages[OPERATING_POINT] = []
        points = (None,) if point is None else (None, point)
        for density, detections in detector.apply(vault.signals(self.test.ids), points=points):
            densities.append(density)
            for stage, candidates in zip(stages.values(), detections, strict=True):
                stage.append((density.recording, candidates))
        files = {"model.safetensors": model_file(detector), **pack_densities(densities)}
        for name, detected in stages.items():
            files[f"detections/{name}.csv"] = pack_events(to_events(detected))
        result = FitResult(
            epoch=model.epoch,
            score=None if model.choices is None else model.choices.score,
            decoders={TUNED: model.decoder},
            losses=losses(detector),
            chosen=model.model_dump(
                mode="json", include={"settings", "operating_point", "choices"}
            ),
        )
        return StepOutput(result.model_dump(mode="json"), files)


def detector_step(plan: StudyPlan, fold: int, row: Row, seed: int) -> DetectorStep:
    """The step of a fold, row and seed."""
    parts = plan.folds[fold]
    return DetectorStep(
        name=f"detector/{plan.slug(row)}/fold-{fold}/seed-{seed}",
        settings=plan.data.settings,
        model=plan.models[row.name],
        seed=seed,
        data=plan.data.part(parts.not_test, labels=True),
        test=plan.data.part(parts.test, labels=False),
    )


def detector_choices(
    run: RunReader, runs: Sequence[RowRun]
) -> tuple[list[dict[str, Any]], list[ScoreRecord]]:
    """The choices of the detectors of finished steps, to be frozen, and as score records."""
    frozen: list[dict[str, Any]] = []
    records: list[ScoreRecord] = []
    for row_run in runs:
        for fold, step in enumerate(row_run.detections):
            result = FitResult(**run.result(step))
            chosen = result.model_dump(mode="json", include={"epoch", "score", "decoders"})
            place = {"row": row_run.row, "seed": row_run.seed, "fold": fold}
            frozen.append({**place, **chosen, **result.chosen})
            point = result.chosen["operating_point"]
            values = {
                "mAP": result.score,
                "epoch": float(result.epoch),
                "threshold": None if point is None else point["threshold"],
            }
            records += [
                ScoreRecord(row_run.row, SELECTION, metric, value, None, fold)
                for metric, value in values.items()
            ]
    return frozen, records
