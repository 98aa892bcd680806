"""AP and best F1 with a weight for every recording: what a bootstrap replicate needs.

A recording drawn twice has all its detections and truths twice, under another name; its matches
are the same, so it simply has weight two. The order of rank holds for every weighting, hence no
replicate sorts or matches anything. With weights of one the values are those of `Matches`. Eight
replicates are computed side by side, one in each lane of the processor's vector registers. The
number of detections is only read where a hit's run of equal scores ends (a "mark"), so detections
that are no hits cost one addition each.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.compiled import compiled
from bdl.evaluation.matches import Matches

LANES = 8
Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


def average_precision(matches: Matches, weights: NDArray[np.number]) -> Floats:
    """AP of each replicate.

    Parameters
    ----------
    matches
        Matches of one set of detections.
    weights
        (replicates, recordings) how often each recording counts.

    Returns
    -------
    ndarray
        (replicates, types, tolerances), NaN for a type without truths in a replicate.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> truth = Events.of(["a", "b"], "beat", [10.0, 10.0])
    >>> detections = Events.of(["a", "b"], "beat", [99.0, 10.0], score=[0.9, 0.5])
    >>> matches = match(truth, detections, [5.0])
    >>> average_precision(matches, np.array([[1, 1], [0, 2], [2, 0]])).ravel().tolist()
    [0.25, 1.0, 0.0]
    """
    return _replicates(matches, weights, best=False)


def best_f1(matches: Matches, weights: NDArray[np.number]) -> Floats:
    """Best F1 of each replicate, (replicates, types, tolerances); see `average_precision`."""
    return _replicates(matches, weights, best=True)


def _replicates(matches: Matches, weights: NDArray[np.number], *, best: bool) -> Floats:
    replicates, recordings = weights.shape
    types, width = matches.count.shape
    blocks = -(-replicates // LANES)
    padded = np.zeros((blocks * LANES, recordings))
    padded[:replicates] = weights
    lanes = np.ascontiguousarray(padded.reshape(blocks, LANES, recordings).transpose(0, 2, 1))
    truths = (padded @ matches.truths.astype(np.float64)).reshape(blocks, LANES, types)
    marked, mark, owner = _plan(matches)
    out = np.zeros((blocks, types, width, LANES))
    _fill(
        matches.start,
        matches.first_truth,
        matches.count,
        lanes,
        np.ascontiguousarray(truths.transpose(0, 2, 1)),
        matches.recording,
        marked,
        mark,
        owner,
        best,
        np.empty((int(marked.sum()) + 1, LANES)),
        out,
    )
    ordered: Floats = out.transpose(0, 3, 1, 2).reshape(blocks * LANES, types, width)
    return ordered[:replicates]


def _plan(matches: Matches) -> tuple[NDArray[np.bool_], Ints, Ints]:
    """Rows that are marks, and for each hit its mark (-1: a tied hit follows) and recording."""
    marked = np.zeros(len(matches.end), np.bool_)
    mark = np.full(matches.row.shape, -1, np.int32)
    owner = np.zeros(matches.row.shape, np.int32)
    hits = [
        (j, k, slice(matches.first_truth[j], matches.first_truth[j] + matches.count[j, k]))
        for j, k in np.ndindex(matches.count.shape)
    ]
    for _, k, place in hits:
        marked[matches.end[matches.row[k, place]] - 1] = True
    before = np.append(0, np.cumsum(marked))
    for j, k, place in hits:
        rows = matches.row[k, place]
        ends = matches.end[rows]
        last = np.append(rows[1:] >= ends[:-1], True)[: len(rows)]
        # Marks are numbered within each type.
        mark[k, place] = np.where(last, before[ends - 1] - before[matches.start[j]], -1)
        owner[k, place] = matches.recording[rows]
    return marked, mark, owner


@compiled(small_in_python=True)
def _fill(
    start: Longs,
    first_truth: Longs,
    count: Longs,
    lanes: Floats,
    truths: Floats,
    recording: Ints,
    marked: NDArray[np.bool_],
    mark: Ints,
    owner: Ints,
    best: bool,
    taken: Floats,
    out: Floats,
) -> None:
    """AP or best F1 into ``out`` (blocks, types, tolerances, lanes); ``taken`` is overwritten.

    ``lanes`` (blocks, recordings, lanes) are the weights, ``truths`` (blocks, types, lanes) their
    weighted numbers.
    """
    # Arrays of this function's own: the compiler knows that they share no memory.
    total, hits, fresh = np.empty(LANES), np.empty(LANES), np.empty(LANES)
    types, width = count.shape
    for b in range(len(lanes)):
        weight = lanes[b]
        for j in range(types):
            for lane in range(LANES):
                total[lane] = 0.0
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
                for lane in range(LANES):
                    hits[lane] = 0.0
                    fresh[lane] = 0.0
                value = out[b, j, k]
                for h in range(first_truth[j], first_truth[j] + count[j, k]):
                    r = owner[k, h]
                    for lane in range(LANES):
                        fresh[lane] += weight[r, lane]
                    m = mark[k, h]
                    if m < 0:
                        continue
                    if best:
                        for lane in range(LANES):
                            hits[lane] += fresh[lane]
                            fresh[lane] = 0.0
                            f1 = 2 * hits[lane] / (taken[m, lane] + truths[b, j, lane])
                            value[lane] = max(value[lane], f1)
                    else:
                        for lane in range(LANES):
                            hits[lane] += fresh[lane]
                            value[lane] += fresh[lane] * hits[lane] / taken[m, lane]
                            fresh[lane] = 0.0
                for lane in range(LANES):
                    if truths[b, j, lane] == 0:
                        value[lane] = np.nan
                    elif not best:
                        value[lane] /= truths[b, j, lane]
