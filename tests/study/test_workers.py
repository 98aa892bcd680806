"""Workers: one that dies costs a retry, one that always dies stops the study with a reason."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from bdl.errors import StudyError
from bdl.study.run_directory import RunDirectory, StudyStep
from bdl.study.workers import Workers, run_all
from naive.workers import always_dies, dies_once, fails

STEPS = [StudyStep(f"step-{number}", "toy", {"number": number}) for number in range(5)]


def test_a_worker_that_dies_costs_a_retry(tmp_path: Path):
    run, told = RunDirectory(tmp_path), []
    work = partial(dies_once, str(tmp_path))
    run_all(work, STEPS, lambda step: run.done(step.id) is not None, Workers(jobs=2), told.append)
    assert all(run.done(step.id) for step in STEPS)
    assert len(told) == 1
    assert "Terminated" in told[0]


def test_a_worker_that_always_dies_stops_the_study():
    with pytest.raises(StudyError, match="workers died 3 times"):
        run_all(always_dies, STEPS[:2], lambda step: False, Workers(jobs=2))


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_step_that_fails_is_reported_after_the_others(tmp_path: Path, jobs: int):
    run = RunDirectory(tmp_path)
    with pytest.raises(StudyError, match="step-1: no such file"):
        run_all(
            partial(fails, str(tmp_path)),
            STEPS,
            lambda step: run.done(step.id) is not None,
            Workers(jobs=jobs),
        )
    assert [run.done(step.id) is not None for step in STEPS] == [True, False, True, True, True]


def test_threads_are_shared_evenly():
    assert Workers.shared(jobs=2, cores=2).threads == 1
    assert Workers.shared(jobs=1, cores=2).threads == 2
    assert Workers.shared(jobs=4, cores=2).threads == 1
