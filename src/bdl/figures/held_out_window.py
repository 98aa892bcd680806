"""A held-out window: the annotated interval, evidence of transitions and density at its ends."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bdl.figures import tracks
from bdl.figures.style import Theme, new_figure, panel
from bdl.figures.window import Window

if TYPE_CHECKING:
    from matplotlib.figure import Figure


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
