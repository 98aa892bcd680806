"""Greedy one-to-one matching of ranked detections to truths, for all tolerances in one sweep.

A detection takes the nearest truth of its recording and type that is still free and strictly
nearer than the tolerance; of two equally near truths the earlier one. A hit at a small tolerance
need not be a hit at a larger one (there the truth may have gone to a higher-ranked detection), so
each tolerance keeps its own matching.

Free truths are found by two union-find forests per tolerance, one that leads to the next free
truth on the left and one to the right, so dense truths cost no more than sparse ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.evaluation.compiled import compiled

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


@compiled
def arrange(group: Longs, time: Floats, groups: int) -> tuple[Longs, Floats]:
    """Truths by group, in order of time: first truth of each group (groups + 1,), and the times.

    >>> arrange(np.array([1, 0, 1]), np.array([5.0, 9.0, 3.0]), 2)
    (array([0, 1, 3]), array([9., 3., 5.]))
    """
    start = np.zeros(groups + 1, np.int64)
    for i in range(len(group)):
        start[group[i] + 1] += 1
    for g in range(groups):
        start[g + 1] += start[g]
    place = start[:-1].copy()
    times = np.empty(len(time))
    for i in range(len(group)):
        times[place[group[i]]] = time[i]
        place[group[i]] += 1
    for g in range(groups):
        times[start[g] : start[g + 1]].sort()
    return start, times


@compiled
def forests(truths: int, tolerances: int) -> tuple[Ints, Ints]:
    """Both forests with every truth free: node i + 1 on the left, i on the right, is truth i."""
    left = np.empty((truths + 1, tolerances), np.int32)
    right = np.empty((truths + 1, tolerances), np.int32)
    for i in range(truths + 1):
        left[i] = i
        right[i] = i
    return left, right


@compiled
def _free_left(parent: Ints, node: int, k: int, stop: int) -> int:
    """Nearest free node at or before ``node``, or one at or before ``stop`` if there is none."""
    while node > stop and parent[node, k] != node:
        parent[node, k] = parent[parent[node, k], k]
        node = parent[node, k]
    return node


@compiled
def _free_right(parent: Ints, node: int, k: int, stop: int) -> int:
    """Nearest free node at or after ``node``, or one at or after ``stop`` if there is none."""
    while node < stop and parent[node, k] != node:
        parent[node, k] = parent[parent[node, k], k]
        node = parent[node, k]
    return node


@compiled
def sweep(
    start: Longs,
    recording: Ints,
    time: Floats,
    recordings: int,
    truth_start: Longs,
    truth_time: Floats,
    tolerances: Floats,
) -> tuple[Longs, Ints, Ints]:
    """Match ranked detections.

    Parameters
    ----------
    start : (types + 1,) first detection of each type.
    recording, time : (n,) of the detections, in the order of `bdl.evaluation.ranking.rank`.
    recordings : number of recordings.
    truth_start : (types * recordings + 1,) first truth of each type and recording.
    truth_time : (truths,) increasing within each type and recording.
    tolerances : (k,) seconds.

    Returns
    -------
    count : (types, k) number of hits.
    row, truth : (k, truths) detection and truth of each hit by rank; those of type j begin at
        the first truth of type j, and only ``count[j, k]`` of them hold something.
    """
    types = len(start) - 1
    width = len(tolerances)
    widest = tolerances.max()
    left, right = forests(len(truth_time), width)
    count = np.zeros((types, width), np.int64)
    row = np.zeros((width, len(truth_time)), np.int32)
    truth = np.zeros((width, len(truth_time)), np.int32)
    for j in range(types):
        base = truth_start[j * recordings]
        for i in range(start[j], start[j + 1]):
            group = j * recordings + recording[i]
            first, last = truth_start[group], truth_start[group + 1]
            if first == last:
                continue
            at = time[i]
            low, high = first, last  # the first truth at or after the detection
            while low < high:
                middle = (low + high) // 2
                if truth_time[middle] < at:
                    low = middle + 1
                else:
                    high = middle
            nearest = np.inf
            closest = low
            if low > first:
                nearest = at - truth_time[low - 1]
                closest = low - 1
            if low < last and truth_time[low] - at < nearest:
                nearest = truth_time[low] - at
                closest = low
            if nearest >= widest:
                continue
            for k in range(width):
                if nearest >= tolerances[k]:
                    continue
                chosen = -1
                if right[closest, k] == closest:  # the nearest of all is free, as it mostly is
                    chosen = closest
                else:
                    before = _free_left(left, low, k, first) - 1
                    after = _free_right(right, low, k, last)
                    near = tolerances[k]
                    if before >= first and at - truth_time[before] < near:
                        near = at - truth_time[before]
                        chosen = before
                    if after < last and truth_time[after] - at < near:
                        chosen = after
                if chosen >= 0:
                    left[chosen + 1, k] = chosen
                    right[chosen, k] = chosen + 1
                    hit = base + count[j, k]
                    row[k, hit] = i
                    truth[k, hit] = chosen
                    count[j, k] += 1
    return count, row, truth
