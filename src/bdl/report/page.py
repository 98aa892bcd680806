"""The page: one HTML file that contains everything and works offline.

The plotting library and the curves are stored deflated; the tables are plain HTML, so the page is
useful without scripts and in print.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from html import escape
from importlib.resources import files
from pathlib import Path
from string import Template

import numpy as np

from bdl import drawing
from bdl.arrays import Floats
from bdl.errors import require
from bdl.evaluation import Estimate, Regions
from bdl.evaluation.counts import count_events
from bdl.evaluation.curves import screening
from bdl.evaluation.metrics.metric import number
from bdl.formats.atomic_files import atomic
from bdl.installation import version
from bdl.report import html_tables, page_figures
from bdl.report.content import Content, timing_errors
from bdl.report.packed_arrays import deflate
from bdl.report.page_data import page_data
from bdl.report.page_figures import PlotlyFigure
from bdl.report.summary import SystemSummary, estimate_html, lead, summarise, summary_section


def write_report(content: Content, path: Path | str) -> Path:
    """Write the page, whole or not at all.

    Parameters
    ----------
    content
        What the page shows.
    path
        File to write.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from bdl.events import Events
    >>> from bdl.report.content import System
    >>> truth = Events.of("a", "beat", [10.0])
    >>> mine = System("mine", Events.of("a", "beat", [10.5], score=[1.0]))
    >>> with TemporaryDirectory() as folder:
    ...     page = write_report(Content("Test", truth, (mine,), (2.0,)), Path(folder) / "r.html")
    ...     "mAP" in page.read_text()
    True
    """
    target = Path(path)
    html = render(content)
    with atomic(target) as temporary:
        Path(temporary).write_text(html, encoding="utf-8")
    return target


def render(content: Content) -> str:
    """The page as text."""
    assets = files("bdl.report") / "assets"
    styles = ((drawing.FOLDER, "drawing.css"), (assets, "page.css"))
    systems = summarise(content)
    figures = _figures(content, systems)
    curves = _training_figures(content)
    training = _training_section(content, "".join(_plot(id, *CAPTIONS[id]) for id in curves))
    return Template((assets / "page.html").read_text("utf-8")).substitute(
        title=escape(content.title),
        css="".join((folder / name).read_text("utf-8") for folder, name in styles),
        js=drawing.bundle("page.js", assets),
        lead=escape(lead(content)),
        summary=summary_section(content, systems),
        quality="".join(_plot(id, *CAPTIONS[id], bounds=content.bounds) for id in figures),
        quality_tables=_ap_table(content, systems),
        recordings=html_tables.recordings(content.matches[0], content.middle, content.hours),
        training_link='<a href="#training">Training</a>' if training else "",
        training=training,
        provenance=html_tables.provenance(_provenance(content), content.protocol),
        version=version(),
        # Without "<" in the data, "</script" or "<!--" cannot end or extend the element around it.
        data=json.dumps(page_data(content, figures | curves), allow_nan=False).replace(
            "<", "\\u003c"
        ),
        plotly=_plotly(),
    )


@cache
def _plotly() -> str:
    return deflate(require("plotly.offline", "report").get_plotlyjs().encode("utf-8"))


CAPTIONS = {
    "ap": (
        "AP by tolerance",
        "Average precision at each matching tolerance; the band is the {bounds}.",
    ),
    "pr": ("Precision and recall", "One point per threshold, at the middle tolerance."),
    "alarms": (
        "Sensitivity versus false alarms",
        "Highest share of detected events with at most this many false alarms per day, at the "
        "middle tolerance; the left edge is no false alarm.",
    ),
    "lag": (
        "mAP over lag",
        "mAP at each allowed delay; offline models read whole recordings. Bars are the {bounds}.",
    ),
    "timing": (
        "Timing error",
        "Detected minus annotated time of matched events, at the widest tolerance.",
    ),
    "counts": (
        "Counts",
        "Summed density against the number of annotated events, one point per recording and "
        "event type.",
    ),
    "loss": ("Loss", "Mean training loss of each epoch."),
    "progress": ("Checkpoints", "Score of each checkpoint."),
}


def _plot(id: str, name: str, caption: str, *, bounds: str = "") -> str:
    caption = caption.format(bounds=bounds)
    return (
        f'<figure><h3>{name}</h3><div id="plot-{id}" class="plot" role="group" aria-label="{name}">'
        f"</div><figcaption>{caption}</figcaption></figure>"
    )


def _ap_table(content: Content, systems: list[SystemSummary]) -> str:
    rows = [
        [
            f"{tolerance:g} s",
            *(estimate_html(system.ap[f"AP@{number(tolerance)}"]) for system in systems),
        ]
        for tolerance in sorted(content.tolerances)
    ]
    head = ["tolerance", *(system.name for system in systems)]
    caption = f"AP at each tolerance, mean over event types, with {content.bounds}"
    return html_tables.table(caption, head, rows, dense=len(content.systems) > 4)


def _figures(content: Content, systems: list[SystemSummary]) -> dict[str, PlotlyFigure]:
    ordered = sorted(content.tolerances)
    middle, widest = content.middle, ordered[-1]
    metrics = [f"AP@{number(tolerance)}" for tolerance in ordered]
    curves = [
        (system.name, *_columns([system.ap[metric] for metric in metrics])) for system in systems
    ]
    systems_with_matches = list(zip(content.systems, content.matches, strict=True))
    figures = {
        "ap": page_figures.ap_over_tolerance(ordered, curves, content.bounds),
        "pr": page_figures.precision_recall(
            [
                (system.name, name, curve.recall, curve.precision)
                for system, matches in systems_with_matches
                for name in matches.types
                for curve in [matches.curve(name, middle)]
            ]
        ),
        "timing": page_figures.timing_errors(
            [
                (system.name, timing_errors(matches, widest))
                for system, matches in systems_with_matches
            ]
        ),
    }
    if content.days:
        figures["alarms"] = page_figures.sensitivity_over_alarms(
            [
                (system.name, name, curve.false_alarms_per_day, curve.sensitivity)
                for system, matches in systems_with_matches
                for name in matches.types
                for curve in [screening(matches, name, middle)]
            ],
            1 / content.days,
        )
    counts = _counts(content)
    if counts:
        figures["counts"] = page_figures.count_calibration(counts)
    return _over_lag(content, systems) | figures


def _over_lag(content: Content, systems: list[SystemSummary]) -> dict[str, PlotlyFigure]:
    """The figure over lags, if there are systems that differ in theirs."""
    scores = {
        (system.method, system.lag): summary.ap["mAP"]
        for system, summary in zip(content.systems, systems, strict=True)
        if system.lag is not None
    }
    lags = sorted({lag for _, lag in scores})
    if len(lags) < 2:
        return {}
    unknown = Estimate(np.nan)
    methods = []
    for method in dict.fromkeys(method for method, _ in scores):
        methods.append((method, *_columns([scores.get((method, lag), unknown) for lag in lags])))
    return {"lag": page_figures.map_over_lag(lags, methods, content.bounds)}


def _columns(estimates: Sequence[Estimate]) -> tuple[Floats, Floats, Floats]:
    values, low, high = np.array([[e.value, e.low, e.high] for e in estimates]).T
    return values, low, high


def _counts(content: Content) -> list[tuple[str, Floats, Floats]]:
    rows = []
    regions = None if content.recordings is None else Regions.annotated(content.recordings.infos)
    for system, matches in zip(content.systems, content.matches, strict=True):
        scored = [system.densities[id] for id in matches.recordings if id in system.densities]
        densities = [density for density in scored if density.kind == "events"]
        if densities:
            counts = count_events(densities, content.truth, regions=regions)
            rows.append((system.name, counts.observed.ravel(), counts.predicted.ravel()))
    return rows


def _training_figures(content: Content) -> dict[str, PlotlyFigure]:
    """Figures of the training curves, by the id of their element in the page.

    Losses of different objectives have different units, so they have a logarithmic axis of their
    own; every other recorded quantity is a score.
    """
    curves = [
        (quantity, (place, system.name, *curve))
        for place, system in enumerate(content.systems)
        for quantity, curve in system.history.items()
    ]
    losses = [line for quantity, line in curves if quantity == "loss"]
    scores = [line for quantity, line in curves if quantity != "loss"]
    names = {quantity for quantity, _ in curves} - {"loss"}
    figures = {}
    if losses:
        figures["loss"] = page_figures.by_epoch("loss", losses, log=True)
    if scores:
        name = names.pop() if len(names) == 1 else "score"
        figures["progress"] = page_figures.by_epoch(name, scores, log=False)
    return figures


def _training_section(content: Content, plots: str) -> str:
    """The section around the plots; empty if there are neither plots nor a text."""
    if not plots and not content.training:
        return ""
    text = f"<p>{escape(content.training)}</p>" if content.training else ""
    figures = f'<div class="figures">{plots}</div>' if plots else ""
    return (
        '<section id="training" aria-labelledby="training-title">'
        f'<h2 id="training-title">Training</h2>{text}{figures}</section>'
    )


def _provenance(content: Content) -> dict[str, str]:
    clusters = content.clusters
    drawn = len({*clusters.values()})
    unit = "recordings" if drawn == len(clusters) else "groups"
    intervals = (
        f"{content.replicates} bootstrap replicates over {drawn} {unit}, seed {content.seed}"
    )
    return {
        **content.provenance,
        "confidence intervals": intervals if content.replicates else "none",
        "page written by": f"bdl {version()}",
    }
