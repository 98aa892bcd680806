"""Groups of recordings as codes."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError


def group_codes(
    recordings: tuple[str, ...], groups: Mapping[str, str] | None, what: str = "group"
) -> NDArray[np.int64]:
    """Number of each recording's group, groups sorted by name.

    Examples
    --------
    >>> group_codes(("a", "b", "c"), {"a": "x", "b": "y", "c": "x"})
    array([0, 1, 0])
    """
    if groups is None:
        return np.arange(len(recordings))
    lacking = [name for name in recordings if name not in groups]
    if lacking:
        raise InputError(f"{len(lacking)} recordings have no {what}, such as {lacking[0]!r}")
    return np.unique([groups[name] for name in recordings], return_inverse=True)[1]
