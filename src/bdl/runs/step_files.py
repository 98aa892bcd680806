"""Files of a step: densities in the package's own format, detections as CSV."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from bdl.density import Density
from bdl.events import Events
from bdl.formats import densities as density_files
from bdl.runs.run_reader import RunReader, StepId

_DETECTIONS = {"recording": pl.String, "event": pl.String, "time": pl.Float64, "score": pl.Float64}


def pack_densities(densities: Iterable[Density]) -> dict[str, bytes]:
    """Densities as files of a step, by name."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "densities"
        density_files.write_densities(folder, densities)
        return {f"densities/{file.name}": file.read_bytes() for file in sorted(folder.iterdir())}


def read_step_densities(run: RunReader, steps: Iterable[StepId]) -> list[Density]:
    """The densities of finished steps, checked against their hashes."""
    densities: list[Density] = []
    for step in steps:
        with tempfile.TemporaryDirectory() as folder:
            for name in run.files(step):
                if name.startswith("densities/"):
                    (Path(folder) / Path(name).name).write_bytes(run.read(step, name))
            densities += density_files.read_densities(folder)
    return densities


def pack_events(events: Events) -> bytes:
    """Detections as CSV; reading them back gives exactly the same numbers."""
    columns = {
        "recording": events.recording.tolist(),
        "event": events.event.tolist(),
        "time": events.time,
        "score": np.zeros(0) if events.score is None else events.score,
    }
    text: str = pl.DataFrame(columns, schema=_DETECTIONS).write_csv()
    return text.encode()


def unpack_events(content: bytes) -> Events:
    """Detections from CSV.

    Examples
    --------
    >>> detections = Events.of("a", "beat", [0.1 + 0.2], score=[1 / 3])
    >>> unpack_events(pack_events(detections)) == detections
    True
    >>> len(unpack_events(pack_events(Events.empty(scored=True))))
    0
    """
    return Events.from_frame(pl.read_csv(content, schema=_DETECTIONS))


def common_stages(run: RunReader, steps: Sequence[StepId]) -> list[str]:
    """Stages for which all steps have detections, sorted."""
    stages = [
        {
            name.removeprefix("detections/").removesuffix(".csv")
            for name in run.files(step)
            if name.startswith("detections/")
        }
        for step in steps
    ]
    return sorted(set.intersection(*stages))


def read_step_detections(run: RunReader, steps: Sequence[StepId], stage: str) -> Events:
    """Detections of a stage, of all steps together."""
    name = f"detections/{stage}.csv"
    detections = Events.concat(unpack_events(run.read(step, name)) for step in steps)
    return Events.empty(scored=True) if detections.score is None else detections
