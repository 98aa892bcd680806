"""Base of every configuration value: kernels, objectives, encoders, decoders, protocols.

A value is immutable, compares by content, accepts no unknown keys and round-trips through JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from bdl.errors import ConfigError
from bdl.plain_data import parse_yaml

Seconds = Annotated[float, Field(ge=0, le=1e10)]  # of a setting: three centuries at most
Count = Annotated[int, Field(gt=0, le=10**9)]  # of epochs, updates, bins and the like
# What was expected, by the first word of pydantic's name of a problem.
_EXPECTED = {
    "float": "a number",
    "int": "a whole number",
    "bool": "true or false",
    "string": "a text",
    "finite": "a finite number",
    "tuple": "a list",
    "list": "a list",
    "dict": "a mapping",
    "mapping": "a mapping",
    "model": "a mapping",
    "dataclass": "a mapping",
    "none": "none",
    "path": "a path",
    "datetime": "a date and time",
}
_BOUNDS = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "literal_error": "{expected}",
    "too_short": "at least {min_length} entries",
    "too_long": "at most {max_length} entries",
    "is_instance_of": "a {class}",
}
_BRANCHES = ("int", "float", "str", "bool", "none", "list", "dict")  # of a union of types


def explain(error: ValidationError, what: str, keys: Iterable[str] = ()) -> str:
    """One line per key: what was expected (one of several types) and what was given."""
    # Expected values by key and end of the line; empty where the end is the whole message.
    lines: dict[tuple[str, str], list[str]] = {}
    for problem in error.errors():
        context, kind = problem.get("ctx", {}), problem["type"]
        key = ".".join(_places(problem["loc"]))
        if kind == "extra_forbidden":
            lines[key, f"unknown key; known are {', '.join(keys)}"] = []
        elif kind == "missing":
            lines[key, "a value expected, got none"] = []
        elif kind == "value_error":  # an error of the package, which says what was given
            lines[key, re.sub(r"^[A-Z]\w*: ", "", str(context["error"]))] = []
        elif kind == "too_short" and len(problem["input"]) >= context["min_length"]:
            continue  # only because entries are wrong, which is reported
        else:
            expected = _EXPECTED.get(kind.split("_")[0], "another value")
            expected = _BOUNDS[kind].format(**context) if kind in _BOUNDS else expected
            value = repr(problem["input"])
            end = " expected" if len(value) > 200 else f" expected, got {value}"
            lines.setdefault((key, end), []).append(expected)
    return "\n".join(
        ": ".join(filter(None, [what, key, " or ".join(expected) + end]))
        for (key, end), expected in lines.items()
    )


def _places(parts: tuple[int | str, ...]) -> list[str]:
    """Keys and numbers of entries, without the names of the branches of a union."""
    texts = [str(part) for part in parts]
    return [
        text
        for i, text in enumerate(texts)
        if re.fullmatch(r"[\w-]+", text)
        and not (i and (text in _BRANCHES or text.startswith(("constrained-", "function-"))))
    ]


def validate(kind: Any, data: object, what: str) -> Any:
    """Validate plain data as ``kind`` (a class or a union), or raise a `ConfigError`."""
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        raise ConfigError(explain(error, what, getattr(kind, "model_fields", ()))) from error


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that holds a mapping, read without running anything in it."""
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ConfigError(f"{path}: not YAML: {error}") from error
    return mapping(parse_yaml(text, path), str(path))


def mapping(data: object, what: str) -> dict[str, Any]:
    """The data, if it is a mapping.

    Examples
    --------
    >>> mapping([1], "a.yaml")
    Traceback (most recent call last):
    bdl.errors.ConfigError: a.yaml: a mapping of keys expected, got list
    """
    if not isinstance(data, dict):
        raise ConfigError(f"{what}: a mapping of keys expected, got {type(data).__name__}")
    return data


class Value(BaseModel):
    """An immutable configuration value.

    Examples
    --------
    >>> class Box(Value):
    ...     side: float = 1.0
    >>> Box(side=2.0)
    Box(side=2.0)
    >>> Box(sides=2.0)
    Traceback (most recent call last):
    bdl.errors.ConfigError: Box: sides: unknown key; known are side
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise ConfigError(
                explain(error, type(self).__name__, type(self).model_fields)
            ) from error

    @property
    def given(self) -> frozenset[str]:
        """Fields that a user has given; none of a copy or a value of a file, which has all fields.

        Examples
        --------
        >>> class Box(Value):
        ...     side: float = 1.0
        ...     colour: str = "red"
        >>> Box(side=2.0).given, Box(side=2.0).replace(side=3.0).given
        (frozenset({'side'}), frozenset())
        """
        written = {name for name, field in type(self).model_fields.items() if not field.exclude}
        every = written <= self.model_fields_set
        return frozenset() if every else frozenset(self.model_fields_set)

    def refuse(self, names: Iterable[str], reason: str) -> None:
        """Raise an error for a field that a user has given, and not its default, without effect.

        Parameters
        ----------
        names
            Fields that have no effect in this value.
        reason
            Why, for the message: "<field> has no effect <reason>".
        """
        for name in names:
            default = type(self).model_fields[name].default
            if name in self.given and getattr(self, name) != default:
                raise ValueError(f"{name} has no effect {reason}")

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, validated again."""
        return type(self)(**{**dict(self), **changes})
