"""Tables of a study, our values next to those of the paper: Markdown, CSV, LaTeX (booktabs).

Each column of the paper's layout becomes ``ours`` and, if the paper has a value in it, ``paper``.
Spreads are over seeds, brackets are 95 % bootstrap confidence intervals.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass

from bdl.study.paper_tables import PaperTable, TableCell, TableLine
from bdl.study.protocol import Protocol
from bdl.study.results import FORMATS, CellValue, Results


@dataclass(frozen=True)
class FilledTable:
    """A table with its values: per line and column ours and the paper's (None: no cell)."""

    table: PaperTable
    cells: tuple[tuple[tuple[CellValue, CellValue] | None, ...], ...]

    def compared(self, column: int) -> bool:
        """Whether the paper has any value in a column."""
        pairs = [line[column] for line in self.cells]
        return any(pair is not None and pair[1].value is not None for pair in pairs)


def layouts(protocol: Protocol) -> tuple[PaperTable, ...]:
    """The tables of the paper, or if it has none, one of all rows and one of all differences.

    Examples
    --------
    >>> from bdl.study.catalogue import load
    >>> [table.label for table in layouts(load("hapt-nested"))]
    ['hapt-nested', 'hapt-nested-differences']
    """
    if protocol.paper.tables:
        return protocol.paper.tables
    title = protocol.title or protocol.name
    metrics = tuple(metric.name for metric in protocol.metrics)
    lines = [
        TableLine(name=row.name, cells=tuple(TableCell(of=row.name, metric=m) for m in metrics))
        for row in protocol.rows
    ]
    tables = [PaperTable(label=protocol.name, caption=title, columns=metrics, lines=tuple(lines))]
    if protocol.differences:
        lines = [
            TableLine(
                name=f"{first} minus {second}",
                cells=(
                    *(TableCell(of=first, minus=second, metric=m) for m in metrics),
                    TableCell(of=first, minus=second, folds=True),
                ),
            )
            for first, second in protocol.differences
        ]
        tables.append(
            PaperTable(
                label=f"{protocol.name}-differences",
                caption=f"{title}: paired differences",
                header="Difference",
                columns=(*metrics, "mAP, mean over folds"),
                lines=tuple(lines),
            )
        )
    return tuple(tables)


def fill(table: PaperTable, results: Results) -> FilledTable:
    """Read the values of every cell.

    Examples
    --------
    >>> from bdl.study.results import ScoreRecord
    >>> layout = PaperTable(label="t", caption="T", columns=("mAP",),
    ...                lines=(TableLine(name="BDL", cells=(TableCell(of="BDL", paper=0.7),)),))
    >>> print(markdown(fill(layout, Results((ScoreRecord("BDL", "tuned", "mAP", 0.65, seed=0),)))))
    **T**
    <BLANKLINE>
    | Method | mAP, ours | mAP, paper |
    |:--|--:|--:|
    | BDL | 0.650 | 0.700 |
    """

    def pair(cell: TableCell | None) -> tuple[CellValue, CellValue] | None:
        if cell is None:
            return None
        low, high = cell.interval or (None, None)
        form = FORMATS.get(cell.metric)
        paper = CellValue(cell.paper, cell.sd, low, high, cell.minus is not None, form)
        return results.cell(cell), paper

    cells = tuple(tuple(pair(cell) for cell in line.cells) for line in table.lines)
    return FilledTable(table, cells)


def written(protocol: Protocol, results: Results) -> dict[str, str]:
    """All tables of a study as one text per format: ``md``, ``csv``, ``tex``."""
    tables = [fill(table, results) for table in layouts(protocol)]
    notes = []
    if protocol.regime == "validation":
        notes.append(
            "Checkpoint and decoder were selected on the folds that are reported, as in the "
            "development studies of the paper; for `cross-fitted` the decoder of each fold was "
            "selected on the other folds."
        )
    notes += [f"Failed: {text}." for text in results.failed]
    lines = [comma_separated(table).splitlines() for table in tables]
    return {
        "md": "\n\n".join([*(markdown(table) for table in tables), *notes]) + "\n",
        "csv": "\n".join([lines[0][0], *(line for rows in lines for line in rows[1:])]) + "\n",
        "tex": "\n\n".join(latex(table) for table in tables) + "\n",
    }


def markdown(filled: FilledTable) -> str:
    """The table in Markdown."""
    heads, lines = _texts(filled)
    head = [filled.table.header, *(f"{name}, {whose}" for name, whose in heads)]
    rule = "|:--|" + "--:|" * len(heads)
    rows = [f"**{filled.table.caption}**", "", f"| {' | '.join(head)} |", rule]
    return "\n".join([*rows, *(f"| {' | '.join(line)} |" for line in lines)])


def latex(filled: FilledTable) -> str:
    """The table in LaTeX, for booktabs."""
    heads, lines = _texts(filled)
    groups: list[tuple[str, int]] = []
    for name, _ in heads:
        if groups and groups[-1][0] == name:
            groups[-1] = (name, groups[-1][1] + 1)
        else:
            groups.append((name, 1))
    top = " & ".join(["", *(rf"\multicolumn{{{n}}}{{c}}{{{_tex(name)}}}" for name, n in groups)])
    rules, at = [], 2
    for _, n in groups:
        rules.append(rf"\cmidrule(lr){{{at}-{at + n - 1}}}")
        at += n
    second = " & ".join([_tex(filled.table.header), *(whose for _, whose in heads)])
    body = [" & ".join(_tex(text) for text in line) + r" \\" for line in lines]
    return "\n".join(
        [
            rf"% {filled.table.caption}",
            rf"\begin{{tabular}}{{l{'r' * len(heads)}}}",
            r"\toprule",
            rf"{top} \\",
            "".join(rules),
            rf"{second} \\",
            r"\midrule",
            *body,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def comma_separated(filled: FilledTable) -> str:
    """The table as CSV, one line per cell, with full precision."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = ("value", "sd", "low", "high")
    writer.writerow(
        [
            "table",
            "line",
            "column",
            *(f"{whose}_{name}" for whose in ("ours", "paper") for name in names),
        ]
    )
    for line, cells in zip(filled.table.lines, filled.cells, strict=True):
        for column, pair in zip(filled.table.columns, cells, strict=True):
            if pair is not None:
                values = [getattr(value, name) for value in pair for name in names]
                texts = ["" if value is None else repr(value) for value in values]
                writer.writerow([filled.table.label, line.name, column, *texts])
    return out.getvalue()


def _texts(filled: FilledTable) -> tuple[list[tuple[str, str]], list[list[str]]]:
    """Column heads as (name, ours or paper), and the texts of the lines."""
    heads: list[tuple[str, str]] = []
    for column, name in enumerate(filled.table.columns):
        heads.append((name, "ours"))
        if filled.compared(column):
            heads.append((name, "paper"))
    lines = []
    for line, cells in zip(filled.table.lines, filled.cells, strict=True):
        texts = [line.name]
        for column, pair in enumerate(cells):
            texts.append("" if pair is None else pair[0].text(filled.table.digits))
            if filled.compared(column):
                texts.append("" if pair is None else pair[1].text(filled.table.digits))
        lines.append(texts)
    return heads, lines


def _tex(text: str) -> str:
    for plain, safe in (("&", r"\&"), ("%", r"\%"), ("_", r"\_"), ("#", r"\#")):
        text = text.replace(plain, safe)
    return text.replace(" ± ", r" $\pm$ ").replace("–", "--").replace("-0.", "$-$0.")
