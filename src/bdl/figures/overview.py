"""Figures of a window: the overview with scores, and a held-out window of a study.

The overview shows one interval with its two scored events, occupancy or event times, and the gain.
The held-out window shows the annotated interval, evidence of transitions and density at its ends.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from bdl.figures import tracks
from bdl.figures.run_scores import ScorePair, curves_of
from bdl.figures.style import Theme, new_figure, panel
from bdl.figures.window import Window
from bdl.study.catalogue import load
from bdl.study.cell_values import cell_value
from bdl.study.paper_tables import TableCell
from bdl.study.study_reader import StudyReader

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def draw_overview(window: Window, gains: Sequence[ScorePair], source: str, theme: Theme) -> Figure:
    """Three tracks of a window at the left, bars of the gains and their source at the right."""
    figure = new_figure(2.9)
    grid = figure.add_gridspec(3, 2, width_ratios=(2.6, 1.0))
    signal = figure.add_subplot(grid[0, 0])
    state, events = (figure.add_subplot(grid[row, 0], sharex=signal) for row in (1, 2))
    for axes in (signal, state, events):
        tracks.mark_events(axes, window, theme)
    for axes in (signal, state):
        axes.tick_params(axis="x", length=0, labelbottom=False)
    tracks.draw_signal(signal, window, theme)
    schematic = " (schematic)" if window.schematic else ""
    panel(signal, "A", "One interval, two scored events")
    if trained_row := window.row_of_kind("state"):
        tracks.draw_occupancy(state, window, trained_row[1], theme)
        tracks.mark_crossings(state, window, trained_row[1], theme)
        panel(state, "B", f"Segmentation learns the state and derives its ends{schematic}")
        state.set_ylabel("P(inside)")
    if trained_row := window.row_of_kind("events"):
        tracks.draw_output(events, window, trained_row[1], theme)
        tracks.mark_peaks(events, window, trained_row[1], theme)
        events.set_yticks([])
        events.set_ylabel("density")
        panel(events, "C", f"BDL predicts the scored times{schematic}")
    tracks.time_axis(events, window)
    _gains(figure.add_subplot(grid[:, 1]), gains, source, theme)
    return figure


def draw_window(window: Window, theme: Theme) -> Figure:
    """The signal and one track per kind of output."""
    outputs = [output for kind in ("state", "events") if (output := window.row_of_kind(kind))]
    figure = new_figure(1.15 * (1 + len(outputs)) + 0.35)
    axes = figure.subplots(1 + len(outputs), 1, sharex=True)
    for axis in axes:
        tracks.mark_events(axis, window, theme)
    tracks.draw_signal(axes[0], window, theme)
    for place, (name, row) in enumerate(outputs, start=1):
        tracks.draw_output(axes[place], window, row, theme)
        evidence = "transition evidence" if row.kind == "state" else "expected events per bin"
        schematic = ", schematic" if window.schematic else ""
        panel(axes[place], "", f"{name}: {evidence}{schematic}")
    tracks.name_events(axes[0], window, theme)
    tracks.time_axis(axes[-1], window)
    for axis in axes[:-1]:
        axis.tick_params(axis="x", length=0)
    return figure


def run_gains(study: StudyReader) -> tuple[ScorePair, ...]:
    """AP at the strictest tolerance, and mAP, of the first rows of both kinds."""
    curves = curves_of(study)
    state, events = (
        next((c for c in curves if (c.kind == "state") == wanted), None) for wanted in (True, False)
    )
    if state is None or events is None:
        return ()
    seconds = events.tolerances[0]
    strict = f"AP, {seconds / 60:g} min" if seconds >= 60 else f"AP, {seconds:g} s"
    scores = [cell_value(study.results, TableCell(of=row.name)).value for row in (state, events)]
    return (
        ScorePair(strict, float(state.mean[0]), float(events.mean[0])),
        ScorePair("mAP", *(np.nan if score is None else score for score in scores)),
    )


def paper_gains() -> tuple[ScorePair, ...]:
    """The same scores of the paper's nested sleep study.

    Examples
    --------
    >>> paper_gains()[1]
    ScorePair(name='mAP', state=0.586, events=0.705)
    """
    tables = {table.label: table for table in load("sleep-nested").paper.tables}
    events, state = (
        [float((cell.paper or "").split()[0]) for cell in line.cells if cell is not None]
        for line in tables["grouped-sleep-segmentation"].lines[:2]
    )
    return ScorePair("AP, 1 min", state[1], events[1]), ScorePair("mAP", state[0], events[0])


def _gains(axes: Axes, gains: Sequence[ScorePair], source: str, theme: Theme) -> None:
    for place, gain in enumerate(gains):
        pairs = ((-0.2, gain.state, theme.state), (0.2, gain.events, theme.rows[0]))
        for shift, value, colour in pairs:
            axes.bar(place + shift, value, 0.36, color=colour)
            axes.text(place + shift, value + 0.012, f"{value:.3f}", ha="center", fontsize=7.5)
        if gain.state > 0 and gain.events / gain.state >= 1.5:
            top = max(gain.state, gain.events) + 0.075
            text = f"{gain.events / gain.state:.1f}×"
            axes.text(place, top, text, ha="center", fontsize=9, fontweight="bold")
    axes.bar(0, 0, color=theme.state, label="segmentation")
    axes.bar(0, 0, color=theme.rows[0], label="BDL")
    axes.set_xticks(range(len(gains)), [gain.name for gain in gains])
    axes.tick_params(axis="x", length=0)
    largest = max((max(gain.state, gain.events) for gain in gains), default=1.0)
    axes.set_ylim(0, 1.32 * largest)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.legend(loc="upper left", ncols=2, handlelength=0.9, columnspacing=1.0)
    axes.set_xlabel(source, fontsize=7, color=theme.muted)
    panel(axes, "D", "Event score")
