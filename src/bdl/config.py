"""Base of every configuration value: kernels, objectives, encoders, decoders, protocols.

A value is immutable, compares by content, refuses unknown keys and round-trips through JSON.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from bdl.errors import ConfigError


def explain(error: ValidationError, what: str) -> str:
    """One line a problem: the key, what was expected and what came."""
    lines = []
    for problem in error.errors():
        key = ".".join(str(part) for part in problem["loc"]) or "(whole)"
        shown = repr(problem["input"])
        ours = isinstance(problem.get("ctx", {}).get("error"), ConfigError)  # says it already
        told = ours or problem["type"] == "missing" or len(shown) > 200
        came = "" if told else f", got {shown}"
        message = problem["msg"].removeprefix("Value error, ")
        lines.append(f"{what}: {key}: {message}{came}")
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
    bdl.errors.ConfigError: Box: sides: Extra inputs are not permitted, got 2.0
    """

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise ConfigError(explain(error, type(self).__name__)) from error

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed, validated again."""
        return type(self)(**{**dict(self), **changes})
