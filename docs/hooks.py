"""Formulas become MathML when the site is built, so that its pages need no script for them."""

from __future__ import annotations

import re
from typing import Any

from latex2mathml.converter import convert

BLOCK = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"(?<![\\$`\w])\$([^\s$][^$\n]*?)\$(?!\w)")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Replace formulas outside code."""
    parts = CODE.split(markdown)
    for i in range(0, len(parts), 2):
        text = BLOCK.sub(lambda m: convert(" ".join(m[1].split()), display="block"), parts[i])
        parts[i] = INLINE.sub(lambda m: convert(m[1]), text)
    return "".join(parts)
