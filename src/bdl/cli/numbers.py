"""Numbers on the command line: the limits of an option, and errors that name them."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from pydantic.fields import FieldInfo
from typer import BadParameter

# Each limit with its comparison, whose name is that of the constraint of a field, and its text.
_LIMITS: dict[str, tuple[Callable[[Any, Any], bool], str]] = {
    "above": (operator.gt, "more than {:,}"),
    "least": (operator.ge, "{:,} or more"),
    "below": (operator.lt, "less than {:,}"),
    "most": (operator.le, "{:,} or less"),
}


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
    what: str = ""  # what is expected, for messages; by default a text of the limits
    above: float | None = None
    least: float | None = None
    below: float | None = None
    most: float | None = None

    @property
    def __name__(self) -> str:  # what help texts show
        return "INTEGER" if self.kind is int else "FLOAT"

    def __call__(self, value: Any) -> Any:
        limits = {name: getattr(self, name) for name in _LIMITS}
        limits = {name: limit for name, limit in limits.items() if limit is not None}
        try:
            number = self.kind(value)
            inside = math.isfinite(number)
            inside &= all(_LIMITS[name][0](number, limit) for name, limit in limits.items())
        except (ValueError, OverflowError):
            inside = False
        if not inside:
            bounds = [_LIMITS[name][1].format(limit) for name, limit in limits.items()]
            kind = "a whole number" if self.kind is int else "a finite number"
            what = self.what or ", ".join([kind, *bounds])
            raise BadParameter(f"{what} expected, got {value!s:.60}")
        return number


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
        for name, (compare, _) in _LIMITS.items():
            limit = getattr(constraint, compare.__name__, None)
            if isinstance(limit, int | float):
                limits[name] = limit
    return Number(element, "", **limits)


def _constraints(annotation: Any, constraints: list[Any]) -> list[Any]:
    """All constraints that an annotation has for the numbers in it."""
    if get_origin(annotation) is Annotated:
        inner, *more = get_args(annotation)
        nested = [item for part in more for item in getattr(part, "metadata", [part])]
        return _constraints(inner, [*constraints, *nested])
    for part in get_args(annotation):
        constraints = _constraints(part, constraints)
    return constraints
