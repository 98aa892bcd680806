"""The nested regime: selection on calibration recordings, frozen before the test part is opened.

``select`` (per fold, row and learning rate) trains and scores every checkpoint on the calibration
recordings. The selection is frozen. ``final`` (per fold, row and seed) retrains on all recordings
outside the test part up to the selected epoch, and decodes the test recordings. A row with a preset
has one step per fold and seed instead (`bdl.study.detector_rows`). The key of a step never depends
on test labels, and on other labels only if the step may read them.
"""

from __future__ import annotations

from collections import Counter
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
from bdl.study.detector_rows import detector_choices, detector_step
from bdl.study.label_vault import LabelVault
from bdl.study.model_fits import (
    FitResult,
    ModelFit,
    densities_at,
    losses,
    model_file,
    select_rate,
)
from bdl.study.protocol import Row
from bdl.study.results import ScoreRecord
from bdl.study.stages import SELECTION
from bdl.study.steps import RowRun, StepData, StudyStep
from bdl.study.study_plan import Procedure, RunSteps, StudyPlan, TrainedRows


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
            lambda densities, labels: self.stages.tune(densities, labels, benchmark),
        )
        decoders = self.stages.choose(scored.densities, scored.labels, benchmark, scored.decoder)
        return StepOutput(scored.result.replace(decoders=decoders).model_dump(mode="json"))


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
        detector = self.fit.train(vault, benchmark, [self.epoch])
        densities = densities_at(detector, self.epoch, vault.signals(self.test.ids))
        weights = model_file(detector.checkpoint(self.epoch))
        files = {"model.safetensors": weights, **pack_densities(densities)}
        for stage, decoder in self.decoders.items():
            detections = decode(densities, decoder, benchmark.intervals)
            files[f"detections/{stage}.csv"] = pack_events(detections)
        result = FitResult(epoch=self.epoch, losses=losses(detector))
        return StepOutput(result.model_dump(mode="json"), files)


class SelectedModel(Value):
    """What was selected for a row in a fold, as it is frozen."""

    row: str
    fold: int
    learning_rate: float
    epoch: int
    score: float | None
    decoders: dict[str, Decoder]


class Nested(Procedure):
    """The procedure of the nested regime."""

    def first_steps(self, plan: StudyPlan) -> Mapping[tuple[str, int], Sequence[StudyStep]]:
        """One step per learning rate, or per seed of a preset, by row and fold."""
        protocol = plan.protocol
        return {
            (row.name, fold): [
                _select_step(plan, fold, row, rate) for rate in protocol.rates_of(row)
            ]
            if row.preset is None
            else [detector_step(plan, fold, row, seed) for seed in protocol.seeds_of(row)]
            for fold in range(len(plan.folds))
            for row in protocol.rows
        }

    def step_counts(self, plan: StudyPlan) -> dict[str, int]:
        """Number of selection and final steps, and of those of detectors."""
        counts = Counter(step.kind for steps in self.first_steps(plan).values() for step in steps)
        counts["final"] = sum(row.preset is None for row, _ in plan.runs()) * len(plan.folds)
        return {kind: counts[kind] for kind in ("select", "detector", "final") if counts[kind]}

    def train(self, run: RunDirectory, plan: StudyPlan, run_steps: RunSteps) -> TrainedRows:
        """Select on calibration recordings, freeze, train the final models."""
        protocol, folds = plan.protocol, range(len(plan.folds))
        first = self.first_steps(plan)
        selecting = [step for steps in first.values() for step in steps]
        run_steps("selecting", selecting)
        models: list[SelectedModel] = []
        checkpoints: dict[str, list[StepId]] = {}
        detectors: dict[tuple[str, int], list[StudyStep]] = {}
        failed = []
        for row in protocol.rows:
            if row.preset is not None:
                by_fold = (first[row.name, fold] for fold in folds)
                for seed, *steps in zip(protocol.seeds_of(row), *by_fold, strict=True):
                    detectors[row.name, seed] = steps
                continue
            of_row = []
            for fold in folds:
                rates = zip(protocol.rates_of(row), first[row.name, fold], strict=True)
                candidates = {rate: [step.id] for rate, step in rates}
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
        detector_runs, detector_failures = _trained_runs(run, detectors)
        frozen, detector_records = detector_choices(run, detector_runs)
        freeze(run, [*(model.model_dump(mode="json") for model in models), *frozen])
        finals: dict[tuple[str, int], list[StudyStep]] = {
            (row.name, seed): [
                _final_step(plan, row, model, seed) for model in models if model.row == row.name
            ]
            for row, seed in plan.runs()
        }
        training = [step for steps in finals.values() for step in steps]
        if training:
            run_steps("training final models", training)
        runs, failures = _trained_runs(run, finals)
        records = [
            ScoreRecord(model.row, SELECTION, metric, value, None, model.fold)
            for model in models
            for metric, value in (
                ("learning rate", model.learning_rate),
                ("epoch", float(model.epoch)),
                ("mAP", model.score),
            )
        ]
        order = [row.name for row in protocol.rows]
        return TrainedRows(
            tuple(sorted((*runs, *detector_runs), key=lambda trained: order.index(trained.row))),
            tuple(step.id for step in (*selecting, *training)),
            checkpoints,
            (*records, *detector_records),
            (*failed, *failures, *detector_failures),
        )


def _select_step(plan: StudyPlan, fold: int, row: Row, rate: float) -> SelectStep:
    parts = plan.folds[fold]
    return SelectStep(
        name=f"select/{plan.slug(row)}/fold-{fold}/rate-{rate:g}",
        settings=plan.data.settings,
        fit=plan.fit(row, rate, plan.protocol.selection_seed + fold, parts.train),
        calibration=plan.data.part(parts.calibration, labels=True),
        checkpoints=plan.protocol.checkpoints,
        stages=plan.stages(row),
    )


def _final_step(plan: StudyPlan, row: Row, selected: SelectedModel, seed: int) -> FinalStep:
    parts = plan.folds[selected.fold]
    return FinalStep(
        name=f"final/{plan.slug(row)}/fold-{selected.fold}/seed-{seed}",
        settings=plan.data.settings,
        fit=plan.fit(row, selected.learning_rate, seed, parts.not_test),
        epoch=selected.epoch,
        test=plan.data.part(parts.test, labels=False),
        decoders=selected.decoders,
    )


def _trained_runs(
    run: RunReader, steps: Mapping[tuple[str, int], Sequence[StudyStep]]
) -> tuple[list[RowRun], list[str]]:
    """Rows and seeds that were trained in all folds, and why others are left out."""
    runs, failed = [], []
    for (row, seed), of_run in steps.items():
        ids = tuple(step.id for step in of_run)
        reasons = [reason for id in ids if (reason := run.result(id)["failed"])]
        if reasons:
            failed.append(f"{row}, seed {seed}: {reasons[0]}; left out")
        elif ids:
            runs.append(RowRun(row=row, seed=seed, detections=ids, densities=ids))
    return runs, failed
