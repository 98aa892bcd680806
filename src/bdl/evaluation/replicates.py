"""AP and best F1 with a weight for every recording: one for a score, draws for a bootstrap.

A recording drawn twice has all its detections and events twice, under another name; its matches
are the same, so it simply has weight two. The order of rank holds for every weighting, so no
replicate sorts or matches anything. See `bdl.evaluation.matches` for the formulas.

A score is the replicate in which every weight is one. The same function computes it, compiled a
second time without weights: the number of detections down to a row is then a difference of rows.
Otherwise eight replicates are computed side by side, one in each lane of the processor's vector
registers. The number of detections is only read where a hit's run of equal scores ends (a "mark"),
so detections that are not hits cost one addition each.
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
    hits = (matches.start, matches.end, matches.first_truth, matches.count, matches.row)
    if replicates == 1 and (weights == 1).all():
        truths = np.diff(matches.first_truth).astype(np.float64)
        out = np.empty((1, *matches.count.shape, 1))
        no_plan = (matches.recording[:0], matches.end[:0], matches.row[:0], matches.row[:0])
        _fill(*hits, *no_plan, None, truths[None, :, None], 1, best, out)
        return out[..., 0]
    blocks = -(-replicates // LANES)
    padded = np.zeros((blocks * LANES, recordings))
    padded[:replicates] = weights
    lanes = padded.reshape(blocks, LANES, recordings).transpose(0, 2, 1)
    truths = (padded @ matches.truths.astype(np.float64)).reshape(blocks, LANES, -1)
    number = np.empty(len(matches.time), np.int32)
    mark, owner = np.empty((2, *matches.row.shape), np.int32)
    plan = (matches.recording, number, mark, owner)
    marks = _plan(*hits, *plan)
    out = np.empty((blocks, *matches.count.shape, LANES))
    _fill(
        *hits,
        *plan,
        np.ascontiguousarray(lanes),
        np.ascontiguousarray(truths.transpose(0, 2, 1)),
        marks,
        best,
        out,
    )
    ordered: Floats = out.transpose(0, 3, 1, 2).reshape(blocks * LANES, *matches.count.shape)
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
) -> int:
    """Number the marks of each type (``number``, per row, else -1) and find those of the hits.

    ``mark`` (as ``row``) is -1 where a hit of the same score follows; ``owner`` (as ``row``) is the
    recording of the hit. Returns the largest number of marks of a type.
    """
    number[:] = -1
    most = 0
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
        most = max(most, seen)
        for k in range(count.shape[1]):
            last = base + count[j, k] - 1
            for h in range(base, last + 1):
                owner[k, h] = recording[row[k, h]]
                until = end[row[k, h]]
                ended = h == last or row[k, h + 1] >= until
                mark[k, h] = number[until - 1] if ended else -1
    return most


@compiled(small_in_python=True)
def _fill(
    start: Longs,
    end: Ints,
    first_truth: Longs,
    count: Longs,
    row: Ints,
    recording: Ints,
    number: Ints,
    mark: Ints,
    owner: Ints,
    weights: Floats | None,
    truths: Floats,
    marks: int,
    best: bool,
    out: Floats,
) -> None:
    """AP or best F1 into ``out`` (blocks, types, tolerances, lanes).

    ``weights`` is (blocks, recordings, lanes), ``truths`` (blocks, types, lanes) the weighted
    numbers of events. With None for the weights there is one lane in which every recording counts
    once, and the plan is not read: the compiler leaves out the branches that are not taken.
    """
    lanes = 1 if weights is None else LANES
    # Arrays of this function's own: the compiler knows that they share no memory.
    total, hits, fresh, value = np.empty(lanes), np.empty(lanes), np.empty(lanes), np.empty(lanes)
    taken = np.empty((marks, lanes))
    types, width = count.shape
    for b in range(len(out)):
        for j in range(types):
            if weights is not None:
                for lane in range(lanes):
                    total[lane] = 0.0
                for i in range(start[j], start[j + 1]):
                    r = recording[i]
                    for lane in range(lanes):
                        total[lane] += weights[b, r, lane]
                    m = number[i]
                    if m >= 0:
                        for lane in range(lanes):
                            # Where nothing has weight yet there is no hit either: 0 / 1 is right.
                            taken[m, lane] = max(total[lane], 1.0)
            base = first_truth[j]
            for k in range(width):
                stop = base + count[j, k]
                for lane in range(lanes):
                    hits[lane] = 0.0
                    fresh[lane] = 0.0
                    value[lane] = 0.0
                if weights is None:
                    metric, hit = 0.0, base  # scalars stay in registers
                    while hit < stop:
                        until = end[row[k, hit]]
                        first = hit
                        while hit < stop and row[k, hit] < until:
                            hit += 1
                        if best:
                            f1 = 2 * (hit - base) / (until - start[j] + truths[b, j, 0])
                            metric = max(metric, f1)
                        else:
                            metric += (hit - first) * (hit - base) / (until - start[j])
                    value[0] = metric
                else:
                    for h in range(base, stop):
                        r = owner[k, h]
                        for lane in range(lanes):
                            fresh[lane] += weights[b, r, lane]
                        m = mark[k, h]
                        if m < 0:
                            continue
                        if best:
                            for lane in range(lanes):
                                hits[lane] += fresh[lane]
                                fresh[lane] = 0.0
                                f1 = 2 * hits[lane] / (taken[m, lane] + truths[b, j, lane])
                                value[lane] = max(value[lane], f1)
                        else:
                            for lane in range(lanes):
                                hits[lane] += fresh[lane]
                                value[lane] += fresh[lane] * hits[lane] / taken[m, lane]
                                fresh[lane] = 0.0
                for lane in range(lanes):
                    if truths[b, j, lane] == 0:
                        out[b, j, k, lane] = np.nan
                    elif best:
                        out[b, j, k, lane] = value[lane]
                    else:
                        out[b, j, k, lane] = value[lane] / truths[b, j, lane]
