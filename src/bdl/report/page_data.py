"""What the page's script reads: detections with their hits, truths, and curves to draw."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from bdl.report.arrays import DrawnCurve, fit_curves, pack
from bdl.report.content import Content, found_by, hit_masks, type_codes
from bdl.report.page_figures import PlotlyFigure

ROOM = 4_400_000  # characters of curves in a page, so that fifty recordings stay below 8 MB
SIGNALS = 4  # channels drawn a recording
POINTS = 8 * ROOM  # of all curves together, before they are fitted: what memory is given to them


def page_data(content: Content, drawn: dict[str, PlotlyFigure]) -> dict[str, Any]:
    """Everything the page's script reads, ready for JSON."""
    first = content.matches[0]
    truths = first.truths.T.ravel()
    best = first.best_f1().threshold[:, first.tolerance_index(content.middle)]
    known = best[np.isfinite(best)]
    return {
        "types": first.types,
        "tolerances": content.tolerances,
        "tolerance": first.tolerance_index(content.middle),
        "days": content.days,
        "cutoff": float(known.min()) if len(known) else 0.0,
        "figures": drawn,
        "truth": {
            "recording": pack(
                np.repeat(np.tile(np.arange(len(first.recordings)), len(first.types)), truths), "u2"
            ),
            "type": pack(np.repeat(np.arange(len(first.types)), first.truths.sum(axis=0)), "u1"),
            "time": pack(first.truth_time, "f8"),
        },
        "systems": [
            {
                "name": system.name,
                "detections": {
                    "score": pack(matches.score, "f8"),
                    "hits": pack(hit_masks(matches), "u4"),
                    "found": pack(found_by(matches), "u4"),
                    "type": pack(type_codes(matches), "u1"),
                    "recording": pack(matches.recording, "u2"),
                    "time": pack(matches.time, "f8"),
                },
            }
            for system, matches in zip(content.systems, content.matches, strict=True)
        ],
        "recordings": _views(content),
    }


def _views(content: Content) -> list[dict[str, Any]]:
    """The curves of each recording: densities in at most half of the room, signals in the rest."""
    ids = content.matches[0].recordings
    most = POINTS // (SIGNALS + 2 * len(content.systems)) // len(ids)
    densities = [(id, i, curve) for id in ids for i, curve in _densities(content, id, most)]
    signals = [(id, curve) for id in ids for curve in _signals(content, id, most)]
    packed_densities = fit_curves([curve for *_, curve in densities], ROOM // 2)
    used = sum(len(curve["y"]["data"]) for curve in packed_densities)
    packed_signals = fit_curves([curve for _, curve in signals], ROOM - used)
    views: dict[str, dict[str, Any]] = {
        id: {"id": id, "hours": hours, "signals": [], "densities": []}
        for id, hours in _hours(content).items()
    }
    for (id, i, _), packed in zip(densities, packed_densities, strict=True):
        views[id]["densities"].append({"system": i, **packed})
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


def _hours(content: Content) -> dict[str, float]:
    """How long each recording is; without recordings, to the last of its events."""
    known = content.hours
    matches = content.matches[0]
    last = np.zeros(len(matches.recordings))
    place = np.repeat(
        np.tile(np.arange(len(last)), len(matches.types)), np.diff(matches.truth_start)
    )
    np.maximum.at(last, place, matches.truth_time)
    for found in content.matches:
        np.maximum.at(last, found.recording, found.time)
    return {
        id: known.get(id, float(end) * 1.02 / 3600 or 1.0)
        for id, end in zip(matches.recordings, last, strict=True)
    }
