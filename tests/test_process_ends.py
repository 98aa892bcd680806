"""A runner that is ended by a signal leaves no worker alive."""

from __future__ import annotations

import signal
import sys
import time

import pytest

from processes import Family, started

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
SIGNALS = (signal.SIGTERM, signal.SIGINT, signal.SIGKILL)
RUNNER = (
    "import time; from bdl.workers import Workers, run_all\n"
    "print([*run_all(time.sleep, [100.0] * 4, Workers(jobs=2))])\n"
)


def wait_for(family: Family, *, workers: int) -> None:
    """Wait until so many processes run beside the command."""
    until = time.monotonic() + 60
    while family.workers() < workers:
        assert time.monotonic() < until, family.members()
        time.sleep(0.02)


@pytest.mark.parametrize(
    ("number", "when"),
    [
        (signal.SIGINT, "while workers start"),
        pytest.param(signal.SIGTERM, "while workers start", marks=pytest.mark.slow),
        pytest.param(signal.SIGKILL, "while workers start", marks=pytest.mark.slow),
        (signal.SIGINT, "while they work"),
        pytest.param(signal.SIGTERM, "while they work", marks=pytest.mark.slow),
        (signal.SIGKILL, "while they work"),
    ],
)
def test_no_worker_outlives_its_runner(number: signal.Signals, when: str):
    with started("-c", RUNNER) as family:
        wait_for(family, workers=2)
        if when == "while they work":
            time.sleep(1.0)
        assert family.end(number) == []
        assert family.process.wait(10) != 0


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["ray", "dask"])
@pytest.mark.parametrize("number", SIGNALS)
def test_no_process_of_a_local_cluster_outlives_its_runner(number: signal.Signals, backend: str):
    """Its servers and agents neither: Ray's alone would stay for a minute."""
    pytest.importorskip({"ray": "ray", "dask": "distributed"}[backend])
    with started("-c", RUNNER.replace("jobs=2", f"jobs=2, backend='{backend}'")) as family:
        # The runner, the two processes above the cluster, and its workers with what serves them.
        wait_for(family, workers=4 if backend == "dask" else 9)
        time.sleep(1.0)
        assert family.end(number) == []


@pytest.mark.slow
def test_a_cluster_that_still_starts_ends_with_its_runner():
    pytest.importorskip("ray")
    with started("-c", RUNNER.replace("jobs=2", "jobs=2, backend='ray'")) as family:
        wait_for(family, workers=3)
        assert family.end(signal.SIGKILL) == []


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.1, 0.7, 3.0])
def test_an_interruption_in_the_first_seconds_ends_a_study(delay: float, tmp_path):
    words = ("study", "run", "fraud", "--scale", "tiny", "--out", tmp_path / "run", "--jobs", 2)
    with started("-m", "bdl", *words) as family:
        time.sleep(delay)
        assert family.end(signal.SIGINT) == []
        assert family.process.wait(10) != 0
