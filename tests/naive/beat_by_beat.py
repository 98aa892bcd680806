"""Beat-by-beat comparison in whole samples, rule by rule; after the last beat comes NEVER."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

CLASSES = {
    **dict.fromkeys("NLRB", 0),
    **dict.fromkeys("SJAajen", 1),
    **dict.fromkeys("VrE", 2),
    "F": 3,
    **dict.fromkeys("Q/f?", 4),
}
NONE = 5
NEVER = 10**15
Beat = tuple[int, str]  # sample and symbol


def without_flutter(beats: list[Beat]) -> tuple[list[Beat], list[tuple[int, int]]]:
    """Beats that are not between [ and ], and those spans."""
    kept: list[Beat] = []
    spans: list[tuple[int, int]] = []
    start: int | None = None
    for sample, symbol in beats:
        if start is None and symbol == "[":
            start = sample
        elif start is not None and symbol == "]":
            spans.append((start, sample))
            start = None
        elif start is None and symbol in CLASSES:
            kept.append((sample, symbol))
    if start is not None:
        spans.append((start, NEVER))
    return kept, spans


def counts(
    truths: list[Beat], detections: list[Beat], window: int, learning: int
) -> NDArray[np.int64]:
    """Pairs by class of the truth and of the detection, 5 for none."""
    table = np.zeros((6, 6), dtype=np.int64)
    true, flutter = without_flutter(truths)
    detected, _ = without_flutter(detections)
    late = [beat for beat in detected if beat[0] >= learning]
    early = [beat for beat in detected if beat[0] < learning]
    true = [beat for beat in true if beat[0] >= learning]

    def when(beats: list[Beat], place: int) -> int:
        return beats[place][0] if place < len(beats) else NEVER

    def count(truth: Beat | None, detection: Beat | None) -> None:
        row = NONE if truth is None else CLASSES[truth[1]]
        table[row, NONE if detection is None else CLASSES[detection[1]]] += 1

    if learning > 0:
        first = when(true, 0)
        if early and first != NEVER:
            away = first - early[-1][0]
            if away <= window and away < abs(first - when(late, 0)):
                count(true.pop(0), early[-1])
                early = []
                first = -1
        near = first != -1 and late and late[0][0] - learning <= window
        if near and abs(first - when(late, 1)) < abs(first - late[0][0]):
            late.pop(0)
    while true or late:
        big_t, t = when(true, 0), when(late, 0)
        next_big_t, next_t = when(true, 1), when(late, 1)
        if t < big_t:
            fits = big_t - t < abs(big_t - next_t) or abs(next_big_t - next_t) < abs(big_t - next_t)
            if big_t - t <= window and fits:
                count(true.pop(0), late.pop(0))
            else:
                if not any(a <= t <= b for a, b in flutter):
                    count(None, late[0])
                late.pop(0)
        else:
            fits = t - big_t < abs(t - next_big_t) or abs(next_t - next_big_t) < abs(t - next_big_t)
            if t - big_t <= window and fits:
                count(true.pop(0), late.pop(0))
            else:
                count(true.pop(0), None)
    return table
