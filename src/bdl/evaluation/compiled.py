"""The one way in which this part compiles a function: cached on disk, without the interpreter lock.

The wrapper keeps the function's own type, so that type checking sees plain Python.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., Any])


def compiled(function: F) -> F:
    """The function compiled at its first call; later processes read it from the cache.

    >>> @compiled
    ... def double(x: float) -> float:
    ...     return 2 * x
    >>> double(1.5)
    3.0
    """
    return cast(F, numba.njit(cache=_in_a_file(function), nogil=True)(function))


def _in_a_file(function: Callable[..., Any]) -> bool:
    # A function typed at a prompt or in a doctest has no file beside which a cache could stand.
    return not function.__code__.co_filename.startswith("<")
