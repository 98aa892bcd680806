"""Data for the script of the page: detections with their hits, annotated events, and curves."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.drawing import recording_facts
from bdl.evaluation import Matches
from bdl.report.content import Content, hit_masks, matched_detections, type_codes
from bdl.report.packed_arrays import DrawnCurve, fit_curves, pack
from bdl.report.page_figures import PlotlyFigure

MAX_CURVE_CHARACTERS = 4_400_000  # per page, so that fifty recordings stay below 8 MB
SIGNALS = 4  # channels drawn per recording
POINTS = 8 * MAX_CURVE_CHARACTERS  # points of all curves before they are fitted; bounds the memory


def page_data(content: Content, drawn: dict[str, PlotlyFigure]) -> dict[str, Any]:
    """Everything that the script of the page reads, ready for JSON."""
    first = content.matches[0]
    best = first.best_f1().threshold[:, first.tolerance_index(content.middle)]
    thresholds = best[np.isfinite(best)]
    return {
        "types": first.types,
        "tolerances": content.tolerances,
        "tolerance": first.tolerance_index(content.middle),
        "days": content.days,
        "intervals": [
            [first.types.index(kind.onset), first.types.index(kind.offset)]
            for kind in first.intervals
            if {kind.onset, kind.offset} <= {*first.types}
        ],
        "threshold": float(thresholds.min()) if len(thresholds) else 0.0,
        "figures": drawn,
        "truth": {
            "recording": pack(_recordings_of_events(first), "u4"),
            "type": pack(np.repeat(np.arange(len(first.types)), first.truths.sum(axis=0)), "u1"),
            "time": pack(first.truth_time, "f8"),
        },
        "systems": [
            {
                "name": system.name,
                "detections": {
                    "score": pack(matches.score, "f8"),
                    "hits": pack(hit_masks(matches), "u4"),
                    "found": pack(matched_detections(matches), "u4"),
                    "type": pack(type_codes(matches), "u1"),
                    "recording": pack(matches.recording, "u4"),
                    "time": pack(matches.time, "f8"),
                },
            }
            for system, matches in zip(content.systems, content.matches, strict=True)
        ],
        "recordings": _views(content),
    }


def _recordings_of_events(matches: Matches) -> NDArray[np.int64]:
    """Index of the recording of each annotated event; they are ordered by type."""
    indices = np.tile(np.arange(len(matches.recordings)), len(matches.types))
    return np.repeat(indices, np.diff(matches.truth_start))


def _views(content: Content) -> list[dict[str, Any]]:
    """Curves of each recording: densities in at most half of the space, signals in the rest."""
    ids = content.matches[0].recordings
    most = POINTS // (SIGNALS + 2 * len(content.systems)) // len(ids)
    densities = [(id, i, curve) for id in ids for i, curve in _densities(content, id, most)]
    signals = [(id, curve) for id in ids for curve in _signals(content, id, most)]
    packed_densities = fit_curves([curve for *_, curve in densities], MAX_CURVE_CHARACTERS // 2)
    used = sum(len(curve["y"]["data"]) for curve in packed_densities)
    packed_signals = fit_curves([curve for _, curve in signals], MAX_CURVE_CHARACTERS - used)
    views = {id: {**facts, "signals": [], "densities": []} for id, facts in _facts(content).items()}
    for (id, i, _), packed in zip(densities, packed_densities, strict=True):
        kind = content.systems[i].densities[id].kind
        views[id]["densities"].append({"system": i, "kind": kind, **packed})
    for (id, _), packed in zip(signals, packed_signals, strict=True):
        views[id]["signals"].append(packed)
    return list(views.values())


def _densities(content: Content, id: str, most: int) -> Iterator[tuple[int, DrawnCurve]]:
    for i, system in enumerate(content.systems):
        density = system.densities.get(id)
        if density is not None and len(density.values):
            step = density.stride * density.period
            for j, name in enumerate(density.types):
                values = density.values[:, j].astype(np.float32)
                yield i, DrawnCurve(name, float(density.times[0]), step, values).thinned(most)


def _signals(content: Content, id: str, most: int) -> Iterator[DrawnCurve]:
    if content.recordings is not None:
        recording = content.recordings[id]
        for j, name in enumerate(recording.info.channels[:SIGNALS]):
            values = recording.values[:, j].astype(np.float32)
            yield DrawnCurve(name, 0.0, recording.info.period, values).thinned(most)


def _facts(content: Content) -> dict[str, dict[str, Any]]:
    """Properties of each recording; without recordings, its length is up to the last event."""
    matches = content.matches[0]
    if content.recordings is not None:
        infos = map(content.recordings.info, matches.recordings)
        return {
            info.id: {**recording_facts(info), "undrawn": [*info.channels[SIGNALS:]]}
            for info in infos
        }
    last = np.zeros(len(matches.recordings))
    np.maximum.at(last, _recordings_of_events(matches), matches.truth_time)
    for system_matches in content.matches:
        np.maximum.at(last, system_matches.recording, system_matches.time)
    unknown: dict[str, Any] = {"start": None, "offsets": [], "annotated": None, "units": {}}
    return {
        id: {"id": id, "seconds": float(end) * 1.02 or 3600.0, "period": 0.001, **unknown}
        for id, end in zip(matches.recordings, last, strict=True)
    }
