"""The content of a report from the directory of a finished study."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bdl.errors import InputError
from bdl.events import Events
from bdl.report.content import Content, System
from bdl.study.data import Source
from bdl.study.directory import RunDirectory
from bdl.study.status import read_protocol
from bdl.study.work import densities_of, unpack_events


def study_content(
    path: str | Path,
    *,
    data: Path | None = None,
    title: str | None = None,
    replicates: int = 1000,
    trust: bool = False,
) -> Content:
    """Truth, detections and densities of a study's test parts, a system a row (first seed).

    Parameters
    ----------
    path : the run directory.
    data : folder of the data set, where it has moved since the study ran.
    title, replicates : as `Content` takes them.
    trust : whether data that can run code when read (a pickle) may be opened; what the study
        simulated into its own directory is trusted.
    """
    run = RunDirectory(path)
    outputs: dict[str, Any] | None = run.get_json("outputs.json")
    if outputs is None:
        raise InputError(f"{path}: no finished study: outputs.json is not there")
    protocol = read_protocol(run)
    folder = Path(data or outputs["data"])
    own = folder.resolve() == Path(run.root).resolve() / "data"
    dataset = Source.of(protocol.data, folder, trust=trust or own).load()
    recordings = dataset.recordings.select(outputs["test"])
    systems = []
    for name, row in outputs["rows"].items():
        tables = [run.get(file) for file in row["detections"]]
        found = Events.concat(unpack_events(table) for table in tables if table is not None)
        dense = [d for step, key in row["densities"] for d in densities_of(run, step, key)]
        systems.append(System(name, found, {d.recording: d for d in dense}))
    environment = run.get_json("environment.json") or {}
    return Content(
        title=title or f"Study: {protocol.name}",
        truth=dataset.events.select(recordings=outputs["test"]),
        systems=tuple(systems),
        tolerances=dataset.settings.tolerances,
        event_free=dataset.settings.event_free,
        recordings=recordings,
        provenance={"study": protocol.name, **{k: str(v) for k, v in environment.items()}},
        replicates=replicates,
    )
