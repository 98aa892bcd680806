"""Whichever write fails, a study ends with an error of ours, and run again gives the same bytes."""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from bdl.errors import BdlError
from bdl.formats import prepare
from bdl.recording import Recording, Recordings
from bdl.runs.run_reader import RunReader
from bdl.study.protocol import Protocol
from bdl.study.runner import run_study
from bdl.study.splits import Fold, ListedFolds
from bdl.training import Training
from bdl.workers import Workers
from naive.faults import local_faults, remote_faults

ONE_THREAD = Workers(threads=1)
Contents = Callable[[Path], dict[str, bytes]]
SHARES = 4  # of the failing calls of a study, each a test of its own


@pytest.fixture(scope="module")
def tiny(nested: Protocol, sleep: Path) -> Protocol:
    """One row, one rate, one epoch, one fold: every kind of step once."""
    import polars as pl

    ids = sorted(pl.read_csv(sleep / "train_events.csv")["series_id"].unique())
    part = Fold(train=tuple(ids[:1]), calibration=tuple(ids[1:2]), test=tuple(ids[2:3]))
    return nested.replace(
        rows=nested.rows[:1],
        differences=(),
        learning_rates=(3e-3,),
        training=Training(epochs=1, batch=2, accelerator="cpu"),
        split=ListedFolds(parts=(part,)),
    )


def error_of(work: Callable[..., object], *given: object, **options: object) -> object:
    try:
        work(*given, **options)
    except BaseException as error:
        return error
    return None


def check_study(
    tiny: Protocol, sleep: Path, folder: Path, contents: Contents, numbers: Callable[[int], range]
) -> None:
    """Let each of these calls fail in a study of its own, and run it again."""
    with local_faults(folder / "whole", None) as counter:
        run_study(tiny, folder / "whole", data=sleep, workers=ONE_THREAD)
    whole = contents(folder / "whole")
    assert counter.calls > 100
    for number in numbers(counter.calls):
        run = folder / f"run-{number}"
        with local_faults(run, number) as failing:
            error = error_of(run_study, tiny, run, data=sleep, workers=ONE_THREAD)
        assert failing.calls >= number
        assert isinstance(error, BdlError), (number, repr(error))
        run_study(tiny, run, data=sleep, workers=ONE_THREAD)
        assert contents(run) == whole, number
        shutil.rmtree(run)


def test_some_failing_writes_of_a_study(
    tiny: Protocol, sleep: Path, tmp_path: Path, contents: Contents
):
    check_study(tiny, sleep, tmp_path, contents, lambda calls: range(7, calls + 1, calls // 4))


@pytest.mark.slow
@pytest.mark.parametrize("share", range(SHARES))
def test_every_failing_write_of_a_study(
    tiny: Protocol, sleep: Path, tmp_path: Path, contents: Contents, share: int
):
    check_study(tiny, sleep, tmp_path, contents, lambda calls: range(1 + share, calls + 1, SHARES))


def remote_contents(url: str) -> dict[str, bytes]:
    run = RunReader(url)
    names = (path.removeprefix(run.root + "/") for path in run.fs.find(run.root))
    return {
        name: run.get(name) or b"" for name in names if not name.startswith(("ledger/", "lock"))
    }


@pytest.mark.parametrize("after", [False, True])
def test_every_failing_call_of_a_remote_study(tiny: Protocol, sleep: Path, after: bool):
    """Of a store that writes whole files: a call fails before its work, or its answer is lost."""
    place = f"faulty://{uuid.uuid4().hex}"
    with remote_faults(None, after=after) as counter:
        run_study(tiny, f"{place}/whole", data=sleep, workers=ONE_THREAD)
    whole = remote_contents(f"{place}/whole")
    assert len(whole) > 15
    for number in range(1 + after, counter.calls + 1, 2):
        url = f"{place}/run-{number}"
        with remote_faults(number, after=after):
            error = error_of(run_study, tiny, url, data=sleep, workers=ONE_THREAD)
        assert isinstance(error, BdlError), (number, repr(error))
        run_study(tiny, url, data=sleep, workers=ONE_THREAD)
        assert remote_contents(url) == whole, number


def test_every_failing_write_of_a_preparation(tmp_path: Path):
    rng = np.random.default_rng(0)
    data = Recordings.of(Recording.of(rng.normal(size=(500, 2)), id=id, period=0.5) for id in "abc")
    with local_faults(tmp_path / "whole", None) as counter:
        prepare(data, tmp_path / "whole")
    whole = {file.name: file.read_bytes() for file in (tmp_path / "whole").iterdir()}
    assert counter.calls > 15
    for number in range(1, counter.calls + 1):
        store = tmp_path / f"store-{number}"
        with local_faults(store, number):
            error = error_of(prepare, data, store)
        assert isinstance(error, BdlError), (number, repr(error))
        prepare(data, store)
        assert {file.name: file.read_bytes() for file in store.iterdir()} == whole, number
