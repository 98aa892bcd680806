"""Damaged files at every reader, by the targets of `python -m fuzz`: some here, many there."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from fuzz.attack import attack
from fuzz.target import Target
from fuzz.worker import all_targets, attempt

FAST = ("recordings", "store", "densities", "events", "data set", "pickle", "configuration")
FAST += ("kept", "lines")


@pytest.fixture(scope="module")
def targets() -> list[Target]:
    return all_targets(FAST)


def test_every_whole_file_is_read(targets: list[Target], tmp_path: Path) -> None:
    """The files that are damaged below are good to begin with."""
    for number, target in enumerate(targets):
        target.lay(tmp_path / str(number), None)
        target.read(tmp_path / str(number))


def test_damaged_files_are_refused_or_read_in_order(targets: list[Target], tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in range(12 * len(targets)):
            target, folder = targets[case % len(targets)], tmp_path / str(case)
            target.lay(folder, np.random.default_rng([99, case]))
            outcome, detail = attempt(target, folder)
            assert outcome in ("refused", "read"), f"case {case}, {target.name}: {detail}"


@pytest.mark.slow
def test_a_thousand_mutated_pickles_in_a_process_of_their_own() -> None:
    outcomes = [case.outcome for case in attack(["pickle"], 0, 0, 1000)]
    assert len(outcomes) == 1000
    assert {*outcomes} == {"refused", "read"}


@pytest.mark.slow
def test_damaged_models_in_a_process_of_their_own() -> None:
    outcomes = [case.outcome for case in attack(["model"], 0, 0, 600)]
    assert {*outcomes} == {"refused", "read"}


@pytest.mark.slow
def test_streams_and_requests_in_a_process_of_their_own() -> None:
    outcomes = [case.outcome for case in attack(["live", "explore"], 0, 0, 200)]
    assert {*outcomes} == {"refused", "read"}


@pytest.mark.slow
def test_the_harness_tells_every_outcome() -> None:
    """Readers that crash, hang, take memory and so on, each on purpose."""
    found = {case.target: case.outcome for case in attack(["self"], 3, 0, 7, seconds=2.0)}
    assert found == {f"self {outcome}": outcome for outcome in found.values()}
    assert len({*found.values()}) == 7
