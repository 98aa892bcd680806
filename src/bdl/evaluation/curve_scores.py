"""Average precision and best F1 of hits that are in the order of rank.

Both change only at scores that bring a hit, so only hits are visited; detections of equal score
enter together. See `bdl.evaluation.matches` for the formulas, and `bdl.evaluation.replicates` for
the same with a weight for every recording.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.compiled import compiled

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


def curve_scores(
    start: Longs, score: Floats, first_truth: Longs, count: Longs, row: Ints
) -> tuple[Floats, Floats, Ints]:
    """AP and best F1 of each type and tolerance, and the row at which F1 is best.

    Parameters
    ----------
    start
        (types + 1,) first ranked detection of each type.
    score
        (n,) of the ranked detections.
    first_truth
        (types + 1,) first truth of each type.
    count, row
        Hits as `bdl.evaluation.assignment.assign` gives them.

    Returns
    -------
    average_precision, best_f1
        (types, tolerances), NaN for a type without truths.
    best_row
        (types, tolerances), -1 without hits. Of several rows with the same F1 the first.

    Examples
    --------
    Two truths; the first and the third of three detections hit: 1/2 * 1/1 + 1/2 * 2/3.

    >>> rows = np.array([[0, 2]], np.int32)
    >>> score = np.array([0.9, 0.8, 0.7])
    >>> curve_scores(np.array([0, 3]), score, np.array([0, 2]), np.array([[2]]), rows)[0]
    array([[0.83333333]])
    """
    average_precision, best_f1 = np.full((2, *count.shape), np.nan)
    best_row = np.full(count.shape, -1, np.int32)
    _read_hits(start, score, first_truth, count, row, average_precision, best_f1, best_row)
    return average_precision, best_f1, best_row


@compiled(small_in_python=True)
def _read_hits(
    start: Longs,
    score: Floats,
    first_truth: Longs,
    count: Longs,
    row: Ints,
    average_precision: Floats,
    best_f1: Floats,
    best_row: Ints,
) -> None:
    for j in range(count.shape[0]):
        base = first_truth[j]
        truths = first_truth[j + 1] - base
        if truths == 0:
            continue
        for k in range(count.shape[1]):
            total = 0.0
            best = 0.0
            best_at = -1
            hits = 0
            while hits < count[j, k]:
                at = row[k, base + hits]
                until = at + 1  # the end of the run of equal scores
                while until < start[j + 1] and score[until] == score[at]:
                    until += 1
                before = hits
                while hits < count[j, k] and row[k, base + hits] < until:
                    hits += 1
                detections = until - start[j]
                total += (hits - before) * (hits / detections)
                f1 = 2 * hits / (detections + truths)
                if f1 > best:
                    best = f1
                    best_at = at
            average_precision[j, k] = total / truths
            best_f1[j, k] = best
            best_row[j, k] = best_at
