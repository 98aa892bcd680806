"""The worker: performs one step, in any process or on any machine.

A worker reads the data itself, reads no labels except those of its step, and writes the files of a
step completely or not at all. A training that diverges is a result, recorded as failed; any other
error is returned as text, so that the other steps continue.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from bdl.errors import BdlError, TrainingError
from bdl.runs.run_directory import RunDirectory, timed
from bdl.runs.run_reader import RunReader
from bdl.runs.step import StepOutput
from bdl.study.binding import check_data
from bdl.study.data_source import DataSource
from bdl.study.model_fits import FitResult
from bdl.study.steps import StudyStep
from bdl.thread_limit import limit_threads


@dataclass(frozen=True, eq=False)  # joblib hashes functions for Dask: by identity, as any other
class StepWorker:
    """The function that workers run: run directory, data, and number of threads (None: any)."""

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
                try:
                    _check_data(self.run, self.source.model_dump_json())
                    output = step.perform(run, self.source.load())
                except TrainingError as error:
                    output = StepOutput(FitResult(failed=str(error)).model_dump(mode="json"))
            run.finish(step, output, seconds=seconds[0])
        except BdlError as error:
            return f"{step.name}: {error}"
        return None


@lru_cache(maxsize=2)
def _check_data(run: str, source: str) -> None:
    """Raise an error if this process reads other data than the runner; once per process."""
    data = DataSource.model_validate_json(source)
    check_data(RunReader(run), data.load(), data)
