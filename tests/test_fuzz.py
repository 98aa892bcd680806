"""Damaged files at every reader, by the targets of `python -m fuzz`: some here, many there."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.attack import attack
from fuzz.signal_targets import EVENT_FILES
from fuzz.target import Target
from fuzz.worker import all_targets, attempt

from bdl.datasets import Dataset
from bdl.formats.events import EventFormat
from bdl.formats.recordings import RecordingFormat
from bdl.registry import Variant

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


def test_every_format_and_data_set_is_damaged(targets: list[Target]) -> None:
    """A new one needs a target."""
    assert {*EVENT_FILES.values()} == {*_own(EventFormat)}
    read = {target.name.split()[2] for target in targets if target.name.startswith("data set")}
    assert read == {*_own(Dataset)}
    damaged = {Path(file).suffix for target in targets for file in target.damaged}
    for name, kind in _own(RecordingFormat).items():
        assert damaged & {*kind.suffixes} or any(name in target.name for target in targets), name


def _own(family: type[Variant]) -> dict[str, Any]:
    """Variants of this package, not of others that are installed."""
    return {k: v for k, v in family.kinds().items() if v.__module__.startswith("bdl.")}


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
    outcomes = {case.target: case.outcome for case in attack(["self"], 3, 0, 7, seconds=2.0)}
    assert outcomes == {f"self {outcome}": outcome for outcome in outcomes.values()}
    assert len({*outcomes.values()}) == 7
