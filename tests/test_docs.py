"""The documentation keeps its word: links exist, commands parse, the tutorial runs as printed."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

import click
import numpy as np
import polars as pl
import pytest
import typer

from bdl.cli import app

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
FENCE = re.compile(r"^```(\w*)(?: title=\"([^\"]+)\")?\n(.*?)^```", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
SHELLS = ("bash", "sh", "")


def blocks(page: Path) -> list[tuple[str, str, str]]:
    """Language, title and text of each code block."""
    found = FENCE.findall(page.read_text("utf-8"))
    return [(language, title, text) for language, title, text in found]


def commands(page: Path) -> Iterator[list[str]]:
    """Every command line of ours that a page shows, as words."""
    for language, _, text in blocks(page):
        if language in SHELLS:
            for line in text.replace("\\\n", " ").splitlines():
                words = shlex.split(line.replace("[", "").replace("]", ""), comments=True)
                if words[:1] == ["bdl"]:
                    yield words[1:]


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
        while isinstance(command, click.Group) and words:
            assert words[0] in command.commands, f"{path} has no command {words[0]}"
            path, command, words = f"{path} {words[0]}", command.commands[words[0]], words[1:]
        if words:
            command.make_context(path, list(words))


def run_blocks(page: Path, folder: Path, after: dict[str, str] | None = None) -> None:
    """Run a page's bash blocks in a folder; a text block after one is what it must print."""
    environment = {
        **os.environ,
        "COLUMNS": "100",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    printed = ""
    for language, _, text in blocks(page):
        if language == "bash":
            done = subprocess.run(
                ["bash", "-euc", text + (after or {}).get(text, "")], cwd=folder, env=environment,
                capture_output=True, text=True, timeout=900, check=False,
            )  # fmt: skip
            assert done.returncode == 0, f"{text}\n{done.stderr}"
            printed = re.sub(r"\s+", " ", done.stdout + done.stderr)
        elif language == "text":
            for line in text.splitlines():
                if line.strip() and line.strip() != "...":
                    assert re.search(loosely(line), printed), f"{line!r} is not in\n{printed}"


def loosely(line: str) -> str:
    """A pattern of a printed line: its words, with any number or id where it has one."""
    words = (re.split(r"\W*\d[\w.,:%+/-]*|\b[0-9a-f]{12}\b", word) for word in line.split())
    return " ".join(r"\S*".join(re.escape(part) for part in parts) for parts in words)


def test_loosely_forgives_numbers_but_no_words() -> None:
    assert re.search(loosely("mAP 0.25   mF1 0.31"), "mAP 0.9 mF1 0.77")
    assert re.search(loosely("onset  300  0.1 (2)"), "onset 300 0.55 (13)")
    assert not re.search(loosely("mAP 0.25"), "recall 0.25")


@pytest.mark.slow
def test_the_tutorial_runs_as_printed(tmp_path: Path) -> None:
    page = ROOT / "docs" / "tutorial.md"
    assert sum(language == "bash" for language, *_ in blocks(page)) >= 7
    run_blocks(page, tmp_path)
    assert (tmp_path / "report.html").stat().st_size > 1_000_000


@pytest.mark.slow
def test_the_guide_to_own_data_works(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    (tmp_path / "walks").mkdir()
    rows = []
    for i in range(12):
        x = rng.normal(size=(6000, 3)) * 0.05
        for start in (20.0, 70.0):
            a, b = start + rng.uniform(0, 10), start + rng.uniform(20, 35)
            x[int(a * 50) : int(b * 50)] += 0.5
            rows += [(f"walk{i:02d}", "onset", a), (f"walk{i:02d}", "offset", b)]
        frame = pl.DataFrame({name: x[:, j].astype(np.float32) for j, name in enumerate("xyz")})
        frame.write_parquet(tmp_path / "walks" / f"walk{i:02d}.parquet")
    pl.DataFrame(rows, schema=["recording", "event", "time"], orient="row").write_csv(
        tmp_path / "events.csv"
    )
    page = ROOT / "docs" / "howto" / "own-data.md"
    new = next(text for language, _, text in blocks(page) if text.startswith("bdl new"))
    # Two passes are enough to see that every command works.
    run_blocks(page, tmp_path, after={new: "\nsed -i 's/epochs: .*/epochs: 2/' project/bdl.yaml"})
    code = next(text for language, _, text in blocks(page) if language == "python")
    (tmp_path / "ten.py").write_text(code.replace("epochs=20", "epochs=2"))
    subprocess.run([sys.executable, "ten.py"], cwd=tmp_path, check=True, timeout=900)
    assert (tmp_path / "held-out.csv").exists()
    assert (tmp_path / "report.html").exists()


def test_the_guide_to_scoring_works(tmp_path: Path) -> None:
    page = ROOT / "docs" / "howto" / "score.md"
    for _, title, text in blocks(page):
        if title.endswith(".csv"):
            (tmp_path / title).write_text(text)
    shutil.copy(tmp_path / "mine.csv", tmp_path / "theirs.csv")
    run_blocks(page, tmp_path)
    code = next(text for language, _, text in blocks(page) if language == "python")
    subprocess.run([sys.executable, "-c", code], cwd=tmp_path, check=True, timeout=300)
    assert (tmp_path / "report.html").exists()


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
