"""The content of a report on a finished study, read from its run directory.

Provenance lists the hashes of protocol, split, data and frozen choices, all seeds, the versions of
the packages, and from the ledger the time at which the test part was opened.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import yaml

from bdl.evaluation import Estimate
from bdl.evaluation.metrics.metric import number
from bdl.registry import known_name
from bdl.report.content import Content, EpochCurve, SeedSpread, System
from bdl.runs.digest import digest
from bdl.study.protocol import Protocol
from bdl.study.row import Row
from bdl.study.study_reader import StudyReader


def study_content(
    path: str | Path,
    *,
    data: Path | None = None,
    title: str | None = None,
    trust: bool = False,
) -> Content:
    """Events and outputs of the test parts; one system per row.

    Scores are those of the study: means over seeds with their spread, or for a single seed with
    their confidence intervals. Detections and densities are those of the first seed.
    """
    study = StudyReader(path)
    protocol, outputs = study.protocol, study.outputs
    benchmark = study.benchmark(data, trust=trust)
    rows = [row.name for row in protocol.rows if row.name in outputs.rows]
    lags = _lags([protocol.row(name) for name in rows])
    systems = [
        System(
            name,
            study.detections(name),
            study.densities(name),
            _curves(study, name),
            *_scores(study, name),
            _difference(study, rows[0], name),
            *lags.get(name, ("", None)),
        )
        for name in rows
    ]
    return Content(
        title=title or f"Study: {protocol.name}",
        truth=benchmark.events.select(recordings=outputs.test),
        systems=tuple(systems),
        tolerances=benchmark.settings.tolerances,
        types=benchmark.settings.types,
        event_free=benchmark.settings.event_free,
        recordings=benchmark.recordings.select(outputs.test),
        note=" ".join([*filter(None, [study.results.data]), *_note(protocol, rows)]),
        provenance=_provenance(study),
        protocol=_text(protocol),
        training=_training(protocol, systems),
        seed=protocol.bootstrap.seed,
        replicates=protocol.bootstrap.replicates,
        by=protocol.bootstrap.by,
    )


def _scores(study: StudyReader, row: str) -> tuple[dict[str, Estimate], int]:
    """Stored metrics and AP at each tolerance, and the number of seeds that they are means of."""
    stage = study.outputs.rows[row].stage
    seeds = len(study.protocol.seeds_of(study.protocol.row(row)))
    if seeds == 1:
        estimates = study.results.estimates
        return {e.metric: e.estimate for e in estimates if (e.row, e.stage) == (row, stage)}, 1
    spreads: dict[str, Estimate] = {}
    for metric in study.protocol.metrics:
        values = [*study.results.values(row, stage, metric.name, seed=None, fold=None).values()]
        if values:
            spreads[metric.name] = SeedSpread.of(float(np.mean(values)), float(np.std(values)))
    for curve in study.results.curves:
        if (curve.row, curve.stage) == (row, stage):
            for tolerance, mean, sd in zip(curve.tolerances, curve.mean, curve.sd, strict=True):
                spreads[f"AP@{number(tolerance)}"] = SeedSpread.of(mean, sd)
    return (spreads, seeds) if "mAP" in spreads else ({}, 1)


def _lags(rows: Sequence[Row]) -> dict[str, tuple[str, float]]:
    """Method and lag of each row, infinite for whole recordings; empty if no row has a lag.

    A curve has one score per lag: rows of equal method and lag have their own names.
    """
    if all(row.lag is None for row in rows):
        return {}
    lags = [(_method(row), math.inf if row.lag is None else row.lag) for row in rows]
    return {
        row.name: (method if lags.count((method, lag)) == 1 else row.name, lag)
        for row, (method, lag) in zip(rows, lags, strict=True)
    }


def _method(row: Row) -> str:
    """The method of a row, by default its objective: the name, or the value if it has none."""
    return row.method or known_name(row.objective) or repr(row.objective)


def _difference(study: StudyReader, first: str, row: str) -> Estimate | None:
    """The paired difference of the first row and this one that the study has estimated."""
    stage = study.outputs.rows[row].stage
    for difference in study.results.differences:
        if (difference.stage, difference.metric) == (stage, "mAP"):
            estimate = difference.estimate
            if (difference.row, difference.minus) == (first, row):
                return estimate
            if (difference.row, difference.minus) == (row, first):
                return Estimate(-estimate.value, -estimate.high, -estimate.low)
    return None


def _curves(study: StudyReader, row: str) -> dict[str, EpochCurve]:
    """Training curves of a row, by the quantity's name."""
    outputs, part = study.outputs.rows[row], study.protocol.regime.selection_part
    quantities = {"loss": outputs.loss, f"{part} mAP": outputs.score}
    return {
        name: ([float(epoch) for epoch in means.epochs], list(means.values))
        for name, means in quantities.items()
        if means is not None
    }


