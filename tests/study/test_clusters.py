"""One table on every back end, and what a dead Ray worker costs."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bdl.runs.run_directory import RunDirectory
from bdl.study.protocol import Protocol
from bdl.study.runner import run_study
from bdl.workers import Workers

ONE_THREAD = Workers(threads=1)

Contents = Callable[[Path], dict[str, bytes]]


@pytest.fixture(scope="module")
def alone(
    tmp_path_factory: pytest.TempPathFactory, sleep: Path, nested: Protocol, contents: Contents
) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("alone")
    run_study(nested, folder, data=sleep, workers=ONE_THREAD)
    return contents(folder)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "dask"])
def test_two_workers_give_the_same_bytes(
    alone: dict[str, bytes],
    backend: str,
    sleep: Path,
    nested: Protocol,
    tmp_path: Path,
    contents: Contents,
):
    if backend == "dask":
        pytest.importorskip("distributed")
    workers = Workers(backend=backend, jobs=2, threads=1)
    run_study(nested, tmp_path, data=sleep, workers=workers)
    assert contents(tmp_path) == alone


@pytest.mark.slow
def test_a_ray_worker_that_is_killed_costs_a_retry(
    alone: dict[str, bytes], sleep: Path, nested: Protocol, tmp_path: Path, contents: Contents
):
    ray = pytest.importorskip("ray")
    killed: list[int] = []

    def kill_one() -> None:
        """Kill a worker process of this cluster as soon as the first step is done."""
        psutil = pytest.importorskip("psutil")
        until = time.monotonic() + 240
        while time.monotonic() < until:
            if list(tmp_path.glob("steps/select/*/*/*/done.json")):
                break
            time.sleep(0.05)
        for process in psutil.Process().children(recursive=True):
            if "ray::_call" in " ".join(process.cmdline()):
                os.kill(process.pid, signal.SIGKILL)
                killed.append(process.pid)
                return

    thread = threading.Thread(target=kill_one, daemon=True)
    thread.start()
    try:
        workers = Workers(backend="ray", jobs=2, threads=1)
        run_study(nested, tmp_path, data=sleep, workers=workers)
    finally:
        thread.join()
        ray.shutdown()
    assert killed
    assert contents(tmp_path) == alone
    events = [entry["event"] for entry in RunDirectory(tmp_path).ledger()]
    assert "worker died" in events


def test_an_unreachable_cluster_is_said(sleep: Path, nested: Protocol, tmp_path: Path):
    from bdl.errors import ConfigError

    pytest.importorskip("distributed")
    workers = Workers(backend="dask", jobs=2, threads=1, address="tcp://127.0.0.1:1")
    with pytest.raises(ConfigError, match="no dask cluster can be reached"):
        run_study(nested, tmp_path, data=sleep, workers=workers)
