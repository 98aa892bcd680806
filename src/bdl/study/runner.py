"""The runner: from a protocol, data and a directory to results, wherever it was stopped before.

Order: bind the directory to protocol, environment, data and split; select; freeze; train the
final models; open the test labels and score; write tables and figures. All but binding and the
tables are steps in the run directory, so a runner that was killed starts again at the top and
finds them done.
"""

from __future__ import annotations

import os
import platform
import shutil
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from bdl.datasets import Scale
from bdl.errors import ConfigError, StudyError
from bdl.study import binding
from bdl.study.background import repeated
from bdl.study.protocol import Protocol
from bdl.study.results import Results, joined
from bdl.study.run_directory import RunDirectory, StudyStep, timed
from bdl.study.selection import Study, TrainedModels, nested, validated
from bdl.study.step_work import Worker
from bdl.study.study_data import DataSource
from bdl.study.study_plan import StudyPlan
from bdl.study.workers import Workers, run_all

Report = Callable[[str, int, int], None]


def run_study(
    protocol: Protocol,
    out: str | Path,
    *,
    data: Path | None = None,
    scale: Scale | None = None,
    workers: Workers | None = None,
    threads: int | None = None,
    trust: bool = False,
    report: Report = lambda what, done, total: None,
) -> Results:
    """Run a study, or go on with one.

    Parameters
    ----------
    protocol : what to do (at a scale: shrunk already).
    out : run directory, any fsspec path.
    data : the data set's folder; None simulates one of the given scale into the run directory.
    scale : how much to simulate.
    workers : where steps run; by default one after the other, here.
    threads : of each worker; by default the cores are shared evenly, and a run that goes on
        keeps what it was begun with.
    trust : whether data that can run code when read (a pickle) may be opened; what was simulated
        here is trusted.
    report : told what is going on: (what, done, total).
    """
    from bdl.study.publication import publish

    workers = workers or Workers()
    run = RunDirectory(out)
    with run.lock():
        binding.bind_protocol(run, protocol)
        chosen = binding.bind_environment(run, threads=threads, jobs=workers.jobs)
        path = _data(run, protocol, data, scale, report)
        source = DataSource.of(protocol.data, path, trust=trust or data is None)
        study = _bind(run, protocol, source, report)
        workers = workers.replace(threads=chosen)
        who = {"host": platform.node(), "process": os.getpid()}
        run.note("started", **who, workers=workers.model_dump(mode="json"))
        found = _detections(study, workers, report)
        results = _score(study, found, report)
        publish(study, results, found)
        run.note("finished")
    return results


def _data(
    run: RunDirectory, protocol: Protocol, data: Path | None, scale: Scale | None, report: Report
) -> Path:
    """The data's folder, simulated whole or not at all where none is given."""
    if data is not None:
        return Path(data)
    name = protocol.data.name
    if scale is None:
        raise ConfigError(f"the study needs {name} data: give its folder, or a simulated scale")
    if not run.local:
        raise ConfigError("a run directory that is not local needs data that every worker reaches")
    folder = Path(run.root) / "data"
    if not folder.exists():
        part = folder.with_name(f".data.{uuid.uuid4().hex[:8]}.part")
        protocol.data.dataset.replace(**scale.options).simulate(
            part,
            recordings=scale.recordings,
            days=scale.days,
            seed=scale.seed,
            progress=lambda done, total: report("simulating", done, total),
        )
        os.replace(part, folder)
    for left in folder.parent.glob(".data.*.part"):
        shutil.rmtree(left, ignore_errors=True)
    return folder


def _bind(run: RunDirectory, protocol: Protocol, source: DataSource, report: Report) -> Study:
    from bdl.study.models import describe

    dataset = source.load()
    data = binding.bind_data(
        run,
        dataset,
        Path(source.path),
        lambda done, total: report("hashing the data", done, total),
    )
    parts = binding.bind_split(run, protocol, dataset)
    models = {row.name: describe(protocol, row, dataset) for row in protocol.rows}
    run.put_json("models.json", models)
    return Study(run, protocol, dataset, source, StudyPlan(protocol, parts, data, models))


def _detections(study: Study, workers: Workers, report: Report) -> TrainedModels:
    """Train, choose, freeze and decode."""
    work = Worker(study.run.url, study.source, workers.threads)

    def do(what: str, steps: Sequence[StudyStep]) -> None:
        with watched(study.run, what, steps, report):
            run_all(
                work,
                steps,
                lambda step: study.run.done(step.id) is not None,
                workers,
                lambda text: study.run.note("worker died", reason=text),
            )

    gather = nested if study.protocol.regime == "nested" else validated
    return gather(study, do)


def _score(study: Study, found: TrainedModels, report: Report) -> Results:
    """Open the test labels after the freeze and score, once: what is scored stays so."""
    from bdl.study.analyses import analyse
    from bdl.study.final_scores import score

    run = study.run
    step = study.plan.score([one for steps in found.runs.values() for one in steps])
    if run.done(step.id) is None:
        sealed = run.get_json("frozen.json")
        if sealed is None:
            raise StudyError(f"{run.url}: nothing is frozen, so the test part stays closed")
        run.note("test opened", frozen=sealed["digest"])
        report("scoring", 0, 1)
        with timed() as seconds:
            scored = score(run, study.protocol, study.dataset, study.plan.parts, found.runs)
            extra = analyse(run, study.protocol, study.dataset, found.runs, found.densities)
        chosen = Results(tuple(found.records), failed=tuple(found.failed))
        run.finish(step, joined([chosen, scored, extra]).to_dict(), {}, seconds=seconds[0])
        report("scoring", 1, 1)
    return Results.from_dict(run.result(step.id))


@contextmanager
def watched(
    run: RunDirectory, what: str, steps: Sequence[StudyStep], report: Report
) -> Iterator[None]:
    """Report how many steps are done, now and then, from a thread of its own."""

    def tell() -> None:
        done = sum(run.fs.exists(f"{run.root}/{step.id.folder}/done.json") for step in steps)
        report(what, done, len(steps))

    tell()
    try:
        with repeated(tell, 0.5 if run.local else 10.0):
            yield
    finally:
        tell()
