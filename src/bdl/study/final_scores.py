"""The final step: the test labels are opened, after everything that was selected is frozen.

The detections of all folds are pooled and matched once per row, stage and seed; every score, per
fold and pooled, and every bootstrap replicate is computed from those matches. Differences are
paired: both rows on the same recordings, their seeds averaged within a replicate. Confidence
intervals hold fitted models and the split fixed, so differences per fold are reported as well.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from bdl.datasets import Benchmark
from bdl.errors import StudyError
from bdl.evaluation import BootstrapResult, Matches, Metric, bootstrap
from bdl.evaluation.estimate import plain
from bdl.runs.run_reader import RunReader
from bdl.runs.step import StepOutput
from bdl.runs.step_files import common_stages, read_step_densities, read_step_detections
from bdl.study.analyses import count_records, state_records
from bdl.study.label_vault import LabelVault
from bdl.study.protocol import BootstrapSettings
from bdl.study.results import Results, RowDifference, RowEstimate, ScoreRecord, ToleranceCurve
from bdl.study.selection_regime import RegimeField
from bdl.study.stages import TUNED
from bdl.study.steps import RowRun, StepData, StudyStep
from bdl.study.study_plan import StudyPlan

SeedMatches = dict[tuple[str, str], dict[int, Matches]]


class ScoreStep(StudyStep):
    """Open the labels of all test parts, and score; other fields are those of `Protocol`."""

    kind = "score"
    runs: tuple[RowRun, ...]
    test: StepData  # all test recordings, with their labels
    folds: tuple[tuple[str, ...], ...]  # ids of the test recordings of each fold
    regime: RegimeField
    metrics: tuple[Metric, ...]
    differences: tuple[tuple[str, str], ...]
    bootstrap: BootstrapSettings
    rescored: dict[str, tuple[float, ...]]
    analyses: tuple[Literal["states", "counts"], ...]

    @classmethod
    def of(cls, plan: StudyPlan, runs: tuple[RowRun, ...]) -> ScoreStep:
        """The final step of a study."""
        protocol = plan.protocol
        return cls(
            name="score",
            settings=plan.data.settings,
            runs=runs,
            test=plan.data.part(plan.test_ids, labels=True),
            folds=tuple(fold.test for fold in plan.folds),
            regime=protocol.regime,
            metrics=protocol.metrics,
            differences=protocol.differences,
            bootstrap=protocol.bootstrap,
            rescored=protocol.rescored,
            analyses=protocol.analyses,
        )

    def perform(self, run: RunReader, benchmark: Benchmark) -> StepOutput:
        """Match, score, bootstrap and analyse."""
        if not self.runs:
            raise StudyError(f"{run.url}: every row failed; there is nothing to score")
        matches = self._match(run, benchmark)
        results = Results(
            records=(*self._scores(matches), *self._analyses(run, benchmark)),
            differences=tuple(self._differences(matches, benchmark)),
            estimates=tuple(self._estimates(matches, benchmark)),
            curves=tuple(_curves(matches)),
        )
        return StepOutput(results.to_dict())

    def _match(self, run: RunReader, benchmark: Benchmark) -> SeedMatches:
        """Matches of every row and stage, by seed."""
        labels = LabelVault(benchmark, self.test.ids).labels(self.test.ids)
        matches: SeedMatches = {}
        for row_run in self.runs:
            for stage in common_stages(run, row_run.detections):
                matches.setdefault((row_run.row, stage), {})[row_run.seed] = benchmark.match(
                    labels,
                    read_step_detections(run, row_run.detections, stage),
                    self.test.ids,
                    self.rescored.get(stage),
                )
        return matches

    def _scores(self, matches: SeedMatches) -> Iterable[ScoreRecord]:
        """Every metric of every row, stage and seed, pooled and per fold."""
        fold_of = {id: number for number, ids in enumerate(self.folds) for id in ids}
        numbers = range(len(self.folds))
        for (row, stage), seeds in matches.items():
            for seed, seed_matches in seeds.items():
                folds = np.array([fold_of[id] for id in seed_matches.recordings])
                weights = np.stack([np.ones(len(folds)), *(folds == number for number in numbers)])
                for metric in self._metrics(seed_matches):
                    values = metric.replicates(seed_matches, weights.astype(np.float64))
                    for fold, value in zip([None, *numbers], values.tolist(), strict=True):
                        yield ScoreRecord(row, stage, metric.name, plain(value), seed, fold)

    def _metrics(self, matches: Matches) -> list[Metric]:
        """The metrics of the protocol whose tolerance was matched."""
        return [metric for metric in self.metrics if metric.measurable(matches.tolerances)]

    def _differences(self, matches: SeedMatches, benchmark: Benchmark) -> Iterable[RowDifference]:
        """Paired differences with confidence intervals, for every stage that both rows have."""
        for first, second in self.differences:
            for stage in sorted(stage for row, stage in matches if row == first):
                if (second, stage) in matches:
                    systems = {row: [*matches[row, stage].values()] for row in (second, first)}
                    for metric in self._metrics(systems[first][0]):
                        result = self._bootstrap(systems, metric, benchmark)
                        values = result.differences[f"{first} - {second}"].plain()
                        yield RowDifference(first, stage, metric.name, **values, minus=second)

    def _estimates(self, matches: SeedMatches, benchmark: Benchmark) -> Iterable[RowEstimate]:
        """Every pooled score, its seeds averaged, with its confidence interval."""
        for (row, stage), seeds in matches.items():
            systems = {row: [*seeds.values()]}
            for metric in self._metrics(systems[row][0]):
                result = self._bootstrap(systems, metric, benchmark)
                yield RowEstimate(row, stage, metric.name, **result.systems[row].plain())

    def _bootstrap(
        self, systems: dict[str, list[Matches]], metric: Metric, benchmark: Benchmark
    ) -> BootstrapResult:
        return bootstrap(
            systems,
            clusters=benchmark.recordings.groups if self.bootstrap.by == "group" else None,
            replicates=self.bootstrap.replicates,
            seed=self.bootstrap.seed,
            metric=metric,
        )

    def _analyses(self, run: RunReader, benchmark: Benchmark) -> Iterable[ScoreRecord]:
        if not self.analyses:
            return
        for row_run in self.runs:
            row, seed = row_run.row, row_run.seed
            folds = [read_step_densities(run, [step]) for step in row_run.densities]
            if "states" in self.analyses and benchmark.intervals:
                cross_fitted = self.regime.held_out
                yield from state_records(row, seed, folds, benchmark, cross_fitted=cross_fitted)
            if "counts" in self.analyses and folds[0][0].kind == "events":
                detections = read_step_detections(run, row_run.detections, TUNED)
                yield from count_records(row, seed, folds, detections, benchmark)


def _curves(matches: SeedMatches) -> Iterable[ToleranceCurve]:
    """AP over tolerance, mean and spread over seeds, of every row and stage."""
    for (row, stage), seeds in matches.items():
        tables = [np.nanmean(matches.average_precision(), axis=0) for matches in seeds.values()]
        first = next(iter(seeds.values()))
        yield ToleranceCurve(
            row,
            stage,
            tolerances=tuple(float(value) for value in first.tolerances),
            mean=tuple(plain(value) for value in np.mean(tables, axis=0).tolist()),
            sd=tuple(plain(value) for value in np.std(tables, axis=0).tolist()),
        )
