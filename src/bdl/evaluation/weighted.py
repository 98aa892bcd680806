"""AP and best F1 with a weight for every recording: what a bootstrap replicate needs.

A recording drawn twice has all its detections and truths twice, under another name; its matches
are the same, so it simply weighs two. The kept order of rank holds for every weighting, hence no
replicate sorts or matches anything. Eight replicates are worked side by side, one to a lane of the
processor's vector registers. The number of detections is only read where a hit's run of equal
scores ends ("marks"), so misses cost one addition each, and hits a few.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.evaluation.compiled import compiled
from bdl.evaluation.matches import Matches

LANES = 8
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


def average_precision(matches: Matches, weights: NDArray[np.number]) -> Floats:
    """AP of each replicate: (replicates, types, tolerances).

    Parameters
    ----------
    matches : kept matches.
    weights : (replicates, recordings) how often each recording counts.

    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> truth = Events.of(["a", "b"], "beat", [10.0, 10.0])
    >>> found = Events.of(["a", "b"], "beat", [99.0, 10.0], score=[0.9, 0.5])
    >>> kept = match(truth, found, [5.0])
    >>> average_precision(kept, np.array([[1, 1], [0, 2], [2, 0]])).ravel().tolist()
    [0.25, 1.0, 0.0]
    """
    return _run(matches, weights, best=False)


def best_f1(matches: Matches, weights: NDArray[np.number]) -> Floats:
    """Best F1 of each replicate: (replicates, types, tolerances)."""
    return _run(matches, weights, best=True)


def _run(matches: Matches, weights: NDArray[np.number], *, best: bool) -> Floats:
    replicates, recordings = weights.shape
    blocks = -(-replicates // LANES)
    padded = np.zeros((blocks * LANES, recordings))
    padded[:replicates] = weights
    lanes = np.ascontiguousarray(padded.reshape(blocks, LANES, recordings).transpose(0, 2, 1))
    truths = padded @ matches.truths.astype(np.float64)
    shape = (blocks, LANES, len(matches.types))
    held = np.ascontiguousarray(truths.reshape(shape).transpose(0, 2, 1))
    counts = (matches.start, matches.first_truth, matches.count)
    marked, mark, who = _plan(*counts, matches.end, matches.row, matches.recording)
    out = _replicates(*counts, lanes, held, matches.recording, marked, mark, who, best)
    ordered: Floats = out.transpose(0, 3, 1, 2).reshape(blocks * LANES, *out.shape[1:3])
    return ordered[:replicates]


@compiled
def _plan(
    start: Longs, first_truth: Longs, count: Longs, end: Ints, row: Ints, recording: Ints
) -> tuple[NDArray[np.bool_], Ints, Ints]:
    """Rows that are marks, and for each hit its mark (-1: a tied hit follows) and recording."""
    types, width = count.shape
    marked = np.zeros(len(end), np.bool_)
    for j in range(types):
        for k in range(width):
            for h in range(first_truth[j], first_truth[j] + count[j, k]):
                marked[end[row[k, h]] - 1] = True
    number = np.empty(len(end), np.int32)
    for j in range(types):
        seen = 0
        for i in range(start[j], start[j + 1]):
            number[i] = seen
            if marked[i]:
                seen += 1
    mark = np.full(row.shape, -1, np.int32)
    who = np.zeros(row.shape, np.int32)
    for j in range(types):
        for k in range(width):
            last = first_truth[j] + count[j, k]
            for h in range(first_truth[j], last):
                who[k, h] = recording[row[k, h]]
                until = end[row[k, h]]
                if h + 1 == last or row[k, h + 1] >= until:
                    mark[k, h] = number[until - 1]
    return marked, mark, who


@compiled
def _replicates(
    start: Longs,
    first_truth: Longs,
    count: Longs,
    lanes: Floats,
    held: Floats,
    recording: Ints,
    marked: NDArray[np.bool_],
    mark: Ints,
    who: Ints,
    best: bool,
) -> Floats:
    """AP or best F1: (blocks, types, tolerances, lanes)."""
    types, width = count.shape
    out = np.zeros((len(lanes), types, width, LANES))
    taken = np.empty((marked.sum() + 1, LANES))
    total = np.empty(LANES)
    hits = np.empty(LANES)
    fresh = np.empty(LANES)
    for b in range(len(lanes)):
        weight = lanes[b]
        for j in range(types):
            total[:] = 0.0
            seen = 0
            for i in range(start[j], start[j + 1]):
                r = recording[i]
                for lane in range(LANES):
                    total[lane] += weight[r, lane]
                if marked[i]:
                    for lane in range(LANES):
                        # Where nothing has weight yet there is no hit either: 0 / 1 is right.
                        taken[seen, lane] = max(total[lane], 1.0)
                    seen += 1
            for k in range(width):
                hits[:] = 0.0
                fresh[:] = 0.0
                value = out[b, j, k]
                for h in range(first_truth[j], first_truth[j] + count[j, k]):
                    r = who[k, h]
                    for lane in range(LANES):
                        fresh[lane] += weight[r, lane]
                    m = mark[k, h]
                    if m < 0:
                        continue
                    if best:
                        for lane in range(LANES):
                            hits[lane] += fresh[lane]
                            fresh[lane] = 0.0
                            f1 = 2 * hits[lane] / (taken[m, lane] + held[b, j, lane])
                            value[lane] = max(value[lane], f1)
                    else:
                        for lane in range(LANES):
                            hits[lane] += fresh[lane]
                            value[lane] += fresh[lane] * hits[lane] / taken[m, lane]
                            fresh[lane] = 0.0
                for lane in range(LANES):
                    if held[b, j, lane] == 0:
                        value[lane] = np.nan
                    elif not best:
                        value[lane] /= held[b, j, lane]
    return out
