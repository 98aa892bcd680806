"""Pages of the documentation and their code blocks, read and run."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```", re.DOTALL | re.MULTILINE)
RUN = ("bash", "python")
ELSEWHERE = re.compile(r"(make|pip install) .*")  # what a clean checkout does to test itself


class Block(NamedTuple):
    """A code block: language, title and text."""

    language: str
    title: str
    text: str

    @property
    def runs(self) -> bool:
        """Whether a test runs it."""
        lines = self.text.splitlines()
        return self.language in RUN and not all(map(ELSEWHERE.fullmatch, lines))


def blocks(page: Path) -> list[Block]:
    """Every code block of a page, in order."""
    return [Block(*fields) for fields in FENCE.findall(page.read_text("utf-8"))]


def run_blocks(
    page: Path,
    folder: Path,
    *,
    changes: Sequence[tuple[str, str]] = (),
    environment: Mapping[str, str] | None = None,
) -> None:
    """Run a page's bash and python blocks in a folder, one after the other.

    A titled block is a file of that name; a text block is what the block before it must print.
    ``changes`` (old, new) make what is run smaller; each must change something.
    """
    variables = {
        **os.environ,
        "COLUMNS": "100",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        **(environment or {}),
    }
    printed = ""
    unused = {old for old, _ in changes}
    for block in blocks(page):
        if block.runs:
            text = block.text
            for old, new in changes:
                unused -= {old} if old in text else set()
                text = text.replace(old, new)
            call = (
                ["bash", "-euc", text] if block.language == "bash" else [sys.executable, "-c", text]
            )
            done = subprocess.run(
                call, cwd=folder, env=variables, capture_output=True, text=True, timeout=900,
                check=False, stdin=subprocess.DEVNULL,
            )  # fmt: skip
            assert done.returncode == 0, f"{text}\n{done.stdout}\n{done.stderr}"
            printed = re.sub(r"\s+", " ", done.stdout + done.stderr)
        elif block.language == "text":
            for line in block.text.splitlines():
                if line.strip() and line.strip() != "...":
                    assert re.search(loosely(line), printed), f"{line!r} is not in\n{printed}"
        elif block.title and block.language != "sh":
            (folder / block.title).write_text(block.text)
    assert not unused, f"{page}: nothing to change: {unused}"


def loosely(line: str) -> str:
    """A pattern of a printed line: its words, with any number or id where it has one."""
    words = (re.split(r"\W*\d[\w.,:%+/-]*|\b[0-9a-f]{12}\b", word) for word in line.split())
    return " ".join(r"\S*".join(re.escape(part) for part in parts) for parts in words)
