"""Detections in many recordings, on several workers; an interrupted run can be resumed.

Every recording is a step of a run directory: its key is the hash of the model, of the operating
point and of the recording's files, its result the detections. Workers take short recordings
together, read them themselves and load the model from the run directory. Results do not depend on
which worker does what, or in which order: they are joined in the order of the recordings.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bdl.decoding.candidates import ByType, to_events
from bdl.density import Density
from bdl.detector.detection_batch import (
    DetectionBatch,
    Detections,
    DetectionStep,
    Refused,
    read_candidates,
)
from bdl.detector.operating_point import OperatingPoint
from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.addresses import address_of, ask_all
from bdl.recording import Recordings
from bdl.recording_batches import batches_of
from bdl.runs.digest import digest, recording_digest
from bdl.runs.file_stamps import file_stamps
from bdl.runs.run_directory import RunDirectory
from bdl.runs.step_files import read_step_densities
from bdl.workers import WorkerDeath, Workers, run_all

if TYPE_CHECKING:
    from bdl.detector.streaming import Streaming


@dataclass(frozen=True)
class DetectionRun:
    """What was detected in many recordings.

    Parameters
    ----------
    detected
        Detections by recording and type, in the order of the recordings.
    refused
        Recordings that could not be read or used, each with the reason.
    directory
        Run directory.
    steps
        Steps of the recordings in which events were detected.
    """

    detected: dict[str, ByType]
    refused: dict[str, str]
    directory: RunDirectory
    steps: tuple[DetectionStep, ...]

    @property
    def detections(self) -> Events:
        """One table of all detections, with scores."""
        return to_events(self.detected.items())

    def densities(self) -> Iterator[Density]:
        """The densities, one at a time, in the order of the recordings."""
        for step in self.steps:
            yield from read_step_densities(self.directory, [step.id])


def detect_many(
    detector: Streaming,
    recordings: Recordings,
    directory: str | Path,
    *,
    point: OperatingPoint | None = None,
    resample: bool = False,
    densities: bool = False,
    workers: Workers | None = None,
    strict: bool = False,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> DetectionRun:
    """Detect events in many recordings, or resume where an earlier call was stopped.

    Parameters
    ----------
    detector
        A fitted detector.
    recordings
        Recordings; with other processes, values in memory are sent to them.
    directory
        Run directory: a folder or any fsspec path that all workers can write. What is finished in
        it is not done again, if model, settings and files are the same.
    point
        Operating point, such as ``detector.model_.operating_point``; None for the whole ranking.
    resample
        Whether to resample recordings of another period.
    densities
        Whether to keep the densities in the run directory.
    workers
        Where to work; by default one recording after the other in this process.
    strict
        Whether a recording that cannot be read or used is an error; otherwise it is listed in the
        result and the others are processed.
    progress
        Called with the numbers of finished and of all samples.

    Returns
    -------
    DetectionRun
        Detections, and recordings that were refused.
    """
    workers = workers or Workers()
    run = RunDirectory(directory)
    with run.lock():
        run.tidy()
        model = _put_model(run, detector)
        shared = {"model": model, "point": point, "resample": resample, "densities": densities}
        steps = _steps(recordings, shared)
        finished = run.finished()
        detections: Detections = {
            id: read_candidates(run, step)
            for id, step in steps.items()
            if step.id.folder in finished
        }
        left = recordings.select([id for id in recordings.ids if id not in detections])
        threads = workers.threads
        if not workers.here:
            threads = threads or max(1, (os.cpu_count() or 1) // workers.jobs)
        all_left = DetectionBatch(run.url, left, steps, detector if workers.here else None, threads)
        resumed = bool(detections)
        deaths: list[str] = []

        def died(reason: str) -> None:
            deaths.append(reason)
            run.note("worker died", reason=reason)

        refused: Refused = {}
        total = sum(info.samples for info in recordings.infos)
        done = total - sum(info.samples for info in left.infos)
        progress(done, total)
        for batch, outcome in run_all(
            DetectionBatch.detect,
            (all_left.part(batch) for batch in batches_of(left)),
            workers,
            died,
            DetectionBatch.singles,
        ):
            if isinstance(outcome, WorkerDeath):
                outcome = {}, {id: f"recording {id!r}: {outcome}" for id in batch.recordings.ids}
            detections |= outcome[0]
            refused |= outcome[1]
            if outcome[1] and (strict or len(refused) == len(recordings)):
                raise InputError(next(iter(outcome[1].values())))
            done += sum(info.samples for info in batch.recordings.infos)
            progress(done, total)
        done_steps = tuple(steps[id] for id in recordings.ids if id in detections)
        if resumed or deaths:
            run.complete_ledger(done_steps)
    return DetectionRun(
        {step.recording: detections[step.recording] for step in done_steps},
        {id: refused[id] for id in recordings.ids if id in refused},
        run,
        done_steps,
    )


def _steps(recordings: Recordings, shared: Mapping[str, Any]) -> dict[str, DetectionStep]:
    """The step of each recording, by id."""
    files = (file for id in recordings.ids[:1] for file in recordings.files(id))
    remote = any(address_of(file) is not None for file in files)
    steps = ask_all(lambda id: _step(recordings, id, shared), recordings.ids, remote)
    return dict(zip(recordings.ids, steps, strict=True))


def _step(recordings: Recordings, id: str, shared: Mapping[str, Any]) -> DetectionStep:
    info = recordings.info(id)
    files = recordings.files(id)
    # Stamps are taken before a file is read: a file that changes later has another key.
    content = file_stamps(files, Path.cwd()) if files else recording_digest(recordings[id])
    name = hashlib.sha256(id.encode()).hexdigest()
    metadata = [info.id, info.samples, list(info.channels), info.period, str(info.start)]
    metadata.append(list(info.units))  # values are converted to the model's
    return DetectionStep(
        name=f"{name[:2]}/{name[2:18]}", recording=id, source=digest([metadata, content]), **shared
    )


def _put_model(run: RunDirectory, detector: Streaming) -> str:
    """Put the model into the run directory, for the workers; its name holds its hash."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "model"
        detector.save(file)
        content = file.read_bytes()
    name = f"model-{hashlib.sha256(content).hexdigest()[:16]}{detector.suffix}"
    if run.get(name) != content:
        run.put(name, content)
    return name
