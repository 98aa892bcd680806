"""Arguments of a detector that belong to one of its values: the error says to which."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, get_args

from bdl.config import Value
from bdl.detector.detector_settings import DetectorSettings
from bdl.errors import ConfigError
from bdl.registry import Variant


def check_misplaced(arguments: Mapping[str, Any]) -> None:
    """Raise an error for the first of these arguments, none of which a detector has.

    Examples
    --------
    >>> check_misplaced({"stride": 5})
    Traceback (most recent call last):
    bdl.errors.ConfigError: Detector has no argument 'stride'; ... as in features={'stride': 5}
    """
    for name, value in arguments.items():
        examples = sorted(_examples(DetectorSettings, name, value), key=_rank)
        if not examples:
            known = ", ".join(DetectorSettings.model_fields)
            raise ConfigError(f"Detector has no argument {name!r}; its settings are {known}")
        nearest, example = examples[0]
        places = dict.fromkeys(".".join(p) for p, _ in examples if len(p) == len(nearest))
        [(argument, inner)] = example.items()
        raise ConfigError(
            f"Detector has no argument {name!r}; it is a field of {' or '.join(places)}, as in "
            f"{argument}={inner!r}"
        )


def _rank(example: tuple[tuple[str, ...], dict[str, Any]]) -> tuple[int, bool]:
    """Outer fields before inner ones, and those of every detector before those of a variant."""
    place, mapping = example
    return len(place), "kind" in mapping[place[0]]


def _examples(
    kind: type[Value], name: str, value: Any
) -> Iterator[tuple[tuple[str, ...], dict[str, Any]]]:
    """Places in a value that have a field of this name, each with a mapping that sets it there."""
    for field, info in kind.model_fields.items():
        optional = [part for part in get_args(info.annotation) if part is not type(None)]
        kinds = _kinds(optional[0] if len(optional) == 1 else info.annotation)
        for inner in sorted(kinds, key=lambda kind: not isinstance(info.default, kind)):
            fixed = (
                {"kind": inner.model_fields["kind"].default} if issubclass(inner, Variant) else {}
            )
            if name in inner.model_fields:
                yield (field,), {field: {**fixed, name: value}}
            for place, example in _examples(inner, name, value):
                yield (field, *place), {field: {**fixed, **example}}


def _kinds(annotation: Any) -> list[type[Value]]:
    """The classes of values that a field may have: of a family, all its variants."""
    if not isinstance(annotation, type) or not issubclass(annotation, Value):
        return []
    return [*annotation.kinds().values()] if issubclass(annotation, Variant) else [annotation]
