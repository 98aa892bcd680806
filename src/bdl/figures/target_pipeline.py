"""The target pipeline: an annotation, its kernel, sums over bins, and the Poisson score of a bin.

All curves are computed by the code that trains: kernels, targets and the loss of the paper.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np

from bdl.datasets import Sleep
from bdl.figures.style import Theme, new_figure, panel
from bdl.figures.window import MINUTE, Window
from bdl.kernels import Gaussian, Kernel, Tolerance
from bdl.targets import Crop, event_targets

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

PERIOD = 5.0
HALF = 400  # samples on each side of the event


def draw_targets(window: Window, theme: Theme) -> Figure:
    """Four panels from left to right: annotation (the first event), kernels, bins, score."""
    settings = Sleep.settings
    kernels: dict[str, Kernel] = {
        "Gaussian": Gaussian(sigma=settings.sigma),
        "tolerance": Tolerance(tolerances=settings.tolerances),
    }
    figure = new_figure(1.95)
    axes = figure.subplots(1, 4, width_ratios=(0.95, 1.15, 1.15, 0.95))
    _annotation(axes[0], window, theme)
    _masses(axes[1], kernels, 1, 1e3, theme)
    axes[1].set_ylabel("mass per sample (10⁻³)")
    panel(axes[1], "B", "One unit per event")
    _masses(axes[2], kernels, settings.stride, 1e2, theme)
    axes[2].set_ylabel("mass per bin (10⁻²)")
    panel(axes[2], "C", "Sum over each bin")
    _score(axes[3], theme)
    return figure


def _masses(
    axes: Axes, kernels: Mapping[str, Kernel], stride: int, unit: float, theme: Theme
) -> None:
    """The mass of one event per bin, by kernel; the hard one is far above the axis."""
    crop = Crop(first=0, samples=2 * HALF, stride=stride)
    time = ((np.arange(crop.bins) + 0.5) * stride - HALF) * PERIOD / MINUTE
    top = 0.0
    for place, (name, kernel) in enumerate(kernels.items()):
        mass = unit * event_targets([np.array([HALF])], kernel, crop, period=PERIOD)[:, 0]
        colour = theme.rows[place]
        top = max(top, mass.max())
        axes.step(time, mass, where="mid", color=colour, lw=1.1)
        axes.fill_between(time, 0, mass, step="mid", color=colour, alpha=0.18, lw=0)
        # To the right of the curve at half of its height.
        half = int(np.flatnonzero(mass >= 0.5 * mass.max())[-1])
        axes.text(time[half] + 2, 0.56 * mass.max(), name, color=colour, fontsize=7.5)
    axes.set_ylim(0, 1.25 * top)
    axes.plot([0, 0], [0, 1.14 * top], color=theme.ink, lw=1.4)
    axes.plot(0, 1.15 * top, "^", color=theme.ink, ms=4)
    axes.text(2.5, 1.13 * top, "hard: 1", fontsize=7.5, va="center")
    axes.set_xlim(time[0], time[-1])
    axes.set_xlabel("minutes from the event")


def _annotation(axes: Axes, window: Window, theme: Theme) -> None:
    """The signal around the first event."""
    event, times = next((name, times) for name, times in window.events.items() if len(times))
    near = np.abs(window.signal_time - times[0]) <= 20 * MINUTE
    time = (window.signal_time[near] - times[0]) / MINUTE
    for place, (channel, values) in enumerate(window.signal.items()):
        part = values[near]
        low, high = (part.min(), part.max()) if len(part) else (0.0, 1.0)
        axes.plot(time, (part - low) / ((high - low) or 1.0) - 1.4 * place, color=theme.ink, lw=0.8)
        axes.text(0.02, 0.92 - 1.4 * place, channel, transform=axes.get_yaxis_transform(),
                  fontsize=7, color=theme.muted, va="bottom")  # fmt: skip
    axes.axvline(0, color=theme.events[0], ls=(0, (4, 2)), lw=1.1)
    axes.set_yticks([])
    axes.spines["left"].set_visible(False)
    axes.set_xlabel(f"minutes from {event}")
    panel(axes, "A", "Annotation")


def _score(axes: Axes, theme: Theme) -> None:
    """The score of a bin over its prediction: its minimum is the target."""
    rate = np.geomspace(0.003, 3, 300)
    for target, colour, place in (
        (0.0, theme.muted, (0.004, 0.09)),
        (0.08, theme.rows[0], (0.004, 0.52)),
        (1.0, theme.ink, (0.16, 2.15)),
    ):
        axes.plot(rate, rate - target * np.log(rate), color=colour)
        axes.text(*place, f"Y = {target:g}", color=colour, fontsize=7.5)
        if target:
            axes.plot(target, target - target * np.log(target), "o", color=colour, ms=3.5)
    axes.set_xscale("log")
    axes.set_xlim(rate[0], rate[-1])
    axes.set_ylim(0, 2.8)
    axes.set_xlabel("prediction λ")
    axes.set_ylabel("λ − Y log λ")
    panel(axes, "D", "Poisson score")
