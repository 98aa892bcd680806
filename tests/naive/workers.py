"""Steps and work for workers that succeed or die; worker processes import them from here."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from pathlib import Path

from bdl.recording import RecordingInfo, Recordings, Values
from bdl.runs.run_directory import RunDirectory
from bdl.runs.step import StepOutput
from bdl.study.steps import StudyStep
from bdl.value_readers import WholeReader


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


def dies_always_at(name: str, step: StudyStep) -> str | None:
    if step.name == name:
        os.kill(os.getpid(), signal.SIGKILL)
    return None


def fails(where: str, step: StudyStep) -> str | None:
    if step.name == "step-1":
        return "step-1: no such file"
    RunDirectory(where).finish(step, StepOutput({}), seconds=0.0)
    return None


@dataclass(frozen=True)
class Deadly(WholeReader):
    """Values of a collection, except of one recording, which kills the process that reads it."""

    data: Recordings
    deadly: str
    folder: Path

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        return (self.folder / f"{info.id}.npy",)

    def read(self, info: RecordingInfo) -> Values:
        if info.id == self.deadly:
            os.kill(os.getpid(), signal.SIGKILL)
        return self.data[info.id].values
