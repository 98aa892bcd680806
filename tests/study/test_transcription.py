"""Every figure of the paper in the presets, compared with the text of the paper to the letter.

The paper is not part of the package; the tests skip where it is absent.
"""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

import pytest

from bdl.study import catalogue
from bdl.study.paper_tables import PaperTable

PAPER = Path(__file__).parents[2] / "../shared/paper/bdl.tex"
NUMBER = re.compile(r"(?<![\w.])[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\d.]*\d)")
pytestmark = pytest.mark.skipif(not PAPER.exists(), reason="the paper is not here")
TABLES = [
    (name, table) for name in catalogue.names() for table in catalogue.load(name).paper.tables
]


@pytest.fixture(scope="module")
def tex() -> str:
    """The paper with its markup of figures in the notation of the presets."""
    text = PAPER.read_text()
    for markup, plain in (
        (r"\textbf{", " "), ("}", " } "), ("$", ""), (r"\pm", " ± "), (r"\times", "×"),
        (r"\%", "%"), ("\n", " "),
    ):  # fmt: skip
        text = text.replace(markup, plain)
    text = re.sub(r"\[(-?[\d.]+),\s*(-?[\d.]+)\]", r"[\1, \2]", text)
    return re.sub(r"\s+", " ", text)


def printed_table(tex: str, label: str) -> list[str] | None:
    """The figures of a table of the paper, line by line; None if it has no such table.

    A line of standard deviations belongs to the line of means before it.
    """
    reference = re.search(
        rf"\\label\{{tab:{label} \}}[^&]*?\\input\{{results/generated/(\w+)\.tex \}}", tex
    )
    if reference is None:
        return None
    start = tex.find(f"%% file: results/generated/{reference[1]}.tex")
    if start < 0:
        return None
    body = tex[start:].split(r"\midrule", 1)[1].split(r"\bottomrule")[0]
    lines = [line.split("&") for line in body.replace(r"\midrule", "").split(r"\\")]
    figures: list[list[str]] = []
    for name, *cells in lines:
        if name.strip() == "SD":
            pairs = zip(figures[-1], cells, strict=True)
            figures[-1] = [f"{mean} ± {sd}" for mean, sd in pairs]
        elif cells:
            figures.append(cells)
    return [number for cells in figures for cell in cells for number in NUMBER.findall(cell)]


def figures_of(table: PaperTable) -> list[str]:
    cells = [cell for line in table.lines for cell in line.cells]
    return [cell.paper for cell in cells if cell is not None and cell.paper is not None]


def numbers_of(table: PaperTable) -> list[str]:
    return [number for figure in figures_of(table) for number in NUMBER.findall(figure)]


def test_the_presets_have_all_figures():
    assert sum(len(numbers_of(table)) for _, table in TABLES) >= 445


@pytest.mark.parametrize(
    ("name", "table"), [pytest.param(n, t, id=f"{n}:{t.label}") for n, t in TABLES]
)
def test_every_figure_is_printed_in_the_paper(name: str, table: PaperTable, tex: str):
    """In prose: value, spread and interval as one writes them; in a table: in its order."""
    printed = printed_table(tex, table.label)
    for figure in figures_of(table):
        if printed is not None and set(NUMBER.findall(figure)) <= set(printed):
            continue
        value, *interval = re.split(r" (?=\[)", figure)
        for part in (value, *interval):
            assert re.search(rf"(?<![\d.+-]){re.escape(part)}(?!\d)", tex), (name, figure, part)


@pytest.mark.parametrize("label", sorted({table.label for _, table in TABLES}))
def test_every_printed_table_is_transcribed_in_its_order(label: str, tex: str):
    printed = printed_table(tex, label)
    if printed is None:
        pytest.skip("a table of ours, or figures of the text")
    transcribed: list[str] = []
    for _, table in TABLES:
        if table.label == label:
            numbers = numbers_of(table)
            transcribed += numbers
            # What the printed table has is there in its order; the rest is from the text.
            rest = iter(printed)
            in_table = [n for n in numbers if n in printed]
            assert all(number in rest for number in in_table), (label, in_table, printed)
    # Whole numbers of the paper's tables count seeds and runs, which the protocol says.
    missing = Counter(n for n in printed if "." in n) - Counter(transcribed)
    assert not missing, (label, missing)
