"""Durations with units: ``90``, ``90s``, ``10m``, ``1.5h``, ``2d``."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, PositiveFloat

SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def parse_duration(value: object) -> object:
    """Return the seconds of a text such as ``10m``; any other value is returned unchanged.

    Examples
    --------
    >>> parse_duration("10m"), parse_duration("1.5h"), parse_duration("90"), parse_duration(5)
    (600.0, 5400.0, 90.0, 5)
    >>> parse_duration("ten minutes")
    Traceback (most recent call last):
    ValueError: seconds, or a number with s, m, h or d such as 10m expected
    """
    if not isinstance(value, str):
        return value
    match = re.fullmatch(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([smhd]?)\s*", value)
    if match is None:
        raise ValueError("seconds, or a number with s, m, h or d such as 10m expected")
    return float(match[1]) * SECONDS[match[2] or "s"]


#: A positive number of seconds; texts such as ``10m`` are read as well.
Duration = Annotated[PositiveFloat, BeforeValidator(parse_duration)]
