"""Annotation after the published rules, with the scatter of people who read plots.

Of a night only the longest sleep counts: stretches with less than 30 minutes between them are one,
and it must last at least 30 minutes. A night without the device, or cut by an end of the
recording, has no label; a few others are left unlabelled as unclear. Times stand on whole minutes.
Three labels in four stand within a minute of the change of movement that can be seen: the paper's
detector finds half of the real ones that closely, which it could not if they scattered more. Most
others are minutes off, some by much more; and an annotator has a slight habit, early or late.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bdl.datasets.sleep.day_course import HOUR, DayCourse
from bdl.datasets.sleep.wall_clock import PERIOD

MINUTE = 60 // PERIOD
HALF_HOUR = 30 * MINUTE


def longest(pieces: NDArray[np.int64]) -> tuple[int, int] | None:
    """First and stop sample of the sleep that counts, or None if all are too short.

    >>> longest(np.array([[0, 400], [700, 900], [2000, 2500]]))
    (0, 900)
    >>> longest(np.array([[0, 300]])) is None
    True
    """
    merged = [list(pieces[0])]
    for first, stop in pieces[1:]:
        if first - merged[-1][1] < HALF_HOUR:
            merged[-1][1] = stop
        else:
            merged.append([first, stop])
    first, stop = max(merged, key=lambda piece: piece[1] - piece[0])
    return (int(first), int(stop)) if stop - first >= HALF_HOUR else None


def draw(rng: Generator, days: DayCourse) -> list[tuple[int | None, int | None]]:
    """Steps of onset and wakeup of each night, None where there is no label."""
    habit = rng.normal(0, 0.2, size=2)
    found: list[tuple[int | None, int | None]] = []
    for pieces in days.nights:
        scatter = habit + _scatter(rng)
        unclear, one_sided = rng.random() < 0.03, rng.random() < 0.001
        sleep = longest(pieces)
        if pieces[-1, 1] <= HALF_HOUR or pieces[0, 0] >= len(days.state):
            continue  # a night outside the recording is not in the table
        if sleep is None or unclear or not _worn(sleep, days):
            found.append((None, None))
            continue
        onset, wake = (
            round((at / MINUTE) + shift) * MINUTE for at, shift in zip(sleep, scatter, strict=True)
        )
        if onset < 0 or wake >= len(days.state) or wake - onset < HALF_HOUR:
            found.append((None, None))
        else:
            found.append((onset, None if one_sided else wake))
    return found


def _scatter(rng: Generator) -> NDArray[np.float64]:
    """Minutes by which the two endpoints of a night are placed beside the truth."""
    scale = rng.choice([0.3, 2.0, 10.0], p=[0.75, 0.19, 0.06], size=2)
    minutes: NDArray[np.float64] = rng.laplace(0, 1, size=2) * scale
    return minutes


def _worn(sleep: tuple[int, int], days: DayCourse) -> bool:
    """The device was on around both ends, and on for all but half an hour of the night."""
    first, stop = sleep
    if first < HALF_HOUR // 3 or stop > len(days.state) - HALF_HOUR // 3:
        return False
    lost = 0
    for off in days.offs:
        if any(off.first - HOUR // 2 < end < off.stop + HOUR // 2 for end in sleep):
            return False
        lost += max(0, min(off.stop, stop) - max(off.first, first))
    return lost < HALF_HOUR
