"""Names of channels: unique, and chosen by the user."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from bdl.errors import InputError


def unique_names(labels: Iterable[str | None]) -> list[str]:
    """Labels of signals as unique names: a repeated one gets a number, an empty one a name.

    Examples
    --------
    >>> unique_names(["C3", "", "C3", "C3"])
    ['C3', '(no name)', 'C3 (2)', 'C3 (3)']
    """
    plain = [label or "(no name)" for label in labels]
    used, numbers = set(plain), dict.fromkeys(plain, 0)
    names = []
    for label in plain:
        numbers[label] += 1
        name = label
        while numbers[label] > 1 and name in used:
            name = f"{label} ({numbers[label]})"
            numbers[label] += name in used
        used.add(name)
        names.append(name)
    return names


def chosen_names(
    names: Sequence[str], wanted: tuple[str, ...] | None, path: Path
) -> tuple[str, ...]:
    """The names that the user wants, or all; one that is missing is an error.

    Examples
    --------
    >>> chosen_names(["C3", "C4"], ("C4",), Path("a.edf"))
    ('C4',)
    """
    known = set(names)
    for name in wanted or ():
        if name not in known:
            raise InputError(f"{path}: channel {name!r} is missing; it has {', '.join(names)}")
    return wanted or tuple(names)
