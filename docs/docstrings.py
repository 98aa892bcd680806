"""Our docstrings in the sections that the reference's parser knows.

Ours put a parameter's meaning after its colon (the type stands in the signature) and let examples
follow without a heading; numpydoc wants the meaning on its own line and a heading.
"""

from __future__ import annotations

import re
from typing import Any

from griffe import Extension, Object

HEADING = re.compile(r"^(Parameters|Returns)\n-+\n", re.MULTILINE)
PROPER = re.compile(r"^(Examples|Notes|Raises|Returns|Yields|Attributes)\n-+\n", re.MULTILINE)
ENTRY = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*) : (.*)$")


def entries(lines: list[str]) -> tuple[list[str], list[str]]:
    """Parameter lines with the meaning below the name, and the lines after the section."""
    made: list[str] = []
    for i, line in enumerate(lines):
        found = ENTRY.match(line)
        if found:
            made += [found[1], f"    {found[2]}"]
        elif not line or line.startswith(" "):
            made.append(line)
        else:
            return made, lines[i:]
    return made, []


def headed(rest: str) -> str:
    """What follows under a heading: examples where there are any, or else notes."""
    if not rest.strip():
        return ""
    name = "Examples" if ">>>" in rest else "Notes"
    return f"\n\n{name}\n{'-' * len(name)}\n{rest.strip()}\n"


def sectioned(text: str) -> str:
    """A docstring of ours with numpydoc's sections.

    >>> print(sectioned("Do.\\n\\n>>> 1 + 1\\n2"))
    Do.
    <BLANKLINE>
    Examples
    --------
    >>> 1 + 1
    2
    <BLANKLINE>
    """
    if "Examples\n---" in text:
        return text
    parts = HEADING.split(text, maxsplit=1)
    if len(parts) == 3 and (PROPER.search(parts[2]) or not _inline(parts[2])):
        return text
    if len(parts) == 1:
        before, mark, after = text.partition("\n>>> ")
        return before.rstrip() + headed(f">>> {after}") if mark else text
    made, rest = entries(parts[2].splitlines())
    section = "\n".join(made).rstrip()
    return f"{parts[0]}{parts[1]}\n{'-' * len(parts[1])}\n{section}{headed(chr(10).join(rest))}"


def _inline(section: str) -> bool:
    """Whether the first entry has its meaning on its own line."""
    lines = section.splitlines()
    return bool(ENTRY.match(lines[0])) and not (len(lines) > 1 and lines[1].startswith("    "))


class Sections(Extension):
    """Rewrites every docstring as it is found."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = sectioned(obj.docstring.value)
