"""The notebooks of the documentation run, and show what they have kept."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from notebooks import run
from pages import ROOT

NOTEBOOKS = sorted((ROOT / "docs").rglob("*.ipynb"))
NUMBER = re.compile(r"-?\d+\.\d+(e[+-]\d+)?")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.name)
def test_a_notebook_shows_what_it_has_kept(path: Path) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("plotly")
    cells = json.loads(path.read_text("utf-8"))["cells"]
    kept = [cell["outputs"] for cell in cells if cell["cell_type"] == "code"]
    assert any(kept)
    for before, now in zip(kept, run(path), strict=True):
        # Another version of a library may round differently, or style a table in another way.
        shown = [output.get("text") or output["data"]["text/plain"] for output in now]
        stored = [output.get("text") or output["data"]["text/plain"] for output in before]
        assert [NUMBER.sub("#", text) for text in shown] == [NUMBER.sub("#", t) for t in stored]


def test_there_is_one() -> None:
    assert NOTEBOOKS
