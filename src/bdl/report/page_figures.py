"""Figures of the report, as plotly data that the browser draws: no image is rendered here."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from bdl.arrays import Floats

PlotlyFigure = dict[str, Any]
NamedCurve = tuple[str, str, Floats, Floats]  # system, event type, x, y
EpochLine = tuple[int, str, Sequence[float], Sequence[float]]
DASHES = ("solid", "dot", "dash", "dashdot")
FONT = {"family": "system-ui, sans-serif", "size": 12, "color": "#1b2733"}
AXIS = {
    "zeroline": False,
    "showline": True,
    "linecolor": "#8a99a6",
    "gridcolor": "#e8edf1",
    "exponentformat": "e",
}
COLOURS = ("#0b5cad", "#b3430f", "#17713f", "#7a3e9d", "#946200", "#00707a")


def _layout(x: str, y: str, **more: Any) -> dict[str, Any]:
    return {
        "margin": {"l": 56, "r": 12, "t": 40, "b": 46},
        "font": FONT,
        "xaxis": {**AXIS, "title": {"text": x}, **more.pop("xaxis", {})},
        "yaxis": {**AXIS, "title": {"text": y}, **more.pop("yaxis", {})},
        "legend": {"orientation": "h", "y": 1.02, "yanchor": "bottom", "font": {"size": 11}},
        "paper_bgcolor": "#fff",
        "plot_bgcolor": "#fff",
        "hovermode": "closest",
        **more,
    }


def _line(place: int) -> dict[str, str]:
    """Line style of a system: its own colour, and after the last colour another dash."""
    turn, colour = divmod(place, len(COLOURS))
    return {"color": COLOURS[colour], "dash": DASHES[turn % len(DASHES)]}


def _curve_traces(curves: Sequence[NamedCurve], **style: Any) -> list[dict[str, Any]]:
    """Traces of curves: one colour per system, one dash per event type."""
    systems = [*dict.fromkeys(curve[0] for curve in curves)]
    types = [*dict.fromkeys(curve[1] for curve in curves)]
    traces = []
    for system, name, x, y in curves:
        # A thousand points are enough for the width of the plot.
        rows = np.unique(np.linspace(0, len(x) - 1, min(len(x), 1000)).astype(int))
        colour = COLOURS[systems.index(system) % len(COLOURS)]
        line = {"color": colour, "dash": DASHES[types.index(name) % len(DASHES)], **style}
        traces.append(_trace(f"{system}, {name}", x[rows], y[rows], line=line))
    return traces


def _ticks(values: Sequence[float]) -> dict[str, Any]:
    """A logarithmic axis with ticks at those values whose labels do not overlap.

    Examples
    --------
    >>> _ticks([60.0, 180.0, 200.0, 1800.0])["ticktext"]
    ['60', '180', '1800']
    """
    least = 0.09 * np.log(max(values) / min(values)) if values else 0.0
    ticks: list[float] = []
    for value in sorted(values):
        if not ticks or np.log(value / ticks[-1]) >= least:
            ticks.append(value)
    return {"type": "log", "tickvals": ticks, "ticktext": [f"{value:g}" for value in ticks]}


def _round_numbers(low: float, high: float) -> list[float]:
    """The numbers 1, 2 and 5 of every decade that a range touches, for a logarithmic axis.

    Examples
    --------
    >>> _round_numbers(0.03, 0.4)
    [0.02, 0.05, 0.1, 0.2, 0.5]
    """
    decades = range(int(np.floor(np.log10(low))) - 1, int(np.ceil(np.log10(high))) + 1)
    numbers = [float(f"{digit}e{decade}") for decade in decades for digit in (1, 2, 5)]
    first = max(i for i, number in enumerate(numbers) if number <= low)
    last = min(i for i, number in enumerate(numbers) if number >= high)
    return numbers[first : last + 1]


def _plain(values: Any) -> list[float | None]:
    return [float(v) if np.isfinite(v) else None for v in np.asarray(values, dtype=float)]


def _trace(name: str, x: Any, y: Any, mode: str = "lines", **more: Any) -> dict[str, Any]:
    text = escape(name, quote=False)  # plotly interprets tags in texts
    return {"x": _plain(x), "y": _plain(y), "name": text, "mode": mode, **more}


def ap_over_tolerance(
    tolerances: Sequence[float],
    systems: Sequence[tuple[str, Floats, Floats, Floats]],
    bounds: str = "95 % confidence interval",
) -> PlotlyFigure:
    """AP over tolerances: name, AP, lower and upper bound of each system.

    ``bounds`` is the name of the bounds.
    """
    data = []
    for i, (name, value, low, high) in enumerate(systems):
        outline_x, outline_y = [*tolerances, *tolerances[::-1]], [*high, *low[::-1]]
        band = _trace(f"{name}, {bounds}", outline_x, outline_y)
        band |= {"fill": "toself", "fillcolor": COLOURS[i % len(COLOURS)] + "22"}
        band |= {"line": {"width": 0}, "showlegend": False, "hoverinfo": "skip"}
        data += [band, _trace(name, tolerances, value, "lines+markers", line=_line(i))]
    axes = {"xaxis": _ticks(tolerances), "yaxis": {"range": [0, 1.02]}}
    return {"data": data, "layout": _layout("tolerance (s)", "AP", **axes)}


def precision_recall(curves: Sequence[NamedCurve]) -> PlotlyFigure:
    """Precision over recall: one colour per system, one dash per event type."""
    axis = {"range": [0, 1.02]}
    layout = _layout("recall", "precision", xaxis=axis, yaxis=axis)
    return {"data": _curve_traces(curves), "layout": layout}


def sensitivity_over_alarms(curves: Sequence[NamedCurve], least: float) -> PlotlyFigure:
    """Sensitivity over false alarms per day: one colour per system, one dash per event type.

    Each curve has a system, an event type, false alarms per day and sensitivities. ``least`` is the
    rate of a single false alarm; no false alarm is drawn at half of it, the left edge.
    """
    rising = []
    for system, name, alarms, sensitivity in curves:
        # The highest sensitivity at no more false alarms, where it rises.
        last = np.diff(alarms, append=np.inf) > 0
        x, y = np.maximum(alarms[last], least / 2), np.maximum.accumulate(sensitivity)[last]
        rises = np.diff(y, prepend=-1.0) > 0
        rises[-1:] = True  # to the end of the curve
        rising.append((system, name, x[rises], y[rises]))
    data = _curve_traces(rising, shape="hv")
    most = max((max(trace["x"], default=least) for trace in data), default=least)
    limits = [float(np.log10(least / 2)), float(np.log10(max(most, 2 * least)))]
    axes = {
        "xaxis": {
            "type": "log",
            "range": limits,
            "dtick": 1 if limits[1] - limits[0] > 2 else "D2",
        },
        "yaxis": {"range": [0, 1.02]},
    }
    return {"data": data, "layout": _layout("false alarms per day", "sensitivity", **axes)}


def map_over_lag(
    lags: Sequence[float],
    methods: Sequence[tuple[str, Floats, Floats, Floats]],
    bounds: str = "95 % confidence interval",
) -> PlotlyFigure:
    """mAP over the lag in seconds, infinite for offline models, with bounds of each method."""
    places = np.arange(len(lags), dtype=float)
    data = []
    for i, (name, value, low, high) in enumerate(methods):
        measured = np.isfinite(value)
        bars: dict[str, Any] = {"type": "data", "symmetric": False, "thickness": 1, "width": 3}
        bars["arrayminus"] = _plain((value - low)[measured])
        bars["array"] = _plain((high - value)[measured])
        style = {"line": _line(i), "error_y": bars}
        data.append(_trace(name, places[measured], value[measured], "lines+markers", **style))
    texts = ["offline" if np.isinf(lag) else f"{lag:g}" for lag in lags]
    axes = {
        "xaxis": {"tickvals": places.tolist(), "ticktext": texts, "range": [-0.3, len(lags) - 0.7]},
        "yaxis": {"range": [0, 1.02]},
    }
    return {"data": data, "layout": _layout("lag (s)", f"mAP, with {bounds}", **axes)}


def timing_errors(errors: Sequence[tuple[str, Floats]]) -> PlotlyFigure:
    """Histogram of the signed timing error of matched events.

    Drawn as steps, so that several systems remain readable on top of each other.
    """
    pooled = np.concatenate([values for _, values in errors]) if errors else np.zeros(0)
    largest = float(np.abs(pooled).max(initial=0.0)) or 1.0
    edges = np.linspace(-largest, largest, 42)
    data = []
    for i, (name, values) in enumerate(errors):
        line = {**_line(i), "shape": "hv", "width": 1.5}
        fill = {"fill": "tozeroy", "fillcolor": COLOURS[i % len(COLOURS)] + "1c"}
        counts = [*np.histogram(values, edges)[0], 0]
        data.append(_trace(name, edges, counts, line=line, **fill))
    layout = _layout("detected minus annotated (s)", "events", yaxis={"rangemode": "tozero"})
    return {"data": data, "layout": layout}


def count_calibration(counts: Sequence[tuple[str, Floats, Floats]]) -> PlotlyFigure:
    """Summed density against the number of events, one point per recording and event type."""
    data = []
    for i, (name, observed, expected) in enumerate(counts):
        marker = {"color": COLOURS[i % len(COLOURS)], "size": 7, "opacity": 0.7}
        data.append(_trace(name, observed, expected, "markers", marker=marker))
    top = max((float(max(o.max(), e.max())) for _, o, e in counts if len(o)), default=1.0)
    data.append(_trace("equal", [0, top], [0, top], line={"color": "#4a5a68", "dash": "dot"}))
    return {"data": data, "layout": _layout("events annotated", "events expected (density)")}


def by_epoch(quantity: str, lines: Sequence[EpochLine], *, log: bool) -> PlotlyFigure:
    """A quantity by epoch; a logarithmic axis becomes linear if a value is not positive."""
    data = [
        _trace(name, epochs, values, "lines+markers", marker={"size": 5}, line=_line(place))
        for place, name, epochs, values in lines
    ]
    finite = [value for *_, values in lines for value in values if np.isfinite(value)]
    axis: dict[str, Any] = {"rangemode": "tozero"}
    if log and finite and min(finite) > 0:
        axis = _ticks(_round_numbers(min(finite), max(finite)))
    last = max((max(epochs, default=1) for _, _, epochs, _ in lines), default=1)
    whole_epochs = {"tick0": 0, "dtick": max(1, round(last / 8))}
    return {"data": data, "layout": _layout("epoch", quantity, xaxis=whole_epochs, yaxis=axis)}
