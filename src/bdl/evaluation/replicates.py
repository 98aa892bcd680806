"""AP and best F1 with a weight for every recording: one for a score, draws for a bootstrap.

A recording drawn twice has all its detections and events twice, under another name; its matches
are the same, so it simply has weight two. The order of rank holds for every weighting, so no
replicate sorts or matches anything. See `bdl.evaluation.matches` for the formulas.

Eight replicates are computed side by side, one in each lane of the processor's vector registers.
The number of detections is only read where a hit's run of equal scores ends (a "mark"), so
detections that are not hits cost one addition each.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Floats, Ints, Longs
from bdl.compiled import compiled

if TYPE_CHECKING:
    from bdl.evaluation.matches import Matches

LANES = 8


def average_precision(matches: Matches, weights: NDArray[np.number]) -> Floats:
    """AP by (replicate, type, tolerance), NaN for a type without events in a replicate.

    ``weights`` (replicates, recordings) is how often each recording counts.

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
    number = np.full(len(matches.time), -1, np.int32)
    mark = np.full(matches.row.shape, -1, np.int32)
    owner = np.zeros(matches.row.shape, np.int32)
    hits = (matches.first_truth, matches.count)
    _plan(matches.start, matches.end, *hits, matches.row, matches.recording, number, mark, owner)
    out = np.zeros((blocks, types, width, LANES))
    _fill(
        matches.start,
        *hits,
        lanes,
        np.ascontiguousarray(truths.transpose(0, 2, 1)),
        matches.recording,
        number,
        mark,
        owner,
        best,
        np.empty((int(number.max(initial=-1)) + 1, LANES)),
        out,
    )
    ordered: Floats = out.transpose(0, 3, 1, 2).reshape(blocks * LANES, types, width)
    return ordered[:replicates]


@compiled(small_in_python=True)
def _plan(
    start: Longs,
    end: Ints,
    first_truth: Longs,
    count: Longs,
    row: Ints,
    recording: Ints,
    number: Ints,
    mark: Ints,
    owner: Ints,
) -> None:
    """Number the marks of each type (``number``, per row, else -1) and find those of the hits.

    ``mark`` (as ``row``) is -1 where a hit of the same score follows; ``owner`` (as ``row``) is the
    recording of the hit.
    """
    for j in range(count.shape[0]):
        base = first_truth[j]
        for k in range(count.shape[1]):
            for h in range(base, base + count[j, k]):
                number[end[row[k, h]] - 1] = 0
        seen = 0
        for i in range(start[j], start[j + 1]):
            if number[i] == 0:
                number[i] = seen
                seen += 1
        for k in range(count.shape[1]):
            last = base + count[j, k] - 1
            for h in range(base, last + 1):
                owner[k, h] = recording[row[k, h]]
                until = end[row[k, h]]
                if h == last or row[k, h + 1] >= until:
                    mark[k, h] = number[until - 1]


@compiled(small_in_python=True)
def _fill(
    start: Longs,
    first_truth: Longs,
    count: Longs,
    lanes: Floats,
    truths: Floats,
    recording: Ints,
    number: Ints,
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
            for i in range(start[j], start[j + 1]):
                r = recording[i]
                for lane in range(LANES):
                    total[lane] += weight[r, lane]
                m = number[i]
                if m >= 0:
                    for lane in range(LANES):
                        # Where nothing has weight yet there is no hit either: 0 / 1 is right.
                        taken[m, lane] = max(total[lane], 1.0)
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
