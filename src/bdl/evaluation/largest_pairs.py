"""The largest one-to-one pairing of two sequences of times."""

from __future__ import annotations

import numpy as np

from bdl.arrays import Floats, Longs
from bdl.compiled import compiled
from bdl.evaluation.rounding import is_nearer_compiled


def largest_pairs(
    first: Floats, second: Floats, distance: float, *, inclusive: bool
) -> tuple[Longs, Longs]:
    """As many pairs of two increasing sequences as possible, each time in one pair at most.

    Parameters
    ----------
    first, second
        Times in increasing order.
    distance
        Times of a pair are nearer than this, up to rounding (`bdl.evaluation.rounding`).
    inclusive
        Whether they may also be exactly so far apart.

    Returns
    -------
    tuple
        Places of the paired times in ``first`` and in ``second``.

    Examples
    --------
    >>> first, second = np.array([1.0, 2.0]), np.array([2.0, 3.0])
    >>> [places.tolist() for places in largest_pairs(first, second, 1.0, inclusive=True)]
    [[0, 1], [0, 1]]
    >>> [places.tolist() for places in largest_pairs(first, second, 1.0, inclusive=False)]
    [[1], [0]]
    """
    most = min(len(first), len(second))
    left, right = np.empty(most, np.int64), np.empty(most, np.int64)
    count = _pair(np.asarray(first), np.asarray(second), float(distance), inclusive, left, right)
    return left[:count], right[:count]


@compiled(small_in_python=True)
def _pair(
    first: Floats, second: Floats, distance: float, inclusive: bool, left: Longs, right: Longs
) -> int:
    """Pair the earliest of both sides if they are near, otherwise leave the earlier one out.

    An exchange argument shows that no pairing has more pairs.
    """
    i = j = count = 0
    while i < len(first) and j < len(second):
        difference = second[j] - first[i]
        apart, at = abs(difference), max(abs(first[i]), abs(second[j]))
        near = is_nearer_compiled(apart, distance, at)
        if inclusive:
            near = not is_nearer_compiled(distance, apart, at)
        if near:
            left[count], right[count] = i, j
            count, i, j = count + 1, i + 1, j + 1
        elif difference > 0:
            i += 1
        else:
            j += 1
    return count
