"""Base of every configuration value: kernels, objectives, encoders, decoders, protocols.

A value is immutable, compares by content, refuses unknown keys and round-trips through JSON.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from bdl.errors import ConfigError

# What was expected, by the first word of pydantic's name of a problem, where that tells enough.
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
}
_BOUNDS = {
    "greater_than": "more than {gt}",
    "greater_than_equal": "{ge} or more",
    "less_than": "less than {lt}",
    "less_than_equal": "{le} or less",
    "literal_error": "{expected}",
    "too_short": "at least {min_length} entries",
    "too_long": "at most {max_length} entries",
}


def explain(error: ValidationError, what: str, keys: Iterable[str] = ()) -> str:
    """One line per problem: the key, what was expected and what was given."""
    lines = []
    for problem in error.errors():
        context, kind = problem.get("ctx", {}), problem["type"]
        shown = repr(problem["input"])
        given = "" if len(shown) > 200 else f", got {shown}"
        if kind == "extra_forbidden":
            message = f"unknown key; known are {', '.join(keys)}"
        elif kind == "missing":
            message = "a value expected, got none"
        elif kind in _BOUNDS:
            message = f"{_BOUNDS[kind].format(**context)} expected{given}"
        elif kind.split("_")[0] in _EXPECTED:
            message = f"{_EXPECTED[kind.split('_')[0]]} expected{given}"
        elif isinstance(context.get("error"), ConfigError):  # it says what was given
            message = re.sub(r"^[A-Z]\w*: ", "", str(context["error"]))
        else:
            message = f"{problem['msg'].removeprefix('Value error, ')}{given}"
        key = ".".join(str(part) for part in problem["loc"])
        lines.append(": ".join(filter(None, [what, key, message])))
    return "\n".join(lines)


def validate(kind: Any, data: object, what: str) -> Any:
    """Validate plain data as ``kind`` (a class or a union), with our own error."""
    try:
        return TypeAdapter(kind).validate_python(data)
    except ValidationError as error:
        raise ConfigError(explain(error, what)) from error


def read_yaml(path: Path) -> dict[str, Any]:
    """A YAML file that holds a mapping, read without running anything in it."""
    import yaml

    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not YAML: {error}") from error
    return mapping(data, str(path))


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

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, validated again."""
        return type(self)(**{**dict(self), **changes})
