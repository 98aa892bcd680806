"""All figures of the paper, drawn by one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from bdl.figures.overview import draw_overview, draw_window, paper_gains, run_gains
from bdl.figures.run_scores import backbones_of, curves_of
from bdl.figures.simulated_window import simulated_window
from bdl.figures.study_window import study_window
from bdl.figures.style import DARK, LIGHT, Theme, save, themed
from bdl.figures.target_pipeline import draw_targets
from bdl.figures.tolerance_curves import draw_tolerances
from bdl.study.study_reader import StudyReader

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ThemeName = Literal["light", "dark", "both"]


@dataclass(frozen=True)
class DrawnFigures:
    """Files that were written, and notes on what was left out or is simulated."""

    files: tuple[Path, ...]
    notes: tuple[str, ...]


def draw_figures(
    folder: Path | str,
    runs: Sequence[str | Path] = (),
    *,
    data: Path | None = None,
    trust: bool = False,
    theme: ThemeName = "both",
    seed: int = 0,
) -> DrawnFigures:
    """Draw the figures of the paper as SVG, PDF and PNG files.

    ``targets`` shows a simulated night, and without a study so does ``overview``. ``tolerance`` and
    ``window`` need a finished study. The first run that has what a figure shows is used for it, and
    the first with several encoders for the panel of backbones.

    Parameters
    ----------
    folder
        Where to write. Files of the dark theme end in ``-dark``.
    runs
        Run directories of finished studies.
    data, trust
        Folder of the data set if it has moved since the studies ran, and whether to open a pickle.
    theme
        ``light``, ``dark`` or ``both``.
    seed
        Seed of the simulated night.

    Returns
    -------
    DrawnFigures
        Files and notes.
    """
    studies = [StudyReader(run) for run in runs]
    notes = []
    night = simulated_window(seed)
    window, gains, source = night, paper_gains(), "the paper's nested sleep study"
    with_both_kinds = next((study for study in studies if len(_kinds(study)) == 2), None)
    study = with_both_kinds or next(iter(studies), None)
    real = None if study is None else study_window(study, data, trust=trust)
    if with_both_kinds is not None and real is not None:
        window, gains, source = real, run_gains(with_both_kinds), _source(with_both_kinds)
    else:
        notes.append("overview: a simulated night with schematic outputs; a RUN gives real ones")
    figures: dict[str, Callable[[Theme], Figure]] = {
        "overview": lambda theme: draw_overview(window, gains, source, theme),
        "targets": lambda theme: draw_targets(night, theme),
    }
    if real is None:
        notes.append("tolerance, window: need the run directory of a finished study")
    else:
        curves = curves_of(studies[0])
        backbones = next((panel for s in studies if (panel := backbones_of(s))), [])
        figures["tolerance"] = lambda theme: draw_tolerances(curves, backbones, theme)
        figures["window"] = lambda theme: draw_window(real, theme)
        if not backbones:
            notes.append("tolerance: no run has several encoders with both kinds of rows")
    files: list[Path] = []
    for name, draw in figures.items():
        for colours, kind, suffix in ((LIGHT, "light", ""), (DARK, "dark", "-dark")):
            if theme in (kind, "both"):
                with themed(colours):
                    files += save(draw(colours), Path(folder), name + suffix)
    return DrawnFigures(tuple(files), tuple(notes))


def _kinds(study: StudyReader) -> set[str]:
    """Kinds of density that the rows of a finished study have."""
    rows = study.outputs.rows
    return {row.objective.density_kind for row in study.protocol.rows if row.name in rows}


def _source(study: StudyReader) -> str:
    """Source of the scores of a study, as the caption of a figure."""
    return f"{study.protocol.name}{', simulated data' if study.results.data else ''}"
