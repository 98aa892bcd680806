"""Figures of the paper as SVG, PDF and PNG files, drawn from our own data and run directories."""

from __future__ import annotations

from bdl.figures.paper_figures import draw_figures

__all__ = ["draw_figures"]
