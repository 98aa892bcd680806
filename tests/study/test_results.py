"""Results and tables: what a cell reads, and how it is written."""

from __future__ import annotations

import csv
import io

import pytest

from bdl.study import catalogue
from bdl.study.cell_values import CellValue, cell_value
from bdl.study.paper_tables import PaperTable, TableCell, TableLine
from bdl.study.results import Results, RowDifference, ScoreRecord
from bdl.study.table_formats import comma_separated, fill, latex, markdown, written

RESULTS = Results(
    (
        *(ScoreRecord("A", "tuned", "mAP", v, seed=s) for s, v in enumerate((0.7, 0.8))),
        *(ScoreRecord("B", "tuned", "mAP", v, seed=s) for s, v in enumerate((0.5, 0.7))),
        *(ScoreRecord("A", "tuned", "mAP", v, 0, f) for f, v in enumerate((0.6, 0.9))),
        *(ScoreRecord("B", "tuned", "mAP", v, 0, f) for f, v in enumerate((0.7, 0.5))),
        ScoreRecord("A", "tuned", "AP@60", None, seed=0),
        *(
            ScoreRecord("A", "selection", "learning rate", v, None, f)
            for f, v in enumerate((0.01, 0.01))
        ),
    ),
    (RowDifference("A", "tuned", "mAP", 0.15, 0.1, 0.2, minus="B"),),
)


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        (TableCell(of="A"), "0.750 ± 0.050"),
        (TableCell(of="A", seed=1), "0.800"),
        (TableCell(of="A", minus="B"), "+0.150 [0.100, 0.200]"),
        (TableCell(of="B", minus="A"), "-0.150 ± 0.050"),
        (TableCell(of="A", minus="B", seed=0), "+0.200"),
        (TableCell(of="A", minus="B", fold=0), "-0.100"),
        (TableCell(of="A", minus="B", folds="mean"), "+0.150"),
        (TableCell(of="A", minus="B", folds="lowest"), "-0.100"),
        (TableCell(of="A", minus="B", folds="highest"), "+0.400"),
        (TableCell(of="A", minus="B", folds="positive"), "1 of 2"),
        (TableCell(of=("B", "A"), minus="B"), "+0.150 [0.100, 0.200]"),
        (TableCell(of="A", over="B"), "1.2×"),
        (TableCell(of="B", minus="B", over="A"), "0%"),
        (TableCell(of="A", over="nobody"), "–"),
        (TableCell(of="A", metric="AP@60"), "–"),
        (TableCell(of="A", metric="learning rate", stage="selection"), "1e-02"),
        (TableCell(of="nobody"), "–"),
    ],
)
def test_a_cell_reads_its_figure(cell: TableCell, text: str):
    assert cell_value(RESULTS, cell).text(3) == text


def test_results_go_to_plain_data_and_back():
    assert Results.from_dict(RESULTS.to_dict()) == RESULTS


def test_a_table_in_three_formats():
    layout = PaperTable(
        label="t",
        caption="T & more",
        columns=("mAP", "Rate"),
        lines=(
            TableLine(name="A_1", cells=(TableCell(of="A", paper="0.700 ± 0.010"), None)),
            TableLine(
                name="A - B",
                cells=(TableCell(of="A", minus="B", paper="-0.1000"), TableCell(of="A")),
            ),
        ),
    )
    filled = fill(layout, RESULTS)
    assert markdown(filled).splitlines()[2:] == [
        "| Method | mAP, ours | mAP, paper | Rate, ours |",
        "|:--|--:|--:|--:|",
        "| A_1 | 0.750 ± 0.050 | 0.700 ± 0.010 |  |",
        "| A - B | +0.1500 [0.1000, 0.2000] | -0.1000 | 0.750 ± 0.050 |",
    ]
    tex = latex(filled)
    assert r"A\_1 & 0.750 $\pm$ 0.050 & 0.700 $\pm$ 0.010 &  \\" in tex
    assert r"\multicolumn{2}{c}{mAP} & \multicolumn{1}{c}{Rate} \\" in tex
    assert "$-$0.1000" in tex
    rows = list(csv.DictReader(io.StringIO(comma_separated(filled))))
    assert [row["column"] for row in rows] == ["mAP", "mAP", "Rate"]
    assert float(rows[1]["ours_low"]) == 0.1
    assert [row["paper"] for row in rows] == ["0.700 ± 0.010", "-0.1000", ""]


@pytest.mark.parametrize("name", catalogue.names())
def test_every_presets_tables_can_be_written_empty(name: str):
    texts = written(catalogue.load(name), Results((), failed=("row: diverged",)))
    assert "Failed: row: diverged." in texts["md"]
    assert texts["csv"].startswith("table,line,column,")
    assert texts["tex"].count(r"\begin{tabular}") == texts["tex"].count(r"\end{tabular}")


def test_notes_are_below_every_table_and_simulated_data_is_named_first():
    protocol = catalogue.load("sleep-holdout")
    texts = written(protocol, Results((), data="Simulated data: 4 recordings."))
    assert texts["md"].startswith("Simulated data: 4 recordings.\n\n**")
    assert texts["tex"].startswith("% Simulated data: 4 recordings.\n")
    for note in protocol.paper.notes:
        assert texts["md"].count(note) == texts["tex"].count(note) == len(protocol.paper.tables)
    rows = list(csv.DictReader(io.StringIO(texts["csv"])))
    assert {row["data"] for row in rows} == {"Simulated data: 4 recordings."}


def test_the_papers_spread_is_the_population_one():
    seeds = tuple(
        ScoreRecord("A", "tuned", "mAP", v, seed=s) for s, v in enumerate((0.371, 0.382, 0.388))
    )
    assert cell_value(Results(seeds), TableCell(of="A")).text(3) == "0.380 ± 0.007"


def test_an_unknown_figure_is_a_dash():
    assert CellValue(None).text(3) == "–"
