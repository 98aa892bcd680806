"""Steps and work for workers that succeed or die; worker processes import them from here."""

from __future__ import annotations

import os
import signal

from bdl.study.run_directory import RunDirectory
from bdl.study.steps import StepOutput, StudyStep


class ToyStep(StudyStep):
    kind = "toy"
    number: int

    def perform(self, run, benchmark) -> StepOutput:
        return StepOutput({"number": self.number}, {"weights": bytes(self.number)})


def dies_once(where: str, step: StudyStep) -> str | None:
    run = RunDirectory(where)
    if step.name == "step-2" and run.get("died") is None:
        run.put("died", b"")
        os.kill(os.getpid(), signal.SIGKILL)
    run.finish(step, StepOutput({}), seconds=0.0)
    return None


def always_dies(step: StudyStep) -> str | None:
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def fails(where: str, step: StudyStep) -> str | None:
    if step.name == "step-1":
        return "step-1: no such file"
    RunDirectory(where).finish(step, StepOutput({}), seconds=0.0)
    return None
