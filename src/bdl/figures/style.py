"""Style of the figures: a light and a dark theme, sizes for print, and three file formats."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bdl.errors import require

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PAGE = 7.1  # width of a page of text, in inches
# By suffix; without these fields, files do not depend on the date and the version of matplotlib.
_METADATA: dict[str, dict[str, Any]] = {
    "svg": {"Date": None},
    "pdf": {"CreationDate": None},
    "png": {"Software": None},
}


@dataclass(frozen=True)
class Theme:
    """Colours of a figure."""

    background: str
    ink: str  # text
    muted: str  # secondary text
    grid: str
    shade: str  # intervals
    state: str  # segmentation
    bdl: str  # the first row that predicts events
    events: tuple[str, ...]  # event types, in order

    @property
    def rows(self) -> tuple[str, ...]:
        """Colours of rows that predict events, in order."""
        return (self.bdl, *reversed(self.events))


LIGHT = Theme(
    background="#ffffff",
    ink="#1b2733",
    muted="#5b6b78",
    grid="#e3e9ee",
    shade="#e9edf2",
    state="#b3430f",
    bdl="#7a3e9d",
    events=("#17713f", "#0b5cad", "#946200", "#00707a"),
)
DARK = Theme(
    background="#11181f",
    ink="#e8edf1",
    muted="#a3b3bf",
    grid="#2a3640",
    shade="#212c36",
    state="#ff9b6a",
    bdl="#c79bf2",
    events=("#5fcf8b", "#6db3ff", "#e3b341", "#4fd0d9"),
)


@contextmanager
def themed(theme: Theme) -> Iterator[None]:
    """Draw in a theme while the block runs."""
    settings = {
        "font.family": "sans-serif",
        "font.sans-serif": ["Helvetica", "Arial", "Liberation Sans", "DejaVu Sans"],
        "font.size": 8.0,
        "axes.titlesize": 8.5,
        "axes.titleweight": "bold",
        "axes.titlelocation": "left",
        "axes.labelsize": 8.0,
        "xtick.labelsize": 7.5,
        "ytick.labelsize": 7.5,
        "legend.fontsize": 7.5,
        "legend.frameon": False,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.linewidth": 0.7,
        "axes.axisbelow": True,
        "lines.linewidth": 1.3,
        "svg.hashsalt": "bdl",
        "pdf.fonttype": 42,
        "figure.facecolor": theme.background,
        "savefig.facecolor": theme.background,
        "axes.facecolor": theme.background,
        "axes.edgecolor": theme.muted,
        "axes.labelcolor": theme.ink,
        "axes.titlecolor": theme.ink,
        "text.color": theme.ink,
        "xtick.color": theme.muted,
        "ytick.color": theme.muted,
        "xtick.labelcolor": theme.ink,
        "ytick.labelcolor": theme.ink,
        "grid.color": theme.grid,
        "grid.linewidth": 0.7,
    }
    with require("matplotlib", "figures").rc_context(settings):
        yield


def new_figure(height: float) -> Figure:
    """An empty figure as wide as a page, of a height in inches; its parts do not overlap."""
    figure: Figure = require("matplotlib.figure", "figures").Figure(
        figsize=(PAGE, height), layout="constrained"
    )
    return figure


def panel(axes: Axes, letter: str, title: str) -> None:
    """Title of a panel of a figure."""
    axes.set_title(f"{letter}  {title}" if letter else title)


def save(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure in every format."""
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for suffix, metadata in _METADATA.items():
        file = folder / f"{name}.{suffix}"
        figure.savefig(file, dpi=300, metadata=metadata)
        files.append(file)
    return files
