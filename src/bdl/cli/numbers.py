"""Numbers on the command line: the limits of an option, and errors that name them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from pydantic.fields import FieldInfo
from typer import BadParameter


@dataclass(frozen=True)
class Number:
    """A finite number within limits; None is no limit.

    Examples
    --------
    >>> Number(float, above=0)("5")
    5.0
    >>> Number(int, least=0)("-1")
    Traceback (most recent call last):
    click.exceptions.BadParameter: a whole number, 0 or more expected, got -1
    """

    kind: Callable[[Any], float]  # float or int
    what: str = ""  # what is expected, for messages; if empty, made of the limits
    above: float | None = None
    least: float | None = None
    below: float | None = None
    most: float | None = None

    @property
    def __name__(self) -> str:  # what help texts show
        return "INTEGER" if self.kind is int else "FLOAT"

    def __call__(self, value: Any) -> Any:
        try:
            number = self.kind(value)
            inside = (
                math.isfinite(number)
                and (self.above is None or number > self.above)
                and (self.least is None or number >= self.least)
                and (self.below is None or number < self.below)
                and (self.most is None or number <= self.most)
            )
        except (ValueError, OverflowError):
            inside = False
        if not inside:
            raise BadParameter(f"{self.what or self._expected()} expected, got {value!s:.60}")
        return number

    def _expected(self) -> str:
        limits = {
            "more than {:,}": self.above,
            "{:,} or more": self.least,
            "less than {:,}": self.below,
            "{:,} or less": self.most,
        }
        bounds = [text.format(limit) for text, limit in limits.items() if limit is not None]
        return ", ".join(["a whole number" if self.kind is int else "a finite number", *bounds])


SECONDS = Number(float, "a positive number of seconds", above=0, most=1e15)
DAYS = Number(float, "a positive number of days", above=0, most=1e6)
TOLERANCE = Number(float, "a positive number", above=0, most=1e15)
DURATION = Number(float, "a number of seconds, 0 or more,", least=0, most=1e15)
SCORE = Number(float)
SHARE = Number(float, "a number between 0 and 1", above=0, below=1)
SENSITIVITY = Number(float, "a number from 0 to 1", least=0, most=1)
ALARMS = Number(float, "a number, 0 or more,", least=0, most=1e12)
RATE = Number(float, "a positive number", above=0, most=1e12)
SEED = Number(int, "a whole number from 0 to 2^63 - 1", least=0, most=(1 << 63) - 1)
FOLDS = Number(int, least=2, most=10_000_000)
COUNT = Number(int, least=1, most=10_000_000)
PORT = Number(int, "a port from 0 to 65535", least=0, most=65535)
REPLICATES = Number(int, "a number of replicates from 0 to 1,000,000", least=0, most=1_000_000)
INTERVALS = Number(int, "a number of replicates from 10 to 1,000,000", least=10, most=1_000_000)


def number_type(info: FieldInfo, kind: Any) -> Number | None:
    """The numbers that a field takes, by its limits; None if its option is not a number."""
    element = get_args(kind)[0] if get_origin(kind) is list else kind
    if element not in (int, float):
        return None
    limits: dict[str, float] = {}
    for constraint in _constraints(info.annotation, info.metadata):
        for ours, theirs in (("above", "gt"), ("least", "ge"), ("below", "lt"), ("most", "le")):
            limit = getattr(constraint, theirs, None)
            if isinstance(limit, int | float):
                limits[ours] = limit
    return Number(element, "", **limits)


def _constraints(annotation: Any, constraints: list[Any]) -> list[Any]:
    """All constraints that an annotation has for the numbers in it."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        nested = [each for part in more for each in getattr(part, "metadata", [part])]
        return _constraints(inner, [*constraints, *nested])
    for part in get_args(annotation):
        constraints = _constraints(part, constraints)
    return constraints
