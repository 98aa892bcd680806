"""Figures of the documents, from the commands that the documents show.

    python -m bench.documents tutorial   # run the tutorial, put what it prints below each command
    python -m bench.documents readme     # run the demonstration, put its table into the README
    python -m bench.documents accuracy   # put the tables of kept runs into README and results

Figures of trained models may differ on another processor; they stay within the printed confidence
intervals.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.accuracy.tables import tables

ROOT = Path(__file__).parents[1]
BLOCK = re.compile(r"```bash\n(.*?)```(?:\n\n```text\n(.*?)```)?", re.DOTALL)
# A comment with a command, and everything up to the caption of the table that it prints.
KEPT_TABLE = re.compile(
    r"(<!-- python -m bench\.accuracy\.tables ([^>]*) -->\n)"
    r"\n?(?:\|[^\n]*\n)*(?:\nFolds [^\n]*\n)?\n*"
)
PAGES_OF_TABLES = (ROOT / "docs/results.md", ROOT / "README.md")
COLUMNS = ("system", "mAP", "AP at 60 s", "F1", "median error", "mAP of Default minus")


def environment() -> dict[str, str]:
    """Environment with this checkout's command line first and a wide terminal."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    source = os.environ.get("PYTHONPATH", str(ROOT / "src"))
    return {**os.environ, "PATH": path, "PYTHONPATH": source, "COLUMNS": "110"}


def tutorial() -> None:
    """Run every command of the tutorial in order, and insert its output."""
    page = ROOT / "docs/tutorial.md"
    with tempfile.TemporaryDirectory() as folder:

        def replaced(block: re.Match[str]) -> str:
            shown = block.group(2) is not None
            done = subprocess.run(
                ["bash", "-ec", block.group(1)], cwd=folder, env=environment(), text=True,
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
            )  # fmt: skip
            if done.returncode:
                raise SystemExit(f"{block.group(1)}\n{done.stdout}")
            lines = [line for line in map(clean, done.stdout.splitlines()) if line]
            print("\n".join(lines))
            text = "\n".join(excerpt(lines, block.group(2).splitlines())) if shown else ""
            return f"```bash\n{block.group(1)}```" + (f"\n\n```text\n{text}\n```" if shown else "")

        text = BLOCK.sub(replaced, page.read_text("utf-8"))
    page.write_text(text, "utf-8")


def excerpt(lines: list[str], before: list[str]) -> list[str]:
    """As many lines as before, from the first that begins with the same word."""
    words = [line.split()[:1] for line in lines]
    first = words.index(before[0].split()[:1]) if before[0].split()[:1] in words else 0
    return lines[first : first + len(before)]


def clean(line: str) -> str:
    """A line without terminal codes and what was overwritten; nothing of a progress bar."""
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line).split("\r")[-1].rstrip()
    return "" if "━" in text else text


def readme() -> None:
    """Run the demonstration, and replace the rows of its table."""
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(
            [sys.executable, "-m", "bdl", "demo", "--out", f"{folder}/demo", "--json"],
            env=environment(), text=True, stdout=subprocess.PIPE, check=True,
        )  # fmt: skip
    systems = json.loads(done.stdout)["systems"]
    rows = ["| " + " | ".join(system[name] for name in COLUMNS) + " |" for system in systems]
    page = ROOT / "README.md"
    head = re.compile(r"(\| system \| mAP .*?\n\|[-|]+\n)(?:\|.*\n)+")
    text, count = head.subn(lambda m: m.group(1) + "\n".join(rows) + "\n", page.read_text("utf-8"))
    if count != 1:
        raise SystemExit("README.md has no table of the demonstration")
    page.write_text(text, "utf-8")
    print("\n".join(rows))


def accuracy() -> None:
    """Replace the tables below each comment with a command of `bench.accuracy.tables`."""
    for page in PAGES_OF_TABLES:
        text, count = with_kept_tables(page.read_text("utf-8"))
        page.write_text(text, "utf-8")
        print(f"{page.name}: {count} tables")


def with_kept_tables(page: str) -> tuple[str, int]:
    """The text of a page with the tables of the kept runs, and how many tables it has."""

    def replaced(block: re.Match[str]) -> str:
        text = "\n".join(text for _, text in tables(shlex.split(block.group(2))))
        return f"{block.group(1)}\n{text.strip()}\n\n"

    return KEPT_TABLE.subn(replaced, page)


if __name__ == "__main__":
    {"tutorial": tutorial, "readme": readme, "accuracy": accuracy}[sys.argv[1]]()
