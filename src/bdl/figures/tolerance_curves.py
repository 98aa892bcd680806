"""AP over tolerance: mean and standard deviation over seeds, and a comparison of backbones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import cycle
from typing import TYPE_CHECKING

import numpy as np

from bdl.figures.run_scores import RowCurve, ScorePair
from bdl.figures.style import Theme, new_figure, panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

STYLES = ("o-", "s--", "^:", "D-.")  # of rows that share a colour


def draw_tolerances(
    curves: Sequence[RowCurve], backbones: Sequence[ScorePair], theme: Theme
) -> Figure:
    """Curves over tolerance, the same at three tolerances, and backbones if there are any."""
    figure = new_figure(2.5)
    widths = (1.35, 1.15, 1.0) if backbones else (1.35, 1.15)
    axes = figure.subplots(1, len(widths), width_ratios=widths)
    colours = _row_colours(curves, theme)
    _curves(axes[0], curves, colours)
    _bars(axes[1], curves, colours)
    if backbones:
        _backbones(axes[2], backbones, theme)
    figure.legend(
        *axes[0].get_legend_handles_labels(), loc="outside upper left",
        ncols=min(4, len(curves)), handlelength=1.4,
    )  # fmt: skip
    return figure


def _row_colours(curves: Sequence[RowCurve], theme: Theme) -> dict[str, str]:
    """Colour of each row: rows that predict events differ, segmentation has its own."""
    of_events = cycle(theme.rows)
    return {
        curve.name: theme.state if curve.kind == "state" else next(of_events) for curve in curves
    }


def _earlier(curves: Sequence[RowCurve], curve: RowCurve, colours: Mapping[str, str]) -> int:
    """Number of earlier rows with the colour of this one."""
    same = [other.name for other in curves if colours[other.name] == colours[curve.name]]
    return same.index(curve.name)


def _unit(tolerances: Sequence[float]) -> tuple[float, str]:
    """Seconds per unit of a tolerance axis, and its name."""
    return (60.0, "min") if max(tolerances) >= 120 else (1.0, "s")


def _curves(axes: Axes, curves: Sequence[RowCurve], colours: Mapping[str, str]) -> None:
    tolerances = curves[0].tolerances
    seconds, unit = _unit(tolerances)
    for curve in curves:
        time, colour = np.array(curve.tolerances) / seconds, colours[curve.name]
        axes.fill_between(
            time, curve.mean - curve.sd, curve.mean + curve.sd, color=colour, alpha=0.2, lw=0
        )
        style = STYLES[_earlier(curves, curve, colours) % len(STYLES)]
        axes.plot(time, curve.mean, style, ms=2.8, color=colour, label=curve.name)
    axes.set_xscale("log")
    ticks = _spread([t / seconds for t in tolerances], 6)
    axes.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    axes.minorticks_off()
    axes.set_ylim(0, 1)
    axes.grid(axis="y")
    axes.set_xlabel(f"tolerance ({unit})")
    axes.set_ylabel("AP")
    panel(axes, "A", "AP by tolerance")


def _bars(axes: Axes, curves: Sequence[RowCurve], colours: Mapping[str, str]) -> None:
    """AP at the two strictest tolerances and the widest."""
    tolerances = curves[0].tolerances
    seconds, unit = _unit(tolerances)
    chosen = sorted({0, min(1, len(tolerances) - 1), len(tolerances) - 1})
    width = 0.8 / len(curves)
    for place, curve in enumerate(curves):
        x = np.arange(len(chosen)) + (place - (len(curves) - 1) / 2) * width
        axes.bar(
            x, curve.mean[chosen], 0.9 * width, yerr=curve.sd[chosen], color=colours[curve.name],
            alpha=1 / (1 + _earlier(curves, curve, colours) / 2),
            error_kw={"lw": 0.8, "capsize": 1.5, "ecolor": axes.xaxis.label.get_color()},
        )  # fmt: skip
    axes.set_xticks(range(len(chosen)), [f"{tolerances[i] / seconds:g} {unit}" for i in chosen])
    axes.tick_params(axis="x", length=0)
    axes.set_ylim(0, 1)
    axes.grid(axis="y")
    axes.set_xlabel("tolerance")
    panel(axes, "B", "Strict to broad")


def _backbones(axes: Axes, backbones: Sequence[ScorePair], theme: Theme) -> None:
    """Segmentation and the best row that predicts events, joined by a line per backbone."""
    places = np.arange(len(backbones))[::-1]
    for place, backbone in zip(places, backbones, strict=True):
        axes.plot(
            [backbone.state, backbone.events], [place] * 2, color=theme.muted, lw=1.2, zorder=1
        )
        axes.annotate(
            f"{backbone.events - backbone.state:+.3f}",
            ((backbone.state + backbone.events) / 2, place), xytext=(0, 5),
            textcoords="offset points", ha="center", fontsize=7, color=theme.ink,
        )  # fmt: skip
    for values, colour, name in (
        ([b.state for b in backbones], theme.state, "segmentation"),
        ([b.events for b in backbones], theme.rows[0], "BDL"),
    ):
        axes.plot(values, places, "o", color=colour, ms=5, zorder=2, label=name)
    axes.set_yticks(places, [backbone.name for backbone in backbones])
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(-0.6, len(backbones) - 0.3)
    axes.margins(x=0.18)
    axes.locator_params(axis="x", nbins=4)
    axes.grid(axis="x")
    axes.set_xlabel("mAP")
    panel(axes, "C", "Backbones")


def _spread(values: Sequence[float], most: int) -> list[float]:
    """At most this many of the values, spread evenly over their logarithm.

    Examples
    --------
    >>> _spread([1.0, 3.0, 5.0, 7.5, 10.0, 30.0], 3)
    [1.0, 5.0, 30.0]
    """
    logs = np.log(values)
    targets = np.linspace(logs.min(), logs.max(), most)
    return sorted({values[int(np.argmin(np.abs(logs - target)))] for target in targets})
