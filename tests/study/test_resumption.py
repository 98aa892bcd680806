"""A study killed again and again ends with the bytes of one that was never stopped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import yaml

from bdl.study.directory import RunDirectory
from bdl.study.protocol import Protocol
from bdl.study.runner import run_study
from bdl.study.workers import Workers

KILLS = 20


@pytest.mark.slow
def test_killed_twenty_times_it_ends_with_the_same_bytes(
    sleep: Path, nested: Protocol, tmp_path: Path, contents: Callable[[Path], dict[str, bytes]]
):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    began = time.monotonic()
    run_study(nested, whole, data=sleep, threads=1)
    took = time.monotonic() - began
    file = tmp_path / "protocol.yaml"
    file.write_text(yaml.safe_dump(nested.model_dump(mode="json")))
    command = [sys.executable, "-c", "from bdl.cli import main; main()", "study", "run", str(file)]
    command += ["--data", str(sleep), "--out", str(broken), "--jobs", "2", "--threads", "1"]
    rng = np.random.default_rng(4)
    kills = 0
    while kills < KILLS:
        process = subprocess.Popen(
            command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True
        )
        # Half of the kills come early, while the directory is bound; the rest while steps run.
        wait_for_start(process, broken, patience=60)
        time.sleep(float(rng.uniform(0, max(1.0, took / 4))))
        if process.poll() is None:
            # The workers are left alone every other time: they must do no harm.
            if kills % 2:
                os.killpg(process.pid, signal.SIGKILL)
            else:
                process.kill()
        process.wait()
        kills += 1
    run_study(nested, broken, data=sleep, threads=1, workers=Workers(jobs=2))
    assert contents(broken) == contents(whole)
    ledger = RunDirectory(broken).ledger()
    assert sum(entry["event"] == "started" for entry in ledger) > 1


def wait_for_start(process: subprocess.Popen[bytes], out: Path, *, patience: float) -> None:
    """Wait until this runner holds the lock: imports alone take seconds on a busy machine."""
    until = time.monotonic() + patience
    while time.monotonic() < until and process.poll() is None:
        lock = out / "lock"
        if lock.exists() and f"process {process.pid} " in lock.read_text():
            return
        time.sleep(0.05)
