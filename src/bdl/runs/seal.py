"""Seals: a JSON file of a run directory contains the hash of the rest of its content.

Every change of the file is detected when it is read: a changed digit is an error.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from bdl.errors import StudyError
from bdl.runs.digest import digest

SEAL = "sha256"


def sealed(content: Mapping[str, Any]) -> bytes:
    """Plain data as readable JSON with its seal.

    Examples
    --------
    >>> unsealed(sealed({"two": 2}))
    {'two': 2}
    """
    with_seal = {**content, SEAL: digest(dict(content))}
    return json.dumps(with_seal, sort_keys=True, indent=1, allow_nan=False).encode() + b"\n"


def unsealed(content: bytes) -> dict[str, Any]:
    """The plain data of a sealed file.

    Raises
    ------
    ValueError
        If the file was changed; the message names the problem.

    Examples
    --------
    >>> unsealed(sealed({"two": 2}).replace(b'"two": 2', b'"two": 3'))
    Traceback (most recent call last):
    ValueError: its content is not what its hash says
    """
    try:
        data = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ValueError("it is not JSON; was it cut off?") from error
    if not isinstance(data, dict) or SEAL not in data:
        raise ValueError(f"it has no hash ({SEAL})")
    del data[SEAL]
    try:
        same = sealed(data) == content  # every byte: two texts may be the same number
    except (StudyError, ValueError, RecursionError):
        same = False
    if not same:
        raise ValueError("its content is not what its hash says")
    return data
