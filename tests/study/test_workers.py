"""Workers: one that dies costs a retry, an item whose worker always dies is set aside."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

from bdl.runs.run_directory import RunDirectory
from bdl.workers import WorkerDeath, Workers, run_all
from naive.workers import ToyStep, dies_always_at, dies_once, fails

STEPS = [ToyStep(name=f"step-{number}", settings="", number=number) for number in range(5)]


def test_a_worker_that_dies_costs_a_retry(tmp_path: Path):
    run, deaths = RunDirectory(tmp_path), []
    work = partial(dies_once, str(tmp_path))
    results = [*run_all(work, STEPS, Workers(jobs=2), deaths.append)]
    assert sorted(step.name for step, _ in results) == [step.name for step in STEPS]
    assert not any(isinstance(result, WorkerDeath) for _, result in results)
    assert all(run.done(step.id) for step in STEPS)
    assert deaths
    assert "Terminated" in deaths[0]


def test_an_item_whose_worker_always_dies_is_set_aside_and_the_rest_done():
    deaths: list[str] = []
    work = partial(dies_always_at, "step-3")
    results = {step.name: result for step, result in
               run_all(work, STEPS, Workers(jobs=2), deaths.append)}  # fmt: skip
    died = results.pop("step-3")
    assert isinstance(died, WorkerDeath)
    assert "its worker died 2 times" in str(died)
    assert len(results) == 4
    assert set(results.values()) == {None}
    assert len(deaths) >= 3


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_step_that_fails_does_not_stop_the_others(tmp_path: Path, jobs: int):
    run = RunDirectory(tmp_path)
    results = [*run_all(partial(fails, str(tmp_path)), STEPS, Workers(jobs=jobs))]
    assert [text for _, text in results if text] == ["step-1: no such file"]
    assert [run.done(step.id) is not None for step in STEPS] == [True, False, True, True, True]
