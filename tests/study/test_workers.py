"""Workers: one that dies costs a retry, one that always dies stops the study with a reason."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from bdl.errors import StudyError
from bdl.study.run_directory import RunDirectory
from bdl.study.workers import Workers, run_all
from naive.workers import ToyStep, always_dies, dies_once, fails

STEPS = [ToyStep(name=f"step-{number}", settings="", number=number) for number in range(5)]


def test_a_worker_that_dies_costs_a_retry(tmp_path: Path):
    run, deaths = RunDirectory(tmp_path), []
    work = partial(dies_once, str(tmp_path))
    run_all(work, STEPS, lambda step: run.done(step.id) is not None, Workers(jobs=2), deaths.append)
    assert all(run.done(step.id) for step in STEPS)
    assert len(deaths) == 1
    assert "Terminated" in deaths[0]


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
