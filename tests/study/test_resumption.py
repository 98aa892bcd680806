"""A study killed again and again ends with the bytes of one that was never stopped."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from bdl.runs.run_directory import RunDirectory
from bdl.study.protocol import Protocol
from bdl.study.runner import run_study
from bdl.workers import Workers

ONE_THREAD = Workers(threads=1)

KILLS = 20
TESTS = Path(__file__).parents[1]


@pytest.mark.slow
def test_killed_twenty_times_it_ends_with_the_same_bytes(
    sleep: Path, nested: Protocol, tmp_path: Path, contents: Callable[[Path], dict[str, bytes]]
):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    began = time.monotonic()
    run_study(nested, whole, data=sleep, workers=ONE_THREAD)
    took = time.monotonic() - began
    given = {
        "protocol": nested.model_dump(mode="json"),
        "data": str(sleep),
        "out": str(broken),
        "kills": KILLS,
        "seed": 4,
        "longest": took / 8,
        "killed": str(tmp_path / "killed"),
    }
    file = tmp_path / "killing.json"
    file.write_text(json.dumps(given))
    # No pipe: it would stay open as long as the workers that their killed runner left.
    subprocess.run(
        [sys.executable, "-m", "naive.killing", str(file)],
        env={**os.environ, "PYTHONPATH": str(TESTS)},
        stdout=subprocess.DEVNULL,
        check=True,
    )
    assert int((tmp_path / "killed").read_text()) >= KILLS // 2
    run_study(nested, broken, data=sleep, workers=ONE_THREAD)
    assert contents(broken) == contents(whole)
    started = [entry for entry in RunDirectory(broken).ledger() if entry["event"] == "started"]
    assert len(started) > 1
