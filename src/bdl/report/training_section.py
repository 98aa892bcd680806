"""The section on training: loss of every epoch, and score of the checkpoints."""

from __future__ import annotations

from html import escape

from bdl.report import page_figures
from bdl.report.content import Content

LOSS = "loss"


def training_figures(content: Content) -> dict[str, page_figures.PlotlyFigure]:
    """Figures of the training curves, by the id of their element in the page.

    Losses of different objectives have different units, so they have a logarithmic axis of their
    own; every other recorded quantity is a score.
    """
    lines: dict[str, list[page_figures.EpochLine]] = {"loss": [], "progress": []}
    quantities = []
    for place, system in enumerate(content.systems):
        for quantity, (epochs, values) in system.history.items():
            lines["loss" if quantity == LOSS else "progress"].append(
                (place, system.name, epochs, values)
            )
            quantities += [quantity] if quantity != LOSS else []
    named = quantities[0] if len(set(quantities)) == 1 else "score"
    return {
        id: page_figures.by_epoch(LOSS if id == "loss" else named, curves, log=id == "loss")
        for id, curves in lines.items()
        if curves
    }


def training_section(content: Content, plots: str) -> str:
    """The section around the plots; empty if there are neither plots nor a text."""
    if not plots and not content.training:
        return ""
    text = f"<p>{escape(content.training)}</p>" if content.training else ""
    figures = f'<div class="figures">{plots}</div>' if plots else ""
    return (
        '<section id="training" aria-labelledby="training-title">'
        f'<h2 id="training-title">Training</h2>{text}{figures}</section>'
    )
