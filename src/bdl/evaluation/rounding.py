"""When two distances in time are equal: the rule of rounding that all matching follows.

Times of 3 * 0.1 s and 2 * 0.1 s are 0.09999999999999998 s apart as computers subtract, while 3 and
2 steps are exactly one step apart. A distance is therefore less than another only if it is so by
more than a billionth of the other *and* by more than four units in the last place of the time at
which it was measured. The same events in steps and in seconds then give the same matches, also at
exactly the tolerance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bdl.compiled import compiled

_LAST_PLACES = 4 * 2.0**-52


def is_nearer(distance: Any, other: Any, at: Any) -> Any:
    """Whether a distance is less than another beyond rounding; numbers or arrays.

    Parameters
    ----------
    distance, other
        Distances in seconds or steps, 0 or more and finite.
    at
        A time from which the distances were measured, in the same unit.

    Examples
    --------
    >>> is_nearer(0.3 - 0.2, 0.1, 0.3), 0.3 - 0.2 < 0.1
    (False, True)
    """
    return distance < other - (1e-9 * other + _LAST_PLACES * abs(at))


is_nearer_compiled = compiled(small_in_python=True)(is_nearer)


def find_tolerance(tolerances: Sequence[float], tolerance: float) -> int | None:
    """Place of a tolerance among others, to nine digits; None if it is not there."""
    close = (k for k, known in enumerate(tolerances) if abs(known - tolerance) <= 1e-9 * known)
    return next(close, None)
