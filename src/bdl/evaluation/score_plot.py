"""The plot of a score: AP over tolerance, and precision over recall."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from bdl.errors import require
from bdl.evaluation.matches import Matches

if TYPE_CHECKING:
    from plotly.graph_objects import Figure


def score_plot(matches: Matches) -> Figure:
    """AP over tolerance of every type, and its precision over recall at the middle tolerance."""
    go = require("plotly.graph_objects", "report")
    subplots = require("plotly.subplots", "report")
    order = np.argsort(matches.tolerances)
    tolerances = np.array(matches.tolerances)[order]
    middle = float(tolerances[len(tolerances) // 2])
    figure = subplots.make_subplots(
        rows=1, cols=2, subplot_titles=("AP by tolerance", f"tolerance {middle:g}")
    )
    table = matches.average_precision()
    for j, name in enumerate(matches.types):
        curve = matches.curve(name, middle)
        common = {"name": name, "legendgroup": name, "line": {"color": _COLOURS[j % 8]}}
        ap = go.Scatter(x=tolerances, y=table[j][order], mode="lines+markers", **common)
        figure.add_trace(ap, row=1, col=1)
        steps = go.Scatter(
            x=curve.recall, y=curve.precision, mode="lines", showlegend=False, **common
        )
        figure.add_trace(steps, row=1, col=2)
    figure.update_xaxes(title_text="tolerance", row=1, col=1)
    figure.update_yaxes(title_text="AP", range=[0, 1], row=1, col=1)
    figure.update_xaxes(title_text="recall", range=[0, 1], row=1, col=2)
    figure.update_yaxes(title_text="precision", range=[0, 1.02], row=1, col=2)
    plot: Figure = figure
    return plot


# Okabe and Ito's colours, which people with any colour vision can tell apart.
_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#F0E442")
