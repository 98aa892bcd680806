"""Runs a study again and again and kills it each time: ``python -m naive.killing FILE``.

The file holds JSON: protocol, data, out, kills, seed, longest (seconds before a kill), and killed,
a file for the number of runs that were killed before they ended; standard output would not do:
workers left without a runner may print there. Each run is a fork of this process, which has
imported everything and computed nothing, so that what is killed is the study and not its imports.
Every other run is killed at the earliest after it has begun to work; the others may die while they
still bind the directory. Every seventh run has two worker processes, which are left alone when
their runner is killed.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

import bdl.study.model_fits  # imported here so that the forks need not
from bdl.runs.run_directory import RunDirectory
from bdl.study.protocol import parse_protocol
from bdl.study.runner import run_study
from bdl.workers import Workers


def main(file: Path) -> None:
    """Run, kill, and write down how many of the runs were killed before they ended."""
    given = json.loads(file.read_text())
    protocol = parse_protocol(given["protocol"], str(file))
    rng = np.random.default_rng(given["seed"])
    killed = 0
    for number in range(given["kills"]):
        before = begun(given["out"])
        child = os.fork()
        if child == 0:
            workers = Workers(jobs=2 if number % 7 == 3 else 1, threads=1)
            run_study(protocol, given["out"], data=Path(given["data"]), workers=workers)
            os._exit(0)
        if number % 2:
            _wait_for_start(given["out"], before=before, child=child)
        time.sleep(float(rng.uniform(0, given["longest"])))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        killed += os.WIFSIGNALED(status)
    Path(given["killed"]).write_text(str(killed))


def begun(out: str) -> int:
    """How often a study has begun to work in the directory."""
    return sum(entry["event"] == "started" for entry in RunDirectory(out).ledger())


def _wait_for_start(out: str, *, before: int, child: int) -> None:
    while (
        begun(out) == before
        and os.waitid(os.P_PID, child, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None
    ):
        time.sleep(0.01)


if __name__ == "__main__":
    assert bdl.study.model_fits
    main(Path(sys.argv[1]))
