"""Greedy one-to-one assignment of ranked detections to events, for all tolerances in one pass.

A detection takes the nearest event of its recording and type that is still free and strictly
nearer than the tolerance; of two equally near events, one before and one after it, the earlier.
Distances are compared up to rounding (`bdl.evaluation.rounding`), so that times in steps and the
same times in seconds give one answer, also at exactly the tolerance. A hit at a small tolerance
need not be a hit at a larger one (there the event may have gone to a higher-ranked detection), so
each tolerance keeps its own assignment.

Free events are found by two union-find forests per tolerance, one that leads to the next free
event on the left and one to the right, so dense events cost no more than sparse ones.
"""

from __future__ import annotations

import numpy as np

from bdl.arrays import Floats, Ints, Longs
from bdl.compiled import compiled
from bdl.evaluation.rounding import is_nearer_compiled


def assign(
    start: Longs,
    recording: Ints,
    time: Floats,
    recordings: int,
    truth_start: Longs,
    truth_time: Floats,
    tolerances: Floats,
) -> tuple[Longs, Ints, Ints]:
    """Assign ranked detections to events.

    ``start`` (types + 1,) first detection of each type; ``recording``, ``time`` (n,) of the
    detections, in the order of `bdl.evaluation.ranking.rank`; ``truth_start`` (types * recordings +
    1,) first event of each type and recording; ``truth_time`` (events,) increasing within each type
    and recording; ``tolerances`` (k,) seconds. Returns ``count`` (types, k) number of hits;
    ``row``, ``truth`` (k, events) detection and event of each hit by rank; those of type j begin at
    the first event of type j, and only ``count[j, k]`` of them are used.
    """
    size, width = len(truth_time), len(tolerances)
    count = np.zeros((len(start) - 1, width), np.int64)
    row = np.zeros((width, size), np.int32)
    truth = np.zeros((width, size), np.int32)
    if len(time):
        within = np.asarray(tolerances, dtype=np.float64)
        arrays = (start, recording, time, truth_start, truth_time, within)
        widest = float(within.max())
        _assign(*arrays, recordings, widest, count, row, truth)
    return count, row, truth


@compiled(small_in_python=True)
def _assign(
    start: Longs,
    recording: Ints,
    time: Floats,
    truth_start: Longs,
    truth_time: Floats,
    tolerances: Floats,
    recordings: int,
    widest: float,
    count: Longs,
    row: Ints,
    truth: Ints,
) -> None:
    """Fill ``count``, ``row`` and ``truth``."""
    size, width = len(truth_time), len(tolerances)
    # The forests: node i + 1 on the left and node i on the right is event i; a node that is its own
    # parent is free. As arrays of this function's own they share no memory with the others.
    left = np.empty((size + 1, width), np.int32)
    right = np.empty((size + 1, width), np.int32)
    for i in range(size + 1):
        left[i] = i
        right[i] = i
    for j in range(len(start) - 1):
        taken = np.zeros(width, np.int64)
        base = truth_start[j * recordings]
        for i in range(start[j], start[j + 1]):
            group = j * recordings + recording[i]
            first, last = truth_start[group], truth_start[group + 1]
            if first == last:
                continue
            at = time[i]
            low, high = first, last  # the first event at or after the detection
            while low < high:
                middle = (low + high) // 2
                if truth_time[middle] < at:
                    low = middle + 1
                else:
                    high = middle
            earlier = at - truth_time[low - 1] if low > first else np.inf
            later = truth_time[low] - at if low < last else np.inf
            least = min(earlier, later)
            if not is_nearer_compiled(least, widest, at):
                continue
            closest, nearest = low - 1, earlier
            if low == first or (low < last and is_nearer_compiled(later, earlier, at)):
                closest, nearest = low, later
            for k in range(len(tolerances)):
                if not is_nearer_compiled(least, tolerances[k], at):
                    continue
                chosen = -1
                # The nearest of all is free, as it mostly is.
                if right[closest, k] == closest and is_nearer_compiled(nearest, tolerances[k], at):
                    chosen = closest
                else:
                    node = low
                    while node > first and left[node, k] != node:
                        left[node, k] = left[left[node, k], k]
                        node = left[node, k]
                    before = node - 1
                    after = low
                    while after < last and right[after, k] != after:
                        right[after, k] = right[right[after, k], k]
                        after = right[after, k]
                    near = tolerances[k]
                    if before >= first and is_nearer_compiled(at - truth_time[before], near, at):
                        near = at - truth_time[before]
                        chosen = before
                    if after < last and is_nearer_compiled(truth_time[after] - at, near, at):
                        chosen = after
                if chosen >= 0:
                    left[chosen + 1, k] = chosen
                    right[chosen, k] = chosen + 1
                    hit = base + taken[k]
                    row[k, hit] = i
                    truth[k, hit] = chosen
                    taken[k] += 1
        count[j] = taken
