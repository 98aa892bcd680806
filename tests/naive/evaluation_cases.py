"""Random tables, small and hard: tied scores, repeated times, crowded truths, empty recordings."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bdl.events import Events
from naive.evaluation import Detection, Truth

TYPES = ("off", "on")


@dataclass(frozen=True)
class Case:
    """One random scoring problem."""

    truths: list[Truth]
    detections: list[Detection]
    tolerances: list[float]
    recordings: list[str]
    event_free: str


def draw(
    rng: np.random.Generator, *, recordings: int = 3, rows: int = 10, step: float | None = None
) -> Case:
    """A case with at least one truth, on a coarse grid of steps so that everything collides."""
    names = [f"r{i}" for i in range(int(rng.integers(1, recordings + 1)))]
    span = int(rng.integers(3, 25))
    drawn = float(rng.choice([1.0, 0.5, 5.0, 0.1]))
    step = drawn if step is None else step
    levels = int(rng.integers(1, 8))
    n_truths, n_detections = int(rng.integers(1, rows)), int(rng.integers(0, rows + 4))
    truths = [
        (names[int(r)], TYPES[int(e)], float(t) * step)
        for r, e, t in zip(
            rng.integers(0, len(names), n_truths),
            rng.integers(0, 2, n_truths),
            rng.integers(0, span, n_truths),
            strict=True,
        )
    ]
    known = {e for _, e, _ in truths}
    detections = [
        (names[int(r)], TYPES[int(e)], float(t) * step, float(s))
        for r, e, t, s in zip(
            rng.integers(0, len(names), n_detections),
            rng.integers(0, 2, n_detections),
            rng.integers(-2, span + 2, n_detections),
            rng.integers(-1, levels, n_detections) / 4,
            strict=True,
        )
        if TYPES[int(e)] in known
    ]
    count = int(rng.integers(1, 4))
    tolerances = [float(t) * step for t in rng.choice(np.arange(1, 9), count, replace=False)]
    return Case(truths, detections, tolerances, names, str(rng.choice(["ignore", "count"])))


def table(rows: list[Truth] | list[Detection], *, scored: bool) -> Events:
    """Rows as events, built without a data frame so that thousands of cases stay cheap."""
    recordings = tuple(sorted({row[0] for row in rows}))
    types = tuple(sorted({row[1] for row in rows}))
    return Events(
        recordings,
        types,
        np.array([recordings.index(row[0]) for row in rows], dtype=np.int32),
        np.array([types.index(row[1]) for row in rows], dtype=np.int32),
        np.array([row[2] for row in rows], dtype=np.float64),
        np.array([row[3] for row in rows], dtype=np.float64) if scored else None,  # type: ignore[misc]
    )
