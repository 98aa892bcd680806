r"""Average precision and F1, read off kept hits.

Precision and recall are read only at distinct scores: detections of equal score enter together.
With :math:`P_n` and :math:`R_n` after the n-th distinct score,

.. math:: \mathrm{AP} = \sum_n (R_n - R_{n-1}) P_n, \qquad
          F_1 = \max_n \frac{2\,\mathrm{hits}_n}{\mathrm{detections}_n + \mathrm{truths}}.

Both move only at scores that bring a hit, so only hits are visited. A type without truths has no
recall and therefore NaN for both.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.evaluation.compiled import compiled

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


@compiled
def average_precision(
    start: Longs, end: Ints, first_truth: Longs, count: Longs, row: Ints
) -> Floats:
    """AP of each type and tolerance: (types, tolerances).

    Parameters
    ----------
    start : (types + 1,) first ranked detection of each type.
    end : (n,) where each detection's run of equal scores ends.
    first_truth : (types + 1,) first truth of each type.
    count, row : hits as `bdl.evaluation.greedy.sweep` gives them.

    Two truths; the first and the third of three detections hit: 1/2 * 1/1 + 1/2 * 2/3.

    >>> rows = np.array([[0, 2]], np.int32)
    >>> ends = np.array([1, 2, 3], np.int32)
    >>> average_precision(np.array([0, 3]), ends, np.array([0, 2]), np.array([[2]]), rows)
    array([[0.83333333]])
    """
    types, width = count.shape
    out = np.empty((types, width))
    for j in range(types):
        truths = first_truth[j + 1] - first_truth[j]
        for k in range(width):
            total = 0.0
            base = first_truth[j]
            hit = 0
            while hit < count[j, k]:
                until = end[row[k, base + hit]]
                fresh = hit
                while hit < count[j, k] and row[k, base + hit] < until:
                    hit += 1
                total += (hit - fresh) * (hit / (until - start[j]))
            out[j, k] = total / truths if truths else np.nan
    return out


@compiled
def average_precision_above(
    start: Longs, end: Ints, first_truth: Longs, count: Longs, row: Ints, cut: Longs
) -> Floats:
    """AP of the detections ranked before each cut: (cuts, types, tolerances).

    ``cut`` (cuts, types) holds the first row left out, and never parts equal scores. Taking the
    best-scored detections only leaves their matches as they are, so nothing is matched again.
    """
    types, width = count.shape
    out = np.empty((len(cut), types, width))
    for j in range(types):
        truths = first_truth[j + 1] - first_truth[j]
        reached = np.empty(truths + 1)
        for k in range(width):
            base = first_truth[j]
            reached[0] = 0.0
            hit = 0
            while hit < count[j, k]:
                until = end[row[k, base + hit]]
                fresh = hit
                while hit < count[j, k] and row[k, base + hit] < until:
                    hit += 1
                total = reached[fresh] + (hit - fresh) * (hit / (until - start[j]))
                reached[fresh + 1 : hit + 1] = total
            for c in range(len(cut)):
                kept = np.searchsorted(row[k, base : base + count[j, k]], cut[c, j])
                out[c, j, k] = reached[kept] / truths if truths else np.nan
    return out


@compiled
def best_f1(
    start: Longs, end: Ints, first_truth: Longs, count: Longs, row: Ints
) -> tuple[Floats, Ints]:
    """Best F1 of each type and tolerance, and the row at which it is reached (-1: none).

    Of several scores with the same F1 the highest is given.
    """
    types, width = count.shape
    out = np.empty((types, width))
    where = np.full((types, width), -1, np.int32)
    for j in range(types):
        truths = first_truth[j + 1] - first_truth[j]
        for k in range(width):
            base = first_truth[j]
            best = 0.0 if truths else np.nan
            hit = 0
            while hit < count[j, k]:
                at = row[k, base + hit]
                until = end[at]
                while hit < count[j, k] and row[k, base + hit] < until:
                    hit += 1
                f1 = 2 * hit / (until - start[j] + truths)
                if f1 > best:
                    best = f1
                    where[j, k] = at
            out[j, k] = best
    return out, where
