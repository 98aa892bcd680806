"""Tracks of a window, shared by several figures: events, shaded intervals, signal and outputs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bdl.arrays import Floats
from bdl.figures.style import Theme
from bdl.figures.window import RowOutput, Window

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def event_colours(window: Window, theme: Theme) -> dict[str, str]:
    """Colour of each event type."""
    return {event: theme.events[i % len(theme.events)] for i, event in enumerate(window.events)}


def mark_events(axes: Axes, window: Window, theme: Theme) -> None:
    """Shade the annotated intervals and draw the annotated events as dashed lines."""
    for start, end in window.intervals:
        low, high = max(start, window.first), min(end, window.last)
        axes.axvspan(*_axis(window, low, high), color=theme.shade, lw=0, zorder=0)
    for event, colour in event_colours(window, theme).items():
        for time in _axis(window, window.events[event]):
            axes.axvline(time, color=colour, ls=(0, (4, 2)), lw=1.0, zorder=3)
    axes.set_xlim(*_axis(window, window.first, window.last))


def draw_signal(axes: Axes, window: Window, theme: Theme) -> None:
    """The first channel, and a second one below it, each scaled to its own range."""
    time = _axis(window, window.signal_time)
    for place, (channel, values) in enumerate(window.signal.items()):
        low, high = np.quantile(values, (0.01, 0.99)) if len(values) else (0.0, 1.0)
        scaled = np.clip((values - low) / ((high - low) or 1.0), -0.1, 1.1)
        axes.plot(time, scaled - 1.35 * place, color=theme.ink, lw=0.6)
        axes.text(
            -0.012, 0.5 - 1.35 * place, channel, transform=axes.get_yaxis_transform(),
            ha="right", va="center", fontsize=7.5, color=theme.muted,
        )  # fmt: skip
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)


def draw_output(axes: Axes, window: Window, row: RowOutput, theme: Theme) -> None:
    """The curve of each event type, filled."""
    time = _axis(window, row.time)
    for event, colour in event_colours(window, theme).items():
        if event in row.values:
            axes.fill_between(time, 0, row.values[event], color=colour, alpha=0.22, lw=0)
            axes.plot(time, row.values[event], color=colour, lw=1.2)
    largest = max((float(np.max(v, initial=0.0)) for v in row.values.values()), default=0.0)
    axes.set_ylim(0, 1.3 * (largest or 1.0))


def draw_occupancy(axes: Axes, window: Window, row: RowOutput, theme: Theme) -> None:
    """The state probability of a segmentation."""
    axes.plot(_axis(window, row.time), row.occupancy, color=theme.state, lw=1.2)
    axes.set_ylim(0, 1.08)
    axes.set_yticks([0, 1])


def mark_crossings(axes: Axes, window: Window, row: RowOutput, theme: Theme) -> None:
    """Triangles where the state probability crosses one half: the ends that it implies."""
    inside = row.occupancy >= 0.5
    places = np.flatnonzero(inside[1:] != inside[:-1])
    times = 0.5 * (row.time[places] + row.time[places + 1])
    axes.axhline(0.5, color=theme.muted, lw=0.6, ls=":")
    axes.plot(_axis(window, times), np.full(len(times), 0.5), "v", color=theme.state, ms=4.5)


def mark_peaks(axes: Axes, window: Window, row: RowOutput, theme: Theme) -> None:
    """A triangle and the name of the event type at the highest point of each curve."""
    for event, colour in event_colours(window, theme).items():
        if event in row.values and len(row.time):
            top = int(np.argmax(row.values[event]))
            place = _axis(window, row.time[top])[0]
            height = row.values[event][top]
            axes.plot(place, 1.1 * height, "v", color=colour, ms=4.5, clip_on=False)
            right = row.time[top] < 0.5 * (window.first + window.last)
            axes.annotate(
                event, (place, 0.8 * height), xytext=(8 if right else -8, 0),
                textcoords="offset points", ha="left" if right else "right",
                color=colour, fontsize=7.5,
            )  # fmt: skip


def name_events(axes: Axes, window: Window, theme: Theme) -> None:
    """Write the event types above their first lines."""
    for event, colour in event_colours(window, theme).items():
        if len(window.events[event]):
            place = _axis(window, window.events[event][:1])[0]
            axes.text(
                place, 1.02, event, transform=axes.get_xaxis_transform(),
                color=colour, ha="center", va="bottom", fontsize=7.5,
            )  # fmt: skip


def time_axis(axes: Axes, window: Window) -> None:
    """Label the time axis, which begins with the window."""
    where = "a simulated night" if window.schematic else f"recording {window.recording}"
    axes.set_xlabel(f"time ({window.unit[1]}), {where}")


def _axis(window: Window, *times: float | Floats) -> Floats:
    """Times on the axis of the window."""
    values: Floats = (np.array(times, dtype=float).squeeze() - window.first) / window.unit[0]
    return np.atleast_1d(values)
