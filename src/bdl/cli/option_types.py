"""Types, values and defaults of options that are generated from fields."""

from __future__ import annotations

from dataclasses import is_dataclass
from pathlib import Path
from types import GenericAlias, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BeforeValidator
from pydantic.fields import FieldInfo
from typer import BadParameter

from bdl import plain_data
from bdl.config import Value
from bdl.errors import ConfigError

_EXAMPLES = {
    "--column": "time=Bedtime",
    "--detection-column": "time=Seconds",
    "--code": "1=onset",
    "--alias": "ACC_X=x",
    "--channel-unit": "x=mg",
}
NONE = "none"  # on the command line; None itself means that an option was not given


def option_type(info: FieldInfo) -> Any:
    """The type that typer gets for a field; ``object`` stands for a value written in YAML."""
    annotation: Any = info.annotation
    if any(_reads_text(part) for part in (annotation, *get_args(annotation))):
        return object  # a text such as 10m, which validation turns into a number
    members = [_bare(member) for member in _union(annotation)]
    optional = type(None) in members
    members = [member for member in members if member is not type(None)]
    if len(members) != 1 or (optional and info.default is not None):
        return object  # several types, or "none" as a value that differs from the default
    [member] = members
    if is_mapping(info):
        return GenericAlias(list, (str,))  # KEY=VALUE, which may be repeated
    if get_origin(member) in (tuple, list):
        element = _bare(get_args(member)[0])
        # Typer takes no list of choices or objects, so they are text; validation parses it later.
        element = str if get_origin(element) is Literal or is_dataclass(element) else element
        return GenericAlias(list, (element,)) if _is_plain(element) else object
    return member if _is_plain(member) else object


def is_mapping(info: FieldInfo) -> bool:
    """Whether a field is a mapping from texts to texts."""
    return info.annotation == dict[str, str]


def parse_pairs(texts: list[str], flag: str) -> dict[str, str]:
    """Texts ``KEY=VALUE`` as a mapping.

    Examples
    --------
    >>> parse_pairs(["time=Bedtime"], "--column")
    {'time': 'Bedtime'}
    """
    pairs = {}
    for text in texts:
        key, _, value = text.partition("=")
        if not key or not value:
            example = _EXAMPLES.get(flag, "KEY=VALUE")
            raise ConfigError(f"{flag} {text}: KEY=VALUE expected, such as {flag} {example}")
        pairs[key] = value
    return pairs


def _union(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _bare(annotation: Any) -> Any:
    """An annotation without its constraints: validation applies them later."""
    return get_args(annotation)[0] if get_origin(annotation) is Annotated else annotation


def _reads_text(annotation: Any) -> bool:
    return get_origin(annotation) is Annotated and any(
        isinstance(part, BeforeValidator) for part in get_args(annotation)
    )


def _is_plain(kind: Any) -> bool:
    if get_origin(kind) is Literal:
        return all(isinstance(choice, str) for choice in get_args(kind))
    return kind in (bool, int, float, str, Path)


def parse_yaml_option(text: str) -> Any:
    """A value in YAML: a number, a name, a list, a mapping; ``none`` is None.

    Examples
    --------
    >>> parse_yaml_option("[0, 1]"), parse_yaml_option("bf16-mixed")
    ([0, 1], 'bf16-mixed')
    """
    try:
        value = plain_data.parse_yaml(text, repr(text[:60]))
    except ConfigError as error:
        raise BadParameter(str(error)) from error
    return NONE if value is None or value == "none" else value


def shown_default(info: FieldInfo) -> str:
    """The default of a field as help texts show it; empty if there is none."""
    if info.is_required() or info.default in (None, ()):
        return ""
    default = info.get_default(call_default_factory=True)
    if default == {}:
        return ""
    if isinstance(default, Value):
        return str(getattr(default, "kind", default))
    return " ".join(map(str, default)) if isinstance(default, tuple) else str(default)
