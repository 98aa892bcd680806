"""A local cluster is started again if its first start fails, as on a machine that is too busy."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import psutil
import pytest

from bdl import child_processes
from bdl.errors import ConfigError, StudyError
from bdl.workers import Workers, run_all

pytest.importorskip("distributed")
FAILS = [sys.executable, "-c", "raise SystemExit(1)"]


def fail_first(monkeypatch: pytest.MonkeyPatch, failures: int) -> list[Any]:
    """Let the first starts of a process fail; returns a list that counts the starts."""
    start, starts = subprocess.Popen, []

    def started(command: list[str], **options: Any) -> subprocess.Popen[str]:
        starts.append(command)
        return start(FAILS if len(starts) <= failures else command, **options)

    monkeypatch.setattr(child_processes.subprocess, "Popen", started)
    return starts


@pytest.mark.slow
def test_a_start_that_fails_is_repeated(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = fail_first(monkeypatch, 1)
    assert child_processes.local_cluster("dask", 1).startswith("tcp://")
    child_processes.end_local_cluster("dask")
    assert len(starts) == 2


def test_starts_that_always_fail_are_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    starts = fail_first(monkeypatch, 10)
    with pytest.raises(ConfigError, match="no local dask cluster could be started"):
        child_processes.local_cluster("dask", 1)
    assert len(starts) == child_processes.ATTEMPTS


@pytest.mark.slow
def test_a_cluster_that_dies_is_told() -> None:
    pytest.importorskip("ray")

    def results() -> None:
        for number, _ in enumerate(
            run_all(time.sleep, [0.1] * 200, Workers(backend="ray", jobs=2))
        ):
            if number == 3:
                [node] = [
                    child for child in psutil.Process().children(True) if "raylet" in child.name()
                ]
                node.kill()

    with pytest.raises(StudyError, match=r"the ray cluster has failed .* run the same command"):
        results()
