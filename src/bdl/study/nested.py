"""The nested regime: selection on calibration recordings, frozen before the test part is opened.

``select`` (per fold, row and learning rate) trains and scores every checkpoint on the calibration
recordings. The selection is frozen. ``final`` (per fold, row and seed) retrains on all recordings
outside the test part up to the selected epoch, and decodes the test recordings. A row with a preset
has one step per fold and seed instead (`bdl.study.detector_rows`). The key of a step holds test
labels never, hashes of other labels only if the step may read them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bdl.config import Value
from bdl.datasets import Benchmark
from bdl.decoding import Decoder, decode
from bdl.runs.run_directory import RunDirectory
from bdl.runs.run_reader import RunReader, StepId
from bdl.runs.step import StepOutput
from bdl.runs.step_files import pack_densities, pack_events
from bdl.study.binding import freeze
from bdl.study.decoder_stages import DecoderStages
from bdl.study.detector_rows import DetectorRows, DetectorStep, detector_step
from bdl.study.label_vault import LabelVault
from bdl.study.model_fits import FitResult, ModelFit, select_rate
from bdl.study.protocol import Row
from bdl.study.results import ScoreRecord
from bdl.study.steps import RowRun, StepData, StudyStep
from bdl.study.study_plan import Regime, RunSteps, StudyPlan, TrainedRows


class SelectStep(StudyStep):
    """Train at one learning rate and score every checkpoint on the calibration recordings."""

    kind = "select"
    fit: ModelFit
    calibration: StepData
    checkpoints: tuple[int, ...]
    stages: DecoderStages

    def perform(self, run: RunReader, benchmark: Benchmark) -> StepOutput:
        """Train, score the checkpoints, choose the decoder of every stage for the best."""
        scored = self.fit.train_and_score(
            benchmark,
            self.calibration,
            self.checkpoints,
            lambda densities, truth: self.stages.tune(densities, truth, benchmark),
        )
        decoders = self.stages.choose(
            scored.densities, scored.truth, benchmark, scored.best.decoder
        )
        return StepOutput(scored.result(decoders).model_dump(mode="json"))


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
    score: float | None
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

    def select_steps(self, plan: StudyPlan) -> dict[tuple[str, int], list[SelectStep]]:
        """One step per learning rate, by row without preset and fold."""
        return {
            (row.name, fold): [
                self.select_step(plan, fold, row, rate) for rate in plan.protocol.rates_of(row)
            ]
            for fold in range(len(plan.folds))
            for row in plan.protocol.rows
            if row.preset is None
        }

    def detector_steps(self, plan: StudyPlan) -> dict[tuple[str, int], list[DetectorStep]]:
        """One step per fold, by row with a preset and seed."""
        return {
            (row.name, seed): [
                detector_step(plan, fold, row, seed) for fold in range(len(plan.folds))
            ]
            for row, seed in plan.runs()
            if row.preset is not None
        }

    def first_steps(self, plan: StudyPlan) -> Mapping[tuple[str, int], Sequence[StudyStep]]:
        """One step per learning rate, or per seed of a preset, by row and fold."""
        first: dict[tuple[str, int], list[StudyStep]] = {}
        for key, selects in self.select_steps(plan).items():
            first[key] = [*selects]
        for (row, _), detectors in self.detector_steps(plan).items():
            for fold, step in enumerate(detectors):
                first.setdefault((row, fold), []).append(step)
        return first

    def step_counts(self, plan: StudyPlan) -> dict[str, int]:
        """Number of selection and final steps, and of those of detectors."""
        selections = sum(len(steps) for steps in self.select_steps(plan).values())
        detectors = sum(len(steps) for steps in self.detector_steps(plan).values())
        finals = len([row for row, _ in plan.runs() if row.preset is None]) * len(plan.folds)
        counts = {"select": selections, "detector": detectors, "final": finals}
        return {kind: count for kind, count in counts.items() if count}

    def train(self, run: RunDirectory, plan: StudyPlan, run_steps: RunSteps) -> TrainedRows:
        """Select on calibration recordings, freeze, train the final models."""
        first, detectors = self.select_steps(plan), self.detector_steps(plan)
        selecting: list[StudyStep] = [step for steps in first.values() for step in steps]
        selecting += [step for steps in detectors.values() for step in steps]
        run_steps("selecting", selecting)
        chosen = DetectorRows(run, detectors)
        models: list[SelectedModel] = []
        checkpoints: dict[str, list[StepId]] = {}
        failed = []
        for row in plan.protocol.rows:
            if row.preset is not None:
                continue
            of_row = []
            for fold in range(len(plan.folds)):
                candidates = {step.fit.learning_rate: [step.id] for step in first[row.name, fold]}
                rate, fits, failures = select_rate(run, candidates)
                failed += [f"{row.name}, fold {fold}, {failure}" for failure in failures]
                if rate is not None:
                    best = fits[0]
                    of_row.append(
                        SelectedModel(
                            row=row.name,
                            fold=fold,
                            learning_rate=rate,
                            epoch=best.epoch,
                            score=best.score,
                            decoders=best.decoders,
                        )
                    )
                    checkpoints.setdefault(row.name, []).extend(candidates[rate])
            if len(of_row) == len(plan.folds):
                models += of_row
            else:
                failed.append(f"{row.name}: every learning rate failed in a fold; left out")
        freeze(run, [*(model.model_dump(mode="json") for model in models), *chosen.frozen])
        finals = {
            (row.name, seed): [
                self.final_step(plan, model, seed) for model in models if model.row == row.name
            ]
            for row, seed in plan.runs()
            if row.preset is None
        }
        training: list[StudyStep] = [step for steps in finals.values() for step in steps]
        if training:
            run_steps("training final models", training)
        runs = []
        for (name, seed), final_steps in finals.items():
            ids = tuple(step.id for step in final_steps)
            reasons = [reason for id in ids if (reason := run.result(id)["failed"])]
            if reasons:
                failed.append(f"{name}, seed {seed}: {reasons[0]}; left out")
            elif ids:
                runs.append(RowRun(row=name, seed=seed, detections=ids, densities=ids))
        records = tuple(
            ScoreRecord(model.row, "selection", metric, value, None, model.fold)
            for model in models
            for metric, value in (
                ("learning rate", model.learning_rate),
                ("epoch", float(model.epoch)),
                ("mAP", model.score),
            )
        )
        order = [row.name for row in plan.protocol.rows]
        return TrainedRows(
            tuple(sorted((*runs, *chosen.runs), key=lambda each: order.index(each.row))),
            tuple(step.id for step in (*selecting, *training)),
            checkpoints,
            (*records, *chosen.records),
            (*failed, *chosen.failed),
        )
