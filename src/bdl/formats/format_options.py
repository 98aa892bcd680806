"""Options of formats: those of a format are its fields, and any other is an error."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeVar

from bdl.errors import ConfigError
from bdl.registry import Variant, singular

F = TypeVar("F", bound=Variant)


def option_names(kind: type[Variant]) -> tuple[str, ...]:
    """The options of a format: its fields without ``kind``.

    Examples
    --------
    >>> from bdl.formats.events import KaggleEvents
    >>> option_names(KaggleEvents)
    ('period', 'incomplete')
    """
    return tuple(name for name in kind.model_fields if name != "kind")


def with_options(format: F, options: Mapping[str, Any]) -> F:
    """A format with some options changed; an option that is None stays as it is."""
    check_options(options, format)
    given = {name: value for name, value in options.items() if value is not None}
    try:
        return format.replace(**given) if given else format
    except ConfigError as error:
        # "CsvRecordings: period: ..." becomes "period (--period): ..."
        text = str(error).removeprefix(f"{type(format).__name__}: ")
        flagged = re.sub(
            r"^(\w+)(?=: |\.)", lambda name: f"{name[1]} ({_flag(type(format), name[1])})", text
        )
        raise ConfigError(text if "(--" in text else flagged) from error


def check_options(options: Mapping[str, Any], *formats: Variant) -> None:
    """Raise an error that lists the options if one is given, not None, that no format has."""
    known = {format.kind: option_names(type(format)) for format in formats}
    for name, value in options.items():
        if value is not None and not any(name in names for names in known.values()):
            family = "recording" if "recordings" in formats[0].package else "event"
            listed = "; ".join(
                f"{family} format {kind} has {', '.join(names) or 'no options'}"
                for kind, names in known.items()
            )
            kinds = type(formats[0]).kinds().values()
            owner = next((kind for kind in kinds if name in kind.model_fields), type(formats[0]))
            raise ConfigError(f"unknown option {name} ({_flag(owner, name)}): {listed}")


def _flag(kind: type[Variant], name: str) -> str:
    """The command-line option of a field; one that may be repeated is in the singular."""
    field = kind.model_fields.get(name)
    many = field is not None and re.search(r"\b(tuple|dict|list)\[", str(field.annotation))
    return "--" + (singular(name) if many else name).replace("_", "-")
