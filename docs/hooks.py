"""Formulas become MathML when the site is built, so that its pages need no script for them.

They pass through Markdown as plain marks: a line that began with an element would end its
paragraph.
"""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

BLOCK = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"(?<![\\$`\w])\$([^\s$][^$\n]*?)\$(?!\w)")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
MARK = re.compile("\ue000(\\d+)\ue001")
FORMULAS: list[str] = []


def _marked(formula: str) -> str:
    FORMULAS.append(formula)
    return f"\ue000{len(FORMULAS) - 1}\ue001"


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Put a mark in the place of each formula outside code."""
    parts = CODE.split(markdown)
    for i in range(0, len(parts), 2):
        text = BLOCK.sub(
            lambda m: _marked(convert(" ".join(m[1].split()), display="block")), parts[i]
        )
        parts[i] = INLINE.sub(lambda m: _marked(convert(m[1])), text)
    return "".join(parts)


def on_page_content(html: str, **_: Any) -> str:
    """Put the formulas in the place of their marks."""
    return MARK.sub(lambda m: FORMULAS[int(m[1])], html)
