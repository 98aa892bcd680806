"""The documentation keeps its word: links exist, commands parse, the site builds."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from urllib.parse import unquote

import pytest
import typer

from bdl.cli import app
from pages import FENCE, PAGES, ROOT, blocks

LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
SHELLS = ("bash", "sh", "")


def commands(page: Path) -> Iterator[list[str]]:
    """Every command line of ours that a page shows, as words."""
    for language, _, text in blocks(page):
        if language in SHELLS:
            for line in text.replace("\\\n", " ").splitlines():
                words = shlex.split(line.replace("[", "").replace("]", ""), comments=True)
                if words[:1] == ["bdl"]:
                    yield [*takewhile(lambda word: word not in ("<", ">", ">>", "|"), words[1:])]


def anchors(page: Path) -> set[str]:
    """Anchors of a page's headings, as the site makes them."""
    text = FENCE.sub("", page.read_text("utf-8"))
    heads = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", h.lower()).strip().replace(" ", "-") for h in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    for target in LINK.findall(FENCE.sub("", page.read_text("utf-8"))):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = unquote(target).partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), f"{target} is not there"
        if anchor and file.suffix == ".md":
            assert anchor in anchors(file), f"{target}: no such heading"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_and_their_options_exist(page: Path) -> None:
    for words in commands(page):
        command, path = typer.main.get_command(app), "bdl"
        while hasattr(command, "commands") and words:
            assert words[0] in command.commands, f"{path} has no command {words[0]}"
            path, command, words = f"{path} {words[0]}", command.commands[words[0]], words[1:]
        if words:
            command.make_context(path, list(words))


@pytest.mark.slow
def test_the_site_builds_without_warnings(tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    method = (tmp_path / "method" / "index.html").read_text("utf-8")
    assert "<math" in method
    assert "$" not in re.sub(r"<script.*?</script>|<code.*?</code>", "", method, flags=re.DOTALL)
