"""The run directory: whole or not at all, hashed, locked, on any file system."""

from __future__ import annotations

import os
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from bdl.errors import StudyError
from bdl.runs import lock
from bdl.runs.run_directory import RunDirectory
from bdl.runs.step import StepOutput
from naive.workers import ToyStep

STEP = ToyStep(name="fit/one", settings="", number=1)


class OtherStep(ToyStep):
    kind = "other"


@pytest.fixture(params=["local", "memory"])
def run(request: pytest.FixtureRequest, tmp_path: Path) -> RunDirectory:
    where = tmp_path / "run" if request.param == "local" else f"memory://{uuid.uuid4().hex}/run"
    made = RunDirectory(where)
    made.make()
    return made


def test_a_step_is_done_when_its_mark_is_there(run: RunDirectory):
    assert run.done(STEP.id) is None
    run.put(f"{STEP.id.folder}/weights", b"half written")
    assert run.done(STEP.id) is None
    with pytest.raises(StudyError, match="is not done"):
        run.result(STEP.id)
    run.finish(STEP, StepOutput({"score": 0.5}, {"weights": b"whole"}), seconds=1.0)
    assert run.result(STEP.id) == {"score": 0.5}
    assert run.read(STEP.id, "weights") == b"whole"
    assert run.files(STEP.id) == ["weights"]


def test_a_step_of_other_inputs_is_another_step(run: RunDirectory):
    run.finish(STEP, StepOutput({}), seconds=1.0)
    assert run.done(ToyStep(name="fit/one", settings="", number=2).id) is None
    assert run.done(ToyStep(name="fit/one", settings="other", number=1).id) is None
    assert run.done(ToyStep(name="fit/two", settings="", number=1).id) is None
    assert run.done(OtherStep(name="fit/one", settings="", number=1).id) is None


def test_an_altered_file_is_noticed(run: RunDirectory):
    run.finish(STEP, StepOutput({}, {"weights": b"whole"}), seconds=1.0)
    run.put(f"{STEP.id.folder}/weights", b"other")
    with pytest.raises(StudyError, match="altered since it was written"):
        run.read(STEP.id, "weights")


def test_the_ledger_is_in_order_of_time(run: RunDirectory):
    for number in range(5):
        run.note("counted", number=number)
    assert [entry["number"] for entry in run.ledger()] == [0, 1, 2, 3, 4]
    assert all(entry["time"].endswith("+00:00") for entry in run.ledger())


def test_two_runners_on_one_directory_are_refused(run: RunDirectory):
    with (
        run.lock(),
        pytest.raises(StudyError, match="another runner uses this directory"),
        run.lock(),
    ):
        pass
    with run.lock():
        pass


def test_a_killed_runners_lock_is_free(tmp_path: Path):
    code = (
        "import os, signal, sys; from bdl.runs.run_directory import RunDirectory\n"
        "with RunDirectory(sys.argv[1]).lock(): os.kill(os.getpid(), signal.SIGKILL)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    with RunDirectory(tmp_path).lock():
        pass


def test_a_lease_that_is_not_renewed_runs_out(monkeypatch: pytest.MonkeyPatch):
    run = RunDirectory(f"memory://{uuid.uuid4().hex}/run")
    run.make()
    run.put_json("lock.json", {"token": "other", "host": "there", "pid": 1, "time": 0.0})
    with run.lock():
        pass
    monkeypatch.setattr(lock, "STALE", 1e12)
    run.put_json("lock.json", {"token": "other", "host": "there", "pid": 1, "time": 0.0})
    with pytest.raises(StudyError, match="process 1 on there"), run.lock():
        pass


def test_a_full_disk_is_said_and_leaves_no_half_step(tmp_path: Path):
    """The kernel refuses a file beyond the limit as it refuses one on a full disk."""
    code = (
        "import resource, signal, sys\n"
        "from bdl.runs.run_directory import RunDirectory\n"
        "from naive.workers import ToyStep\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (10_000, 10_000))\n"
        "run = RunDirectory(sys.argv[1])\n"
        "step = ToyStep(name='fit/one', settings='', number=20_000)\n"
        "try:\n"
        "    run.finish(step, step.perform(run, None), seconds=0.0)\n"
        "except Exception as error:\n"
        "    print(type(error).__name__, error)\n"
        "print(run.done(step.id))\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert printed.startswith("StudyError")
    assert "run the same command again" in printed
    assert printed.endswith("None\n")
    assert not [file for file in tmp_path.rglob("*") if file.is_file()]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_directory_that_cannot_be_written_is_said(tmp_path: Path):
    tmp_path.chmod(0o500)
    with pytest.raises(StudyError, match="cannot write"):
        RunDirectory(tmp_path / "run").make()
