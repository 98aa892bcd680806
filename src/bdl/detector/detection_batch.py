"""Detections in a batch of recordings, in any process or on any machine."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from bdl.decoding.candidates import ByType, Candidates
from bdl.detector.operating_point import OperatingPoint
from bdl.errors import InputError
from bdl.recording import Recordings
from bdl.recording_batches import singles
from bdl.runs.digest import canonical
from bdl.runs.run_directory import RunDirectory, timed
from bdl.runs.run_reader import RunReader
from bdl.runs.step import Step, StepOutput
from bdl.runs.step_files import pack_densities
from bdl.thread_limit import limit_threads

if TYPE_CHECKING:
    from bdl.detector.streaming import Streaming

Detections = dict[str, ByType]  # by recording and event type
Refused = dict[str, str]  # by recording: why it was refused
_DETECTIONS = "detections.json"  # by event type: times, scores and, with a lag, times of issue


class DetectionStep(Step):
    """The detections of one recording.

    Parameters
    ----------
    recording
        Id of the recording.
    source
        Hash of its metadata and of the stamps of its files, or of its values if it has none.
    model
        Name of the model in the run directory, which holds its hash.
    point
        Operating point; None for the whole ranking.
    resample
        Whether a recording of another period is resampled.
    densities
        Whether the density is kept.
    """

    kind = "detection"
    recording: str
    source: str
    model: str
    point: OperatingPoint | None
    resample: bool
    densities: bool


@dataclass(frozen=True, eq=False)
class DetectionBatch:
    """Recordings with everything that is needed to detect in them.

    Parameters
    ----------
    run
        Run directory.
    recordings
        The recordings.
    steps
        Their steps, by id; all of one model and one operating point.
    detector
        The detector, in the process that has it already; others load it from the run directory.
    threads
        Threads to use; None for any number.
    again
        Whether a worker died with these recordings: steps that it has finished are not repeated.
    """

    run: str
    recordings: Recordings
    steps: Mapping[str, DetectionStep] = field(repr=False)
    detector: Streaming | None
    threads: int | None
    again: bool = False

    def part(self, recordings: Recordings) -> DetectionBatch:
        """The same for some of the recordings."""
        steps = {id: self.steps[id] for id in recordings.ids}
        return replace(self, recordings=recordings, steps=steps)

    def singles(self) -> list[DetectionBatch]:
        """Each recording alone, after the death of a worker."""
        return [replace(self.part(alone), again=True) for alone in singles(self.recordings)]

    def detect(self) -> tuple[Detections, Refused]:
        """Detect and finish the steps."""
        run = RunDirectory(self.run)
        if self.threads is not None:
            limit_threads(self.threads)
        first = next(iter(self.steps.values()))
        detector = self.detector or _load_model(self.run, first.model)
        detections: Detections = {}
        if self.again:
            done = [step for step in self.steps.values() if run.done(step.id) is not None]
            detections = {step.recording: read_candidates(run, step) for step in done}
        refused: dict[str, InputError] = {}
        left = self.recordings.select([id for id in self.recordings.ids if id not in detections])
        applied = detector.apply(
            left, resample=first.resample, points=(first.point,), refused=refused
        )
        while True:
            with timed() as seconds:
                answer = next(applied, None)
            if answer is None:
                return detections, {id: str(error) for id, error in refused.items()}
            density, [candidates] = answer
            files = pack_densities([density]) if first.densities else {}
            files[_DETECTIONS] = canonical(
                {
                    event: [column.tolist() for column in part if column is not None]
                    for event, part in candidates.items()
                }
            )
            step = self.steps[density.recording]
            run.finish(step, StepOutput({}, files), seconds=seconds[0])
            detections[density.recording] = candidates


def read_candidates(run: RunReader, step: DetectionStep) -> ByType:
    """The detections of a finished step."""
    return {
        event: Candidates(*(np.array(column, dtype=np.float64) for column in columns))
        for event, columns in json.loads(run.read(step.id, _DETECTIONS)).items()
    }


@lru_cache(maxsize=2)
def _load_model(run: str, name: str) -> Streaming:
    from bdl.detector import load

    content = RunReader(run).get(name)
    if content is None:
        raise InputError(f"{run}/{name}: no such file; is the run directory on a shared disk?")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / name
        file.write_bytes(content)
        return load(file)
