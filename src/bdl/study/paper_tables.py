"""Layouts of tables: which figure of a study stands in which cell, and what the paper has there.

A cell names a row of the study, a stage (which decoder: ``tuned``, ``default``, ``fixed``, or a
named one), a metric and, where it is not the mean over seeds of the pooled score, a seed or
a fold. With ``minus`` it is a paired difference.
"""

from __future__ import annotations

from pydantic import Field

from bdl.config import Value


class TableCell(Value):
    """One figure, ours and the paper's.

    >>> TableCell(of="BDL-Hard", minus="BCE-Hard", paper=0.119, interval=(0.108, 0.130)).metric
    'mAP'
    """

    of: str
    minus: str | None = None
    metric: str = "mAP"
    stage: str = "tuned"
    seed: int | None = None
    fold: int | None = None
    folds: bool = False
    paper: float | None = None
    sd: float | None = None
    interval: tuple[float, float] | None = None


class TableLine(Value):
    """One line of a table: its name and a cell a column (None leaves it empty).

    >>> TableLine(name="BDL-Hard", cells=(TableCell(of="BDL-Hard", paper=0.705),)).name
    'BDL-Hard'
    """

    name: str
    cells: tuple[TableCell | None, ...]


class PaperTable(Value):
    """A table of the paper: label, caption, the head of the first column, columns and lines.

    >>> PaperTable(label="a", caption="A", columns=("mAP",), lines=()).header
    'Method'
    """

    label: str
    caption: str
    header: str = "Method"
    columns: tuple[str, ...]
    lines: tuple[TableLine, ...]
    digits: int = Field(3, ge=0, le=8)


class Paper(Value):
    """What the paper reports: its tables, and a word on what it leaves open.

    >>> Paper().tables
    ()
    """

    tables: tuple[PaperTable, ...] = ()
    note: str = ""
