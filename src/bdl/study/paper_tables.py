"""Layouts of tables: which score of a study is in which cell, and the value of the paper there.

A cell names a row of the study, a stage (which decoder: ``tuned``, ``default``, ``cross-fitted``,
or a named one), a metric and, unless it is the mean over seeds of the pooled score, a seed or a
fold. With ``minus`` it is a paired difference.
"""

from __future__ import annotations

from pydantic import Field

from bdl.config import Value


class TableCell(Value):
    """One cell: which of our scores, and the value of the paper.

    Parameters
    ----------
    of
        Row of the study.
    minus
        Another row, for a paired difference.
    metric, stage
        Metric and decoder stage.
    seed, fold
        One seed or fold; None for the mean over seeds of the pooled score.
    folds
        Whether the cell is the mean over folds instead of the pooled score.
    paper
        Value of the paper.
    sd
        Its standard deviation over seeds.
    interval
        Its confidence interval.

    Examples
    --------
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
    """One line of a table: its name and one cell per column (None leaves it empty).

    Examples
    --------
    >>> TableLine(name="BDL-Hard", cells=(TableCell(of="BDL-Hard", paper=0.705),)).name
    'BDL-Hard'
    """

    name: str
    cells: tuple[TableCell | None, ...]


class PaperTable(Value):
    """A table of the paper.

    Parameters
    ----------
    label, caption
        Label and caption.
    header
        Heading of the first column.
    columns, lines
        Names of the columns, and lines.
    digits
        Digits after the decimal point.

    Examples
    --------
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
    """What the paper reports: its tables, and a note on what it leaves open.

    Examples
    --------
    >>> Paper().tables
    ()
    """

    tables: tuple[PaperTable, ...] = ()
    note: str = ""
