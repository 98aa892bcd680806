"""Tables of a study, our values next to those of the paper: Markdown, CSV, LaTeX (booktabs).

Each column of the paper's layout becomes ``ours`` and, if the paper has a value in it, ``paper``.
Spreads are over seeds, brackets are 95 % bootstrap confidence intervals.
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from itertools import accumulate, groupby, pairwise

from bdl.study.cell_values import CellValue, cell_value
from bdl.study.paper_tables import PaperTable, TableCell, TableLine
from bdl.study.protocol import Protocol
from bdl.study.results import Results

# Digits after the decimal point where the paper has no figure.
DIGITS = 3
DEVELOPMENT = (
    "Checkpoint and decoder were selected on the folds that are reported, as in the development "
    "studies of the paper; for `cross-fitted` the decoder of each fold was selected on the other "
    "folds."
)


@dataclass(frozen=True)
class FilledCell:
    """A cell with its value and text, and the text of the paper."""

    ours: CellValue
    text: str
    paper: str | None


@dataclass(frozen=True)
class FilledTable:
    """A table with its cells by line and column (None: no cell)."""

    table: PaperTable
    cells: tuple[tuple[FilledCell | None, ...], ...]

    def compared(self, column: int) -> bool:
        """Whether the paper has any figure in a column."""
        cells = [line[column] for line in self.cells]
        return any(cell is not None and cell.paper is not None for cell in cells)


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
                    TableCell(of=first, minus=second, folds="mean"),
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
    """Read the values of every cell; ours have as many digits as the paper's figure in the column.

    Examples
    --------
    >>> from bdl.study.results import ScoreRecord
    >>> layout = PaperTable(label="t", caption="T", columns=("mAP",),
    ...                lines=(TableLine(name="BDL", cells=(TableCell(of="BDL", paper="0.70"),)),))
    >>> print(markdown(fill(layout, Results((ScoreRecord("BDL", "tuned", "mAP", 0.65, seed=0),)))))
    **T**
    <BLANKLINE>
    | Method | mAP, ours | mAP, paper |
    |:--|--:|--:|
    | BDL | 0.65 | 0.70 |
    """
    columns = zip(*(line.cells for line in table.lines), strict=True)
    given_digits = [[cell.digits for cell in column if cell and cell.digits] for column in columns]

    def filled(cell: TableCell | None, column: int) -> FilledCell | None:
        if cell is None:
            return None
        ours = cell_value(results, cell)
        digits = cell.digits or max(given_digits[column], default=DIGITS) or DIGITS
        return FilledCell(ours, ours.text(digits), cell.paper)

    return FilledTable(
        table,
        tuple(
            tuple(filled(cell, column) for column, cell in enumerate(line.cells))
            for line in table.lines
        ),
    )


def notes_of(protocol: Protocol, results: Results) -> list[str]:
    """Notes below a table: the regime, details that the paper does not give, what failed."""
    development = [] if protocol.regime.held_out else [DEVELOPMENT]
    failed = [f"Failed: {text}." for text in results.failed]
    notes = [protocol.notes] if protocol.notes else []
    return [*development, *protocol.paper.notes, *notes, *failed]


def written(protocol: Protocol, results: Results) -> dict[str, str]:
    """All tables of a study as one text per format: ``md``, ``csv``, ``tex``.

    The first line says whether the data are simulated, and the notes are below every table.
    """
    tables = [fill(table, results) for table in layouts(protocol)]
    notes = notes_of(protocol, results)
    below = [f"Notes. {' '.join(notes)}"] if notes else []
    comments = "".join(f"\n% {note}" for note in notes)
    lines = [comma_separated(table, results.data).splitlines() for table in tables]
    parts = [part for table in tables for part in (markdown(table), *below)]
    tex = [latex(table) + comments for table in tables]
    return {
        "md": "\n\n".join([*([results.data] if results.data else []), *parts]) + "\n",
        "csv": "\n".join([lines[0][0], *(line for rows in lines for line in rows[1:])]) + "\n",
        "tex": "\n\n".join([*([f"% {results.data}"] if results.data else []), *tex]) + "\n",
    }


def markdown(filled: FilledTable) -> str:
    """The table in Markdown."""
    heads, lines = _texts(filled)
    head = [filled.table.header, *(f"{name}, {origin}" for name, origin in heads)]
    rule = "|:--|" + "--:|" * len(heads)
    rows = [f"**{filled.table.caption}**", "", f"| {' | '.join(head)} |", rule]
    return "\n".join([*rows, *(f"| {' | '.join(line)} |" for line in lines)])


def latex(filled: FilledTable) -> str:
    """The table in LaTeX, for booktabs."""
    heads, lines = _texts(filled)
    groups = [(name, len([*several])) for name, several in groupby(name for name, _ in heads)]
    ends = [*accumulate((n for _, n in groups), initial=1)]
    rules = "".join(rf"\cmidrule(lr){{{low + 1}-{high}}}" for low, high in pairwise(ends))
    top = ["", *(rf"\multicolumn{{{n}}}{{c}}{{{_tex(name)}}}" for name, n in groups)]
    second = [filled.table.header, *(origin for _, origin in heads)]
    return "\n".join(
        [
            rf"% {filled.table.caption}",
            rf"\begin{{tabular}}{{l{'r' * len(heads)}}}",
            r"\toprule",
            " & ".join(top) + r" \\",
            rules,
            " & ".join(map(_tex, second)) + r" \\",
            r"\midrule",
            *(" & ".join(map(_tex, line)) + r" \\" for line in lines),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def comma_separated(filled: FilledTable, data: str = "") -> str:
    """The table as CSV, one line per cell: our values in full, the paper's as written."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    names = ("value", "sd", "low", "high")
    writer.writerow(
        ["table", "line", "column", *(f"ours_{name}" for name in names), "paper", "data"]
    )
    for line, cells in zip(filled.table.lines, filled.cells, strict=True):
        for column, cell in zip(filled.table.columns, cells, strict=True):
            if cell is not None:
                values = [getattr(cell.ours, name) for name in names]
                texts = ["" if value is None else repr(value) for value in values]
                head = [filled.table.label, line.name, column]
                writer.writerow([*head, *texts, cell.paper or "", data])
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
        for column, cell in enumerate(cells):
            texts.append("" if cell is None else cell.text)
            if filled.compared(column):
                texts.append("" if cell is None else cell.paper or "–")
        lines.append(texts)
    return heads, lines


def _tex(text: str) -> str:
    for plain, safe in (("&", r"\&"), ("%", r"\%"), ("_", r"\_"), ("#", r"\#")):
        text = text.replace(plain, safe)
    for plain, safe in ((" ± ", r" $\pm$ "), ("×", r"$\times$"), ("–", "--"), ("-0.", "$-$0.")):
        text = text.replace(plain, safe)
    return text
