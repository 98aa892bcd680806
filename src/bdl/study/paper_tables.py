"""Layouts of tables: which score of a study is in which cell, and the paper's figure there.

A cell names a row of the study, a stage (which decoder: ``tuned``, ``default``, ``cross-fitted``,
or a named one), a metric and, unless it is the mean over seeds of the pooled score, a seed or a
fold. With ``minus`` it is a paired difference, with ``over`` a ratio. The paper's figure is a text,
printed as the paper writes it.
"""

from __future__ import annotations

import re
from typing import Literal

from pydantic import field_validator

from bdl.config import Value
from bdl.study.stages import TUNED

# Deviations from the paper that several presets share, by the name that their notes use.
COMMON_NOTES = {
    "fold-seed": "The seed of the four folds is not published; 0 is used.",
    "seeds": "The seeds of the models are not published; those of the protocol are used.",
    "clip": (
        "The gradient clip of 0.1 is published for the held-out and grouped studies only; it is "
        "used here too."
    ),
    "loss": (
        "The loss is the mean over bins, event types and windows where the paper writes a sum. "
        "Adam follows the same steps for both, except for the clip, which limits a mean far less "
        "often than a sum."
    ),
    "crop-edges": (
        "Smoothed targets carry one unit per event at the edges of a window too; those of the "
        "paper's runs lost mass there."
    ),
}


class TableCell(Value):
    """One cell: a score of the study, and the figure of the paper.

    Parameters
    ----------
    of
        Row of the study; of several rows the one with the highest score.
    minus
        Another row, for a paired difference.
    over
        Another row, for a ratio; with ``minus``, of the gains over the row that it names.
    metric, stage
        Metric and decoder stage.
    seed, fold
        One seed or fold; None for the mean over seeds of the pooled score.
    folds
        What is reported of the folds instead of the pooled score: the ``mean``, the ``lowest`` or
        ``highest`` of them, or in how many the difference is ``positive``.
    paper
        Figure of the paper, as it writes it.

    Examples
    --------
    >>> TableCell(of="BDL-Hard", minus="BCE-Hard", paper="+0.0034 [-0.0031, 0.0112]").digits
    4
    """

    of: str | tuple[str, ...]
    minus: str | None = None
    over: str | None = None
    metric: str = "mAP"
    stage: str = TUNED
    seed: int | None = None
    fold: int | None = None
    folds: Literal["mean", "lowest", "highest", "positive"] | None = None
    paper: str | None = None

    @property
    def rows(self) -> tuple[str, ...]:
        """The rows of which the cell shows one."""
        return (self.of,) if isinstance(self.of, str) else self.of

    @property
    def digits(self) -> int | None:
        """Digits after the decimal point of the paper's figure; None without one."""
        number = re.search(r"\d\.(\d+)", self.paper or "")
        return None if number is None else len(number[1])


class TableLine(Value):
    """One line of a table: its name and one cell per column (None leaves it empty).

    Examples
    --------
    >>> TableLine(name="BDL-Hard", cells=(TableCell(of="BDL-Hard", paper="0.705"),)).name
    'BDL-Hard'
    """

    name: str
    cells: tuple[TableCell | None, ...]


class PaperTable(Value):
    """A table of the paper: label, caption, heading of the first column, columns and lines.

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


class Paper(Value):
    """What the paper reports: its tables, and notes on what it leaves open.

    Parameters
    ----------
    tables
        The tables.
    notes
        Sentences, or names of `COMMON_NOTES`, which are replaced by their sentences.

    Examples
    --------
    >>> Paper(notes=("fold-seed", "Mine too.")).note
    'The seed of the four folds is not published; 0 is used. Mine too.'
    """

    tables: tuple[PaperTable, ...] = ()
    notes: tuple[str, ...] = ()

    @field_validator("notes")
    @classmethod
    def _sentences(cls, notes: tuple[str, ...]) -> tuple[str, ...]:
        for note in notes:
            if " " not in note and note not in COMMON_NOTES:
                raise ValueError(f"a sentence or one of {', '.join(COMMON_NOTES)} expected")
        return tuple(COMMON_NOTES.get(note, note) for note in notes)

    @property
    def note(self) -> str:
        """All notes as one text."""
        return " ".join(self.notes)