def _training(protocol: Protocol, systems: Sequence[System]) -> str:
    """What the training curves show, or why there are none."""
    if not any(system.history for system in systems):
        return "No training curves: the study was run before they were recorded."
    return (
        f"Loss, and {protocol.regime.selection_part} mAP of each checkpoint, at the selected "
        "learning rate. Means over folds and seeds; at each epoch over the models that reached it."
    )


def _provenance(study: StudyReader) -> dict[str, str]:
    """Seeds, hashes, versions and times of a study, by name."""
    protocol = study.protocol
    environment: dict[str, Any] = study.get_json("environment.json") or {}
    versions = {k: v for k, v in environment.items() if k not in ("machine", "threads")}
    opened = [entry["time"] for entry in study.ledger() if entry["event"] == "test opened"]
    seed_stages = sorted({(row.seed, row.stage) for row in study.outputs.rows.values()})
    return {
        "study": protocol.title or protocol.name,
        "regime": protocol.regime.name,
        "detections shown": "; ".join(
            f"seed {seed}, decoder {stage}" for seed, stage in seed_stages
        ),
        "left open by the paper": protocol.paper.note or "nothing",
        "seeds": _seeds(protocol),
        "protocol hash": study.get_json("protocol.json")["digest"],
        "split hash": study.get_json("split.json")["digest"],
        "data fingerprint": digest(study.get_json("data.json")),
        "hash of the frozen choices": study.get_json("frozen.json")["digest"],
        "hash of the chain of results": study.get_json("results.json")["chain"],
        "test part opened": ", ".join(opened) or "not in the ledger",
        "versions": ", ".join(f"{name} {value}" for name, value in versions.items()),
        "machine": str(environment.get("machine")),
        "threads per worker": str(environment.get("threads")),
    }


def _text(protocol: Protocol) -> str:
    """The protocol as YAML that can be run again, without the figures of the paper."""
    plain = protocol.model_dump(mode="json", exclude={"paper"}, exclude_none=True)
    return str(yaml.safe_dump(plain, sort_keys=False, allow_unicode=True))


def _note(protocol: Protocol, rows: Sequence[str]) -> list[str]:
    """Sentences on the data of the choices, and on the seed whose detections are shown."""
    sentences = []
    if not protocol.regime.held_out:
        sentences += ["Checkpoints and decoders were chosen on the recordings that are reported."]
    if any(len(protocol.seeds_of(protocol.row(name))) > 1 for name in rows):
        sentences.append(
            "Scores are means over seeds; detections, densities, timing and counts are those of "
            "the first seed."
        )
    return sentences


def _seeds(protocol: Protocol) -> str:
    """All seeds of a protocol, by what they determine."""
    split = protocol.split.model_dump()
    final = sorted({seed for row in protocol.rows for seed in protocol.seeds_of(row)})
    held_out = protocol.regime.held_out
    seeds = {
        "split": split.get("seed"),
        "calibration": split.get("calibration_seed") if held_out else None,
        "selection": protocol.selection_seed if held_out else None,
        "models": ", ".join(map(str, final)),
        "bootstrap": protocol.bootstrap.seed,
    }
    return "; ".join(f"{name} {value}" for name, value in seeds.items() if value is not None)
