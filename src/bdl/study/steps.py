"""The steps of a study, and their data."""

from __future__ import annotations

from abc import abstractmethod

from bdl.config import Value
from bdl.datasets import Benchmark
from bdl.runs.run_reader import RunReader, StepId
from bdl.runs.step import Step, StepOutput


class StepData(Value):
    """Recordings that a step reads, with the hash of their values."""

    ids: tuple[str, ...]
    signals: str
    labels: str | None = None  # hash of their labels; None if the step may not see them


class StudyStep(Step):
    """One step of a study."""

    settings: str  # hash of the settings of the data

    @abstractmethod
    def perform(self, run: RunReader, benchmark: Benchmark) -> StepOutput:
        """Do the work; earlier results are read from the run directory."""


class RowRun(Value):
    """A row of a study trained with one seed, in all folds."""

    row: str
    seed: int
    detections: tuple[StepId, ...]  # steps that hold them: one per fold, or one for all
    densities: tuple[StepId, ...]
