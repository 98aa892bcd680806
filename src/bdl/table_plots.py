"""Plots of results that are tables: which columns are drawn, and how."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from bdl.errors import ConfigError, require

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

MOST_POINTS = 20_000  # of a plot: more make a page slow and show nothing else


class Drawing(NamedTuple):
    """How a table is drawn: one curve for each combination of values in the columns ``by``."""

    x: str | None = None  # column of the axis; the first one by default
    y: str | None = None  # the last one that has numbers by default
    by: tuple[str, ...] = ()
    mode: Literal["lines", "markers", "lines+markers"] = "lines+markers"
    # Columns of the lower and upper ends of an interval around y.
    interval: tuple[str, str] | None = None


def draw(columns: dict[str, Any], drawing: Drawing) -> Figure:
    """A table, given as columns by name, as a plotly figure.

    Examples
    --------
    >>> columns = {"x": [1, 2, 1], "y": [3.0, 4.0, 5.0], "event": ["on", "on", "off"]}
    >>> figure = draw(columns, Drawing("x", "y", by=("event",)))
    >>> [(curve.name, curve.y.tolist()) for curve in figure.data]
    [('on', [3.0, 4.0]), ('off', [5.0])]
    """
    go = require("plotly.graph_objects", "report")
    x, y = drawing.x or next(iter(columns)), drawing.y or _last_number(columns)
    arrays = {name: np.asarray(column) for name, column in columns.items()}
    keys = [*zip(*(arrays[name].tolist() for name in drawing.by), strict=True)]
    keys = keys or [()] * len(arrays[x])
    figure = go.Figure()
    for key in dict.fromkeys(keys):
        rows = np.flatnonzero([row_key == key for row_key in keys])
        rows = rows[:: max(1, -(-len(rows) // MOST_POINTS))]
        bars = None
        if drawing.interval is not None:
            low, high = (arrays[name][rows] for name in drawing.interval)
            middle = arrays[y][rows]
            bars = {"symmetric": False, "array": high - middle, "arrayminus": middle - low}
        figure.add_scatter(
            x=arrays[x][rows],
            y=arrays[y][rows],
            error_y=bars,
            mode=drawing.mode,
            name=escape(", ".join(map(str, key))),
            showlegend=bool(drawing.by),
        )
    figure.update_layout(xaxis_title=_words(x), yaxis_title=_words(y))
    plot: Figure = figure
    return plot


def _words(name: str) -> str:
    return escape(name.replace("_", " "))


def _last_number(columns: dict[str, Any]) -> str:
    numbers = [name for name, column in columns.items() if np.asarray(column).dtype.kind in "fiu"]
    if not numbers:
        raise ConfigError("the table has no column of numbers that could be drawn; use to_frame()")
    return numbers[-1]
