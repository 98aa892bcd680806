"""JSON and YAML from outside: parsed without running anything, bounded in depth and size.

Python's parsers raise a ``RecursionError`` for deep nesting, and with YAML's aliases a few lines
expand to billions of values. Both, and numbers that are not finite, are errors here.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from bdl.errors import ConfigError, InputError
from bdl.limits import NESTING, VALUES

if TYPE_CHECKING:
    from yaml import Node, SafeLoader

TOO_DEEP = f"nested too deeply, more than {NESTING} levels"


def parse_json(text: str | bytes, what: object) -> Any:
    """The value of a JSON text; NaN and infinite numbers are errors.

    ``what`` is the source of the text, for messages.

    Examples
    --------
    >>> parse_json('{"period": 5}', "a.json")
    {'period': 5}
    >>> parse_json("[" * 1000, "a.json")
    Traceback (most recent call last):
    bdl.errors.InputError: a.json: not JSON: nested too deeply
    >>> parse_json("1e999", "a.json")
    Traceback (most recent call last):
    bdl.errors.InputError: a.json: not JSON: 1e999 is not a finite number
    """
    try:
        data = json.loads(text, parse_float=_finite, parse_constant=_finite)
    except RecursionError:
        raise InputError(f"{what}: not JSON: nested too deeply") from None
    except ValueError as error:
        raise InputError(f"{what}: not JSON: {error}") from error
    level = [data]
    for _ in range(NESTING):
        level = [
            value
            for container in level
            if isinstance(container, dict | list)
            for value in (container.values() if isinstance(container, dict) else container)
            if isinstance(value, dict | list)
        ]
        if not level:
            return data
    raise InputError(f"{what}: not JSON: {TOO_DEEP}")


def _finite(text: str) -> float:
    number = float(text)
    if number - number != 0:
        raise ValueError(f"{text} is not a finite number")
    return number


def parse_yaml(text: str, what: object) -> Any:
    """The value of a YAML text; keys are texts, and parts that aliases repeat count each time.

    Examples
    --------
    >>> parse_yaml("{a: &x [1, 2], b: *x}", "a.yaml")
    {'a': [1, 2], 'b': [1, 2]}
    >>> parse_yaml("{1: onset, 2: offset}", "a.yaml")
    {'1': 'onset', '2': 'offset'}
    >>> parse_yaml("&x [*x]", "a.yaml")
    Traceback (most recent call last):
    bdl.errors.ConfigError: a.yaml: not YAML: a value that contains itself
    """
    import yaml

    try:
        loader = yaml.SafeLoader(text)
        try:
            _bound_nesting(loader)
            node = loader.get_single_node()
            if node is None:
                return None
            _measure(node, {})
            return loader.construct_document(node)
        finally:
            loader.dispose()
    except (yaml.YAMLError, ValueError, ArithmeticError) as error:
        mark = getattr(error, "problem_mark", None)
        place = f" at line {mark.line + 1}, column {mark.column + 1}" if mark else ""
        cause = getattr(error, "problem", None) or str(error).partition("\n")[0]
        raise ConfigError(f"{what}: not YAML{place}: {cause}") from error


def _bound_nesting(loader: SafeLoader) -> None:
    """Make a loader stop at deep nesting: its time grows with the square of the depth."""
    compose, levels = loader.compose_node, 0

    def bounded(parent: Node | None, index: int) -> Node | None:
        nonlocal levels
        if levels > NESTING:
            raise ValueError(TOO_DEEP)
        levels += 1
        node = compose(parent, index)
        levels -= 1
        return node

    loader.compose_node = bounded  # type: ignore[method-assign]


def _read_as_text(key: Node) -> None:
    """Read a key as the text that was written, ``1`` and ``yes`` too."""
    if not isinstance(key.value, str):
        raise ValueError("a list or mapping as key")
    if key.tag != "tag:yaml.org,2002:merge":
        key.tag = "tag:yaml.org,2002:str"


def _measure(node: Node, known: dict[int, tuple[int, int]]) -> tuple[int, int]:
    """Number of values in a node, aliases followed, and their depth; ``known`` has other nodes."""
    if isinstance(node.value, str):
        return 1, 0
    if id(node) in known:
        if not known[id(node)][0]:
            raise ValueError("a value that contains itself")
        return known[id(node)]
    known[id(node)] = 0, 0
    total = depth = 1
    for child in node.value:
        if isinstance(child, tuple):
            _read_as_text(child[0])
        for part in child if isinstance(child, tuple) else (child,):
            count, below = _measure(part, known)
            total, depth = total + count, max(depth, below + 1)
    if total > VALUES:
        raise ValueError(f"more than {VALUES:,} values, repeated parts counted each time")
    if depth > NESTING:
        raise ValueError(TOO_DEEP)
    known[id(node)] = total, depth
    return total, depth
