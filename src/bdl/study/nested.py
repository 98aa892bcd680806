"""The nested regime: selection on calibration recordings, frozen before the test part is opened.

``select`` (per fold, row and learning rate) trains and scores every checkpoint on the calibration
recordings. The selection is frozen. ``final`` (per fold, row and seed) retrains on all recordings
outside the test part up to the selected epoch, and decodes the test recordings. The key of a step
holds test labels never, hashes of other labels only if the step may read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bdl.config import Value
from bdl.datasets import Benchmark
from bdl.decoding import Decoder, decode
from bdl.study.binding import freeze
from bdl.study.decoder_stages import DecoderStages
from bdl.study.label_vault import LabelVault
from bdl.study.model_fits import FitResult, ModelFit, best_checkpoint
from bdl.study.protocol import Row
from bdl.study.results import ScoreRecord
from bdl.study.run_reader import RunReader, StepId
from bdl.study.step_files import pack_densities, pack_events
from bdl.study.steps import RowRun, StepData, StepOutput, StudyStep
from bdl.study.study_plan import Regime, RunSteps, Study, StudyPlan, TrainedRows


class SelectStep(StudyStep):
    """Train at one learning rate and score every checkpoint on the calibration recordings."""

    kind = "select"
    fit: ModelFit
    calibration: StepData
    checkpoints: tuple[int, ...]
    stages: DecoderStages

    def perform(self, run: RunReader, benchmark: Benchmark) -> StepOutput:
        """Train, score the checkpoints, choose the decoder of every stage for the best."""
        vault = LabelVault(benchmark, [*self.fit.data.ids, *self.calibration.ids])
        trained = self.fit.train(vault, benchmark, self.checkpoints)
        signals, truth = vault.signals(self.calibration.ids), vault.labels(self.calibration.ids)
        tried = trained.score_checkpoints(
            self.checkpoints,
            signals,
            lambda densities: self.stages.tune(densities, truth, benchmark),
        )
        best = best_checkpoint(tried)
        densities = trained.densities(best.epoch, signals)
        result = FitResult(
            epoch=best.epoch,
            score=best.score,
            decoders=self.stages.choose(densities, truth, benchmark, best.decoder),
            tried=tried,
            losses=trained.losses,
        )
        return StepOutput(result.model_dump(mode="json"))


class FinalStep(StudyStep):
    """Retrain up to the selected epoch, and decode the test recordings."""

    kind = "final"
    fit: ModelFit
    epoch: int
    test: StepData
    decoders: dict[str, Decoder]

    def perform(self, run: RunReader, benchmark: Benchmark) -> StepOutput:
        """Train; write weights, densities and the detections of every stage."""
        vault = LabelVault(benchmark, self.fit.data.ids)
        trained = self.fit.train(vault, benchmark, [self.epoch])
        densities = trained.densities(self.epoch, vault.signals(self.test.ids))
        files = {"model.safetensors": trained.weights(self.epoch), **pack_densities(densities)}
        for stage, decoder in self.decoders.items():
            detections = decode(densities, decoder, benchmark.intervals)
            files[f"detections/{stage}.csv"] = pack_events(detections)
        result = FitResult(epoch=self.epoch, losses=trained.losses)
        return StepOutput(result.model_dump(mode="json"), files)


class SelectedModel(Value):
    """What was selected for a row in a fold, as it is frozen."""

    row: str
    fold: int
    learning_rate: float
    epoch: int
    score: float
    decoders: dict[str, Decoder]


class Nested(Regime):
    """The nested regime."""

    def select_step(self, plan: StudyPlan, fold: int, row: Row, rate: float) -> SelectStep:
        """The selection step of a fold, row and learning rate."""
        parts = plan.folds[fold]
        return SelectStep(
            name=f"select/{plan.slug(row)}/fold-{fold}/rate-{rate:g}",
            settings=plan.data.settings,
            fit=plan.fit(row, rate, plan.protocol.selection_seed + fold, parts.train),
            calibration=plan.data.part(parts.calibration, labels=True),
            checkpoints=plan.protocol.checkpoints,
            stages=plan.stages(row),
        )

    def final_step(self, plan: StudyPlan, selected: SelectedModel, seed: int) -> FinalStep:
        """The final step of a selected model and a seed."""
        row, fold = plan.protocol.row(selected.row), plan.folds[selected.fold]
        return FinalStep(
            name=f"final/{plan.slug(row)}/fold-{selected.fold}/seed-{seed}",
            settings=plan.data.settings,
            fit=plan.fit(row, selected.learning_rate, seed, fold.not_test),
            epoch=selected.epoch,
            test=plan.data.part(fold.test, labels=False),
            decoders=selected.decoders,
        )

    def first_steps(self, plan: StudyPlan) -> Mapping[tuple[str, int], Sequence[StudyStep]]:
        """One step per learning rate, by row and fold."""
        return {
            (row.name, fold): [
                self.select_step(plan, fold, row, rate) for rate in plan.protocol.rates_of(row)
            ]
            for fold in range(len(plan.folds))
            for row in plan.protocol.rows
        }

    def step_counts(self, plan: StudyPlan) -> dict[str, int]:
        """Number of selection and final steps."""
        selections = sum(len(plan.protocol.rates_of(row)) for row in plan.protocol.rows)
        finals = len([*plan.runs()])
        return {"select": selections * len(plan.folds), "final": finals * len(plan.folds)}

    def train(self, study: Study, run_steps: RunSteps) -> TrainedRows:
        """Select on calibration recordings, freeze, train the final models."""
        run, plan = study.run, study.plan
        run_steps("selecting", [s for steps in self.first_steps(plan).values() for s in steps])
        selected, checkpoints, failed = self._selected(study)
        freeze(run, [model.model_dump(mode="json") for model in selected])
        finals = {
            (model.row, model.fold, seed): self.final_step(plan, model, seed)
            for model in selected
            for seed in plan.protocol.seeds_of(plan.protocol.row(model.row))
        }
        run_steps("training final models", [*finals.values()])
        runs = []
        for row, seed in plan.runs():
            steps = tuple(
                step.id for (name, _, s), step in finals.items() if (name, s) == (row.name, seed)
            )
            reasons = [fit.failed for step in steps if (fit := _result(run, step)).failed]
            if reasons:
                failed.append(f"{row.name}, seed {seed}: {reasons[0]}; left out")
            elif steps:
                runs.append(RowRun(row=row.name, seed=seed, detections=steps, densities=steps))
        records = tuple(
            ScoreRecord(model.row, "selection", metric, value, None, model.fold)
            for model in selected
            for metric, value in (
                ("learning rate", model.learning_rate),
                ("epoch", float(model.epoch)),
                ("mAP", model.score),
            )
        )
        return TrainedRows(tuple(runs), checkpoints, records, tuple(failed))

    def _selected(
        self, study: Study
    ) -> tuple[list[SelectedModel], dict[str, list[StepId]], list[str]]:
        """The selected models of rows that have one in every fold, their steps, and failures."""
        run, plan = study.run, study.plan
        selected: list[SelectedModel] = []
        checkpoints: dict[str, list[StepId]] = {}
        failed = []
        for row in plan.protocol.rows:
            models, steps = [], []
            for fold in range(len(plan.folds)):
                best: tuple[float, FitResult, StepId] | None = None
                for rate in plan.protocol.rates_of(row):
                    step = self.select_step(plan, fold, row, rate).id
                    fit = _result(run, step)
                    if fit.failed:
                        failed.append(
                            f"{row.name}, fold {fold}, learning rate {rate:g}: {fit.failed}"
                        )
                    # Of equal scores the first learning rate is selected.
                    elif best is None or _score(fit) > _score(best[1]):
                        best = rate, fit, step
                if best is not None:
                    rate, fit, step = best
                    steps.append(step)
                    models.append(
                        SelectedModel(
                            row=row.name,
                            fold=fold,
                            learning_rate=rate,
                            epoch=fit.epoch,
                            score=_score(fit),
                            decoders=fit.decoders,
                        )
                    )
            if len(models) == len(plan.folds):
                selected += models
                checkpoints[row.name] = steps
            else:
                failed.append(f"{row.name}: every learning rate failed in a fold; left out")
        return selected, checkpoints, failed


def _result(run: RunReader, step: StepId) -> FitResult:
    result: dict[str, Any] = run.result(step)
    return FitResult(**result)


def _score(fit: FitResult) -> float:
    assert fit.score is not None
    return fit.score
