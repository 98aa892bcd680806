"""Work for workers to do, or to die of; here so that worker processes can import it."""

from __future__ import annotations

import os
import signal

from bdl.study.run_directory import RunDirectory, StudyStep


def dies_once(where: str, step: StudyStep) -> str | None:
    run = RunDirectory(where)
    if step.name == "step-2" and run.get("died") is None:
        run.put("died", b"")
        os.kill(os.getpid(), signal.SIGKILL)
    run.finish(step, {}, {}, seconds=0.0)
    return None


def always_dies(step: StudyStep) -> str | None:
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def fails(where: str, step: StudyStep) -> str | None:
    if step.name == "step-1":
        return "step-1: no such file"
    RunDirectory(where).finish(step, {}, {}, seconds=0.0)
    return None
