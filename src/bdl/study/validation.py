"""The validation regime: checkpoint and decoder are selected on the folds that are reported.

``validate`` (per fold, row, seed and learning rate) trains on the other folds and keeps the
densities of the best checkpoint. ``tune`` (per row and seed) chooses decoders on the pooled folds,
and one per fold on the other folds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bdl.config import Value
from bdl.datasets import Benchmark
from bdl.decoding import Decoder, decode
from bdl.events import Events
from bdl.runs.run_directory import RunDirectory
from bdl.runs.run_reader import RunReader, StepId
from bdl.runs.step import StepOutput
from bdl.runs.step_files import pack_densities, pack_events, read_step_densities
from bdl.study.binding import freeze
from bdl.study.decoder_stages import DecoderStages, best_decoder, untuned_grid
from bdl.study.label_vault import LabelVault
from bdl.study.model_fits import ModelFit, model_file, select_rate
from bdl.study.protocol import Row
from bdl.study.results import ScoreRecord
from bdl.study.stages import CROSS_FITTED, VALID
from bdl.study.steps import RowRun, StepData, StudyStep
from bdl.study.study_plan import Procedure, RunSteps, StudyPlan, TrainedRows


class ValidateStep(StudyStep):
    """Train on the other folds and keep the best checkpoint on this one, by the untuned decoder."""

    kind = "validate"
    fit: ModelFit
    validation: StepData
    checkpoints: tuple[int, ...]

    def perform(self, run: RunReader, benchmark: Benchmark) -> StepOutput:
        """Train, score the checkpoints; write weights and densities of the best."""
        scored = self.fit.train_and_score(
            benchmark,
            self.validation,
            self.checkpoints,
            lambda densities, labels: best_decoder(
                densities, labels, untuned_grid(benchmark, densities[0]), benchmark
            ),
        )
        weights = model_file(scored.detector.checkpoint(scored.result.epoch))
        files = {"model.safetensors": weights, **pack_densities(scored.densities)}
        return StepOutput(scored.result.model_dump(mode="json"), files)


class TunedDecoders(Value):
    """The decoder of every stage, and of each fold chosen on the other folds."""

    decoders: dict[str, Decoder]
    cross_fitted: tuple[Decoder, ...]


class TuneStep(StudyStep):
    """Choose decoders on the pooled folds, and for each fold on the others; decode all."""

    kind = "tune"
    densities: tuple[StepId, ...]
    validation: StepData
    stages: DecoderStages

    def perform(self, run: RunReader, benchmark: Benchmark) -> StepOutput:
        """Choose and decode; write the detections of every stage."""
        folds = [read_step_densities(run, [step]) for step in self.densities]
        pooled = [density for fold in folds for density in fold]
        vault = LabelVault(benchmark, self.validation.ids)
        labels = vault.labels([density.recording for density in pooled])
        decoders = self.stages.choose(pooled, labels, benchmark)
        detections = {
            stage: decode(pooled, decoder, benchmark.intervals)
            for stage, decoder in decoders.items()
        }
        cross_fitted = []
        for number in range(len(folds)):
            others = [density for j, fold in enumerate(folds) if j != number for density in fold]
            labels = vault.labels([density.recording for density in others])
            cross_fitted.append(self.stages.tune(others, labels, benchmark)[0])
        detections[CROSS_FITTED] = Events.concat(
            decode(fold, decoder, benchmark.intervals)
            for fold, decoder in zip(folds, cross_fitted, strict=True)
        )
        result = TunedDecoders(decoders=decoders, cross_fitted=tuple(cross_fitted))
        files = {f"detections/{stage}.csv": pack_events(e) for stage, e in detections.items()}
        return StepOutput(result.model_dump(mode="json"), files)


class Validation(Procedure):
    """The procedure of the validation regime."""

    def first_steps(self, plan: StudyPlan) -> Mapping[tuple[str, int], Sequence[ValidateStep]]:
        """One step per seed and learning rate, by row and fold."""
        return {
            (row.name, fold): [
                _validate_step(plan, fold, row, seed, rate)
                for seed in plan.protocol.seeds_of(row)
                for rate in plan.protocol.rates_of(row)
            ]
            for fold in range(len(plan.folds))
            for row in plan.protocol.rows
        }

    def step_counts(self, plan: StudyPlan) -> dict[str, int]:
        """Number of validation and tuning steps."""
        trainings = sum(len(steps) for steps in self.first_steps(plan).values())
        return {"validate": trainings, "tune": len([*plan.runs()])}

    def train(self, run: RunDirectory, plan: StudyPlan, run_steps: RunSteps) -> TrainedRows:
        """Train on the other folds, choose decoders on the pooled ones, freeze."""
        first = self.first_steps(plan)
        training = [step for steps in first.values() for step in steps]
        run_steps("training", training)
        tunes: list[tuple[str, int, TuneStep]] = []
        checkpoints: dict[str, list[StepId]] = {}
        records: list[ScoreRecord] = []
        failed: list[str] = []
        for row, seed in plan.runs():
            candidates: dict[float, list[StepId]] = {}
            for fold in range(len(plan.folds)):
                for step in first[row.name, fold]:
                    if step.fit.seed == seed:
                        candidates.setdefault(step.fit.learning_rate, []).append(step.id)
            rate, fits, failures = select_rate(run, candidates)
            failed += [f"{row.name}, seed {seed}, {failure}" for failure in failures]
            if rate is None:
                failed.append(f"{row.name}, seed {seed}: every learning rate failed; left out")
                continue
            tunes.append((row.name, seed, _tune_step(plan, row, seed, candidates[rate])))
            checkpoints.setdefault(row.name, []).extend(candidates[rate])
            scores = [fit.score for fit in fits if fit.score is not None]
            pooled = [(None, sum(scores) / len(scores)), *enumerate(scores)]
            records += [
                ScoreRecord(row.name, VALID, "mAP", score, seed, fold) for fold, score in pooled
            ]
        tuning = [step for *_, step in tunes]
        run_steps("choosing decoders", tuning)
        freeze(run, [{"row": r, "seed": s, **run.result(step.id)} for r, s, step in tunes])
        runs = tuple(
            RowRun(row=name, seed=seed, detections=(step.id,), densities=step.densities)
            for name, seed, step in tunes
        )
        ids = tuple(step.id for step in (*training, *tuning))
        return TrainedRows(runs, ids, checkpoints, tuple(records), tuple(failed))


def _validate_step(plan: StudyPlan, fold: int, row: Row, seed: int, rate: float) -> ValidateStep:
    parts = plan.folds[fold]
    return ValidateStep(
        name=f"validate/{plan.slug(row)}/fold-{fold}/seed-{seed}-rate-{rate:g}",
        settings=plan.data.settings,
        fit=plan.fit(row, rate, seed, parts.train),
        validation=plan.data.part(parts.test, labels=True),
        checkpoints=plan.protocol.checkpoints,
    )


def _tune_step(plan: StudyPlan, row: Row, seed: int, steps: Sequence[StepId]) -> TuneStep:
    return TuneStep(
        name=f"tune/{plan.slug(row)}/seed-{seed}",
        settings=plan.data.settings,
        densities=tuple(steps),
        validation=plan.data.part(plan.test_ids, labels=True),
        stages=plan.stages(row),
    )
