"""The runner: from a protocol, data and a directory to results; a stopped study is resumed.

Order: check that the protocol fits the data; bind the directory to protocol, environment, data and
split; select and freeze; train the final models; open the test labels and score; write tables and
figures. Everything except binding and publishing is a step in the run directory, so that a runner
that was killed starts again from the beginning and skips finished steps.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from bdl.datasets import Benchmark, Scale
from bdl.errors import ConfigError, StudyError
from bdl.runs.background import repeated
from bdl.runs.run_directory import RunDirectory, timed
from bdl.runs.run_reader import RunReader
from bdl.study import binding
from bdl.study.data_checks import check_data_keys
from bdl.study.data_source import DataSource, simulate_data
from bdl.study.final_scores import ScoreStep
from bdl.study.nested import Nested
from bdl.study.protocol import Protocol
from bdl.study.publication import joined_results, publication
from bdl.study.results import Results
from bdl.study.row_models import RowModel
from bdl.study.selection_regime import NESTED, VALIDATION, Regime
from bdl.study.step_worker import StepWorker
from bdl.study.steps import StudyStep
from bdl.study.study_plan import Procedure, RunSteps, StudyPlan
from bdl.study.validation import Validation
from bdl.workers import WorkerDeath, Workers, run_all

ReportProgress = Callable[[str, int, int], None]
PROCEDURES: dict[Regime, Procedure] = {NESTED: Nested(), VALIDATION: Validation()}


def run_study(
    protocol: Protocol,
    out: str | Path,
    *,
    data: Path | None = None,
    scale: Scale | None = None,
    workers: Workers | None = None,
    trust: bool = False,
    verify: bool = False,
    report: ReportProgress = lambda stage, done, total: None,
) -> Results:
    """Run a study, or resume one that was stopped.

    Parameters
    ----------
    protocol
        What to do; at a smaller scale, already shrunk.
    out
        Run directory: a folder or any fsspec path.
    data
        Folder of the data set; None simulates one of the given scale into the run directory.
    scale
        How much to simulate.
    workers
        Where steps run; by default one after the other in this process.
    trust
        Whether data that can run code when read (a pickle) may be opened; simulated data is
        trusted.
    verify
        Whether to read and hash all data again when a study is resumed; by default recordings whose
        files have the size, times and inode they had before are not read again.
    report
        Called with the stage of the study, and the numbers of finished and of all steps.

    Returns
    -------
    Results
        All scores; they are also in the run directory.
    """
    workers = workers or Workers()
    run = RunDirectory(out)
    if verify and run.get("protocol.json") is None:
        raise ConfigError(
            f"{out}: verify (--verify) has no effect on a new run directory, as all data are "
            "read and hashed; leave it out"
        )
    with run.lock():
        run.tidy()
        binding.check_protocol(run, protocol)
        path = data or _simulated(run, protocol, scale, report)
        source = DataSource.of(protocol, Path(path), trust=trust or data is None)
        benchmark = source.load()
        check_data_keys(protocol, benchmark)
        folds = binding.checked_folds(run, protocol, benchmark)
        models = RowModel.of_rows(protocol, benchmark)
        binding.bind_protocol(run, protocol)
        workers = binding.bind_environment(run, workers)
        hashed = partial(report, "hashing the data")
        fingerprint = binding.bind_data(run, benchmark, source, hashed, verify=verify)
        binding.bind_split(run, folds)
        stored = {row: model.model_dump(mode="json") for row, model in models.items()}
        run.put_json("models.json", stored)
        plan = StudyPlan(protocol, folds, fingerprint, models)
        process = {"host": platform.node(), "process": os.getpid()}
        run.note("started", **process, workers=workers.model_dump(mode="json"))
        run_steps = _step_runner(run, source, workers, report)
        trained = PROCEDURES[protocol.regime].train(run, plan, run_steps)
        score = ScoreStep.of(plan, trained.runs)
        scores = _score(run, score, benchmark, report)
        binding.bind_data(run, benchmark, source)  # an error if the data changed meanwhile
        results = joined_results(trained, scores, benchmark)
        files = publication(run, plan, trained, score.id, results, source.path)
        for name, content in files.items():
            run.put(name, content)
        run.note("finished")
    return results


def _simulated(
    run: RunDirectory, protocol: Protocol, scale: Scale | None, report: ReportProgress
) -> Path:
    """Folder of the simulated data in the run directory."""
    if scale is None:
        raise ConfigError(
            f"the study needs {protocol.data.kind} data: give its folder (--data), or simulate "
            "data at a smaller scale (--scale small)"
        )
    if not run.local:
        raise ConfigError(
            f"{run.url}: data cannot be simulated into a remote run directory; give a folder "
            "that every worker can read (--data)"
        )
    folder = Path(run.root) / "data"
    binding.bind_protocol(run, protocol)  # which says what is simulated
    simulate_data(
        folder, protocol.data, scale, lambda done, total: report("simulating", done, total)
    )
    return folder


def _step_runner(
    run: RunDirectory, source: DataSource, workers: Workers, report: ReportProgress
) -> RunSteps:
    """The function that runs steps on the workers."""
    work = StepWorker(run.url, source, workers.threads)

    def run_steps(stage: str, steps: Sequence[StudyStep]) -> None:
        todo = [step for step in steps if run.done(step.id) is None]
        problems: dict[str, None] = {}  # each is reported once
        with _watched(run, stage, steps, report):
            for step, problem in run_all(
                work, todo, workers, lambda reason: run.note("worker died", reason=reason)
            ):
                if isinstance(problem, WorkerDeath):
                    problem = f"{step.name}: {problem}"
                if problem is not None:
                    problems[problem] = None
        if problems:
            raise StudyError("\n".join(problems))

    return run_steps


def _score(
    run: RunDirectory, step: ScoreStep, benchmark: Benchmark, report: ReportProgress
) -> Results:
    """Open the test labels after the freeze and score, once."""
    if run.done(step.id) is None:
        frozen = run.get_json("frozen.json")
        if frozen is None:
            raise StudyError(f"{run.url}: nothing is frozen, so the test part is not opened")
        run.note("test opened", frozen=frozen["digest"])
        report("scoring", 0, 1)
        with timed() as seconds:
            output = step.perform(run, benchmark)
        run.finish(step, output, seconds=seconds[0])
        report("scoring", 1, 1)
    return Results.from_dict(run.result(step.id))


@contextmanager
def _watched(
    run: RunReader, stage: str, steps: Sequence[StudyStep], report: ReportProgress
) -> Iterator[None]:
    """Report at intervals how many steps are done, from a thread."""

    def count() -> None:
        done = sum(run.fs.exists(f"{run.root}/{step.id.folder}/done.json") for step in steps)
        report(stage, done, len(steps))

    count()
    try:
        with repeated(count, 0.5 if run.local else 10.0):
            yield
    finally:
        count()
