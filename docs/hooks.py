"""What the site adds to its pages when it is built.

Formulas become MathML, so that pages need no script for them. They pass through Markdown as plain
marks: a line that began with an element would end its paragraph.

A line ``::: variants of bdl.kernels.Kernel`` becomes the reference of the family and of each of its
variants, so that no page lists them. A line ``::: notebook NAME.ipynb`` becomes the cells of a
notebook beside the page, with their outputs.
"""

from __future__ import annotations

import json
import re
from importlib import import_module
from pathlib import Path
from typing import Any

from latex2mathml.converter import convert

BLOCK = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
INLINE = re.compile(r"(?<![\\$`\w])\$([^\s$][^$\n]*?)\$(?!\w)")
CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)
MARK = re.compile("\ue000(\\d+)\ue001")
FAMILY = re.compile(r"^::: variants of ([\w.]+)\.(\w+)$", re.MULTILINE)
NOTEBOOK = re.compile(r"^::: notebook (\S+)$", re.MULTILINE)
FORMULAS: list[str] = []


def _marked(formula: str) -> str:
    FORMULAS.append(formula)
    return f"\ue000{len(FORMULAS) - 1}\ue001"


def _variants(line: re.Match[str]) -> str:
    """The family and its variants, each under the name of the module that defines it."""
    family = getattr(import_module(line[1]), line[2])
    head, *names = (f"{c.__module__}.{c.__qualname__}" for c in (family, *family.kinds().values()))
    sections = [f"::: {head}"]
    sections += [f"::: {name}\n    options: {{heading_level: 3}}" for name in names]
    return "\n\n".join(sections)


def _notebook(path: Path) -> str:
    """The cells of a notebook as Markdown, each with what it printed or showed."""
    parts = []
    for cell in json.loads(path.read_text("utf-8"))["cells"]:
        text = "".join(cell["source"])
        parts.append(text if cell["cell_type"] == "markdown" else f"```python\n{text}\n```")
        for output in cell.get("outputs", ()):
            data = output.get("data", {})
            shown = "".join(data.get("text/plain", output.get("text", "")))
            html = "".join(data.get("text/html", ""))
            parts.append(f"<div>{html}</div>" if html else f"```text\n{shown}\n```")
    return "\n\n".join(parts)


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    """Write out families and notebooks, and put a mark in the place of each formula."""
    folder = Path(page.file.abs_src_path).parent
    markdown = NOTEBOOK.sub(lambda line: _notebook(folder / line[1]), markdown)
    parts = CODE.split(FAMILY.sub(_variants, markdown))
    for i in range(0, len(parts), 2):
        text = BLOCK.sub(
            lambda m: _marked(convert(" ".join(m[1].split()), display="block")), parts[i]
        )
        parts[i] = INLINE.sub(lambda m: _marked(convert(m[1])), text)
    return "".join(parts)


def on_page_content(html: str, **_: Any) -> str:
    """Put the formulas in the place of their marks."""
    return MARK.sub(lambda m: FORMULAS[int(m[1])], html)
