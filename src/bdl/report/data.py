"""What the page's script reads: detections with their hits, truths, and curves to draw."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.report.arrays import curve, pack
from bdl.report.content import Content, hit_masks, type_codes
from bdl.report.figures import Figure

BUDGET = 4_000_000  # bytes of curves in a page, so that fifty recordings stay below 8 MB
SIGNALS = 4  # channels drawn a recording


def page_data(content: Content, drawn: dict[str, Figure]) -> dict[str, Any]:
    """Everything the page's script reads, ready for JSON."""
    first = content.matches[0]
    truths = first.truths.T.ravel()
    best = first.best_f1().threshold[:, first.tolerance_index(content.middle)]
    known = best[np.isfinite(best)]
    return {
        "types": first.types,
        "tolerances": content.tolerances,
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
    """The curves of each recording, together within the budget."""
    ids = content.matches[0].recordings
    dense = max(sum(len(d.types) for s in content.systems for d in [*s.densities.values()][:1]), 1)
    points = max(500, int(BUDGET / max(len(ids), 1) / (SIGNALS + dense) / 6))
    hours = content.hours
    views = []
    for id in ids:
        signals = []
        if content.recordings is not None:
            recording = content.recordings[id]
            times: NDArray[np.float64] = (
                np.arange(recording.info.samples, dtype=np.float64) * recording.info.period
            )
            signals = [
                curve(name, times, recording.values[:, j], points)
                for j, name in enumerate(recording.info.channels[:SIGNALS])
            ]
        densities = [
            {"system": i, **curve(name, density.times, density.values[:, j], points)}
            for i, system in enumerate(content.systems)
            if (density := system.densities.get(id)) is not None
            for j, name in enumerate(density.types)
        ]
        last = max(
            (
                content.truth.time.max(initial=0.0),
                *(m.time.max(initial=0.0) for m in content.matches),
            )
        )
        views.append(
            {
                "id": id,
                "hours": hours.get(id, last / 3600),
                "signals": signals,
                "densities": densities,
            }
        )
    return views
