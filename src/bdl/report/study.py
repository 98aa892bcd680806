"""The content of a report from the directory of a finished study.

Provenance says what the figures rest on, in the words of the run directory: the hashes that bind
it (protocol, split, data, frozen choices), all seeds, the versions it ran with, and from the
ledger the time at which the test part was opened.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml

from bdl.errors import InputError
from bdl.events import Events
from bdl.report.content import Content, System
from bdl.report.history import study_curves
from bdl.study.data import Fingerprint, Source
from bdl.study.digest import digest
from bdl.study.directory import RunDirectory
from bdl.study.plan import Plan
from bdl.study.protocol import Part, Protocol
from bdl.study.regimes import Study
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
    source = Source.of(protocol.data, folder, trust=trust or own)
    dataset = source.load()
    parts = tuple(Part(**part) for part in run.get_json("split.json")["parts"])
    data_hashes = Fingerprint.from_dict(run.get_json("data.json"))
    plan = Plan(protocol, parts, data_hashes, run.get_json("models.json"))
    curves, training = study_curves(Study(run, protocol, dataset, source, plan))
    systems = []
    for name in (row.name for row in protocol.rows if row.name in outputs["rows"]):
        row = outputs["rows"][name]
        tables = [run.get(file) for file in row["detections"]]
        found = Events.concat(unpack_events(table) for table in tables if table is not None)
        dense = [d for step, key in row["densities"] for d in densities_of(run, step, key)]
        by_recording = {density.recording: density for density in dense}
        systems.append(System(name, found, by_recording, curves.get(name, {})))
    return Content(
        title=title or f"Study: {protocol.name}",
        truth=dataset.events.select(recordings=outputs["test"]),
        systems=tuple(systems),
        tolerances=dataset.settings.tolerances,
        event_free=dataset.settings.event_free,
        recordings=dataset.recordings.select(outputs["test"]),
        note=_note(protocol, outputs),
        provenance=_provenance(run, protocol, outputs),
        protocol=_text(protocol),
        training=training,
        replicates=replicates,
    )


def _provenance(run: RunDirectory, protocol: Protocol, outputs: dict[str, Any]) -> dict[str, str]:
    """What a study's figures rest on."""
    environment: dict[str, Any] = run.get_json("environment.json") or {}
    versions = {k: v for k, v in environment.items() if k not in ("machine", "threads")}
    opened = [entry["time"] for entry in run.ledger() if entry["event"] == "test opened"]
    shown = {(row["seed"], row["stage"]) for row in outputs["rows"].values()}
    return {
        "study": protocol.title or protocol.name,
        "regime": protocol.regime,
        "detections shown": "; ".join(f"seed {seed}, decoder {by}" for seed, by in sorted(shown)),
        "seeds": _seeds(protocol),
        "protocol hash": run.get_json("protocol.json")["digest"],
        "split hash": run.get_json("split.json")["digest"],
        "data fingerprint": digest(run.get_json("data.json")),
        "hash of the frozen choices": run.get_json("frozen.json")["digest"],
        "test part opened": ", ".join(opened) or "not in the ledger",
        "versions": ", ".join(f"{name} {value}" for name, value in versions.items()),
        "machine": str(environment.get("machine")),
        "threads a worker": str(environment.get("threads")),
    }


def _text(protocol: Protocol) -> str:
    """The protocol as it could be run again, without the paper's figures."""
    plain = protocol.model_dump(mode="json", exclude={"paper"}, exclude_none=True)
    return str(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True))


def _note(protocol: Protocol, outputs: dict[str, Any]) -> str:
    """What the figures of the page leave out, and what they were chosen on."""
    said = []
    if protocol.regime == "validation":
        said.append("Checkpoints and decoders were chosen on the recordings that are reported.")
    if any(len(protocol.final_seeds(protocol.row(name))) > 1 for name in outputs["rows"]):
        said.append("Shown is the first seed of each system; the study's tables average over all.")
    return " ".join(said)


def _seeds(protocol: Protocol) -> str:
    """Every seed of a protocol, by what it decides."""
    split = protocol.split.model_dump()
    final = sorted({seed for row in protocol.rows for seed in protocol.final_seeds(row)})
    named = {
        "split": split.get("seed"),
        "calibration": split.get("calibration_seed") if protocol.regime == "nested" else None,
        "selection": protocol.selection_seed if protocol.regime == "nested" else None,
        "models": ", ".join(map(str, final)),
        "bootstrap": protocol.bootstrap.seed,
    }
    return "; ".join(f"{name} {value}" for name, value in named.items() if value is not None)
