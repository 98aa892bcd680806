"""The worker: performs one step, in whatever process or machine it was sent to.

A worker reads the data itself, reads no labels except those its step names, and writes the files
of a step whole or not at all. A training that diverges is a result, recorded as failed; any other
error is returned as text, so that the other steps go on.
"""

from __future__ import annotations

from dataclasses import dataclass

from bdl.errors import BdlError, TrainingError
from bdl.study.data_source import DataSource
from bdl.study.model_fits import FitResult
from bdl.study.run_directory import RunDirectory, timed
from bdl.study.steps import StepOutput, StudyStep
from bdl.study.workers import limit_threads


@dataclass(frozen=True, eq=False)  # joblib hashes functions for Dask: by identity, as any other
class StepWorker:
    """What every worker is sent: run directory, data, and how many threads to use (None: any)."""

    run: str
    source: DataSource
    threads: int | None

    def __call__(self, step: StudyStep) -> str | None:
        """Perform a step unless it is done; returns None, or what went wrong."""
        run = RunDirectory(self.run)
        if run.done(step.id) is not None:
            return None
        if self.threads is not None:
            limit_threads(self.threads)
        try:
            with timed() as seconds:
                output = self._output(run, step)
            run.finish(step, output, seconds=seconds[0])
        except BdlError as error:
            return f"{step.name}: {error}"
        return None

    def _output(self, run: RunDirectory, step: StudyStep) -> StepOutput:
        try:
            return step.perform(run, self.source.load())
        except TrainingError as error:
            return StepOutput(FitResult(failed=str(error)).model_dump(mode="json"))
