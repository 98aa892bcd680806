"""Annotation by the published rules, with the scatter of human annotators.

Only the longest sleep of a night counts: periods with less than 30 minutes between them are
joined, and it must last at least 30 minutes. A night without the device, or cut by an end of the
recording, has no label; a few others are left unlabelled as unclear. Times are whole minutes.
Three labels in four are within a minute of the visible change of movement: the paper's detector
detects half of the real ones within a minute, which requires labels of this accuracy. Most others
deviate by minutes, some by much more, and an annotator is slightly early or late on average.
"""

from __future__ import annotations

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from bdl.datasets.sleep.day_course import HOUR, DayCourse
from bdl.datasets.sleep.wall_clock import PERIOD

MINUTE = 60 // PERIOD
HALF_HOUR = 30 * MINUTE


def longest(periods: NDArray[np.int64]) -> tuple[int, int] | None:
    """First and stop sample of the sleep that counts; None if all are too short."""
    joined = [list(periods[0])]
    for first, stop in periods[1:]:
        if first - joined[-1][1] < HALF_HOUR:
            joined[-1][1] = stop
        else:
            joined.append([first, stop])
    first, stop = max(joined, key=lambda period: period[1] - period[0])
    return (int(first), int(stop)) if stop - first >= HALF_HOUR else None


def draw(rng: Generator, course: DayCourse) -> list[tuple[int | None, int | None]]:
    """Draw the steps of onset and wakeup of each night, None where there is no label."""
    bias = rng.normal(0, 0.2, size=2)
    labels: list[tuple[int | None, int | None]] = []
    for periods in course.nights:
        scatter = bias + _scatter(rng)
        unclear, one_sided = rng.random() < 0.03, rng.random() < 0.001
        sleep = longest(periods)
        if periods[-1, 1] <= HALF_HOUR or periods[0, 0] >= len(course.state):
            continue  # a night outside the recording is not in the table
        if sleep is None or unclear or not _worn(sleep, course):
            labels.append((None, None))
            continue
        onset, wake = (
            round(end / MINUTE + shift) * MINUTE for end, shift in zip(sleep, scatter, strict=True)
        )
        if onset < 0 or wake >= len(course.state) or wake - onset < HALF_HOUR:
            labels.append((None, None))
        else:
            labels.append((onset, None if one_sided else wake))
    return labels


def _scatter(rng: Generator) -> NDArray[np.float64]:
    """Minutes by which the labels of the two endpoints of a night deviate from the actual times."""
    scale = rng.choice([0.3, 2.0, 10.0], p=[0.75, 0.19, 0.06], size=2)
    minutes: NDArray[np.float64] = rng.laplace(0, 1, size=2) * scale
    return minutes


def _worn(sleep: tuple[int, int], course: DayCourse) -> bool:
    """Whether the device was worn at both ends and for all but half an hour of the night."""
    first, stop = sleep
    if first < HALF_HOUR // 3 or stop > len(course.state) - HALF_HOUR // 3:
        return False
    lost = 0
    for off in course.offs:
        if any(off.first - HOUR // 2 < end < off.stop + HOUR // 2 for end in sleep):
            return False
        lost += max(0, min(off.stop, stop) - max(off.first, first))
    return lost < HALF_HOUR
