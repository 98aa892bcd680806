"""Densities show themselves: as a table, in a notebook, as a figure."""

from __future__ import annotations

import numpy as np
import pytest

from bdl import Density, Events
from bdl import density as module


def density(**changes) -> Density:
    fields = {
        "recording": "<a>",
        "values": np.array([[0.1, 0.0], [0.7, 0.2], [0.0, 0.9]], np.float32),
        "types": ("on", "off"),
        "period": 0.5,
        "stride": 4,
        "samples": 10,
    }
    return Density(**{**fields, **changes})


def test_frames_have_a_row_per_bin():
    frame = density().to_polars()
    assert frame.columns == ["time", "on", "off"]
    assert frame["time"].to_list() == [0.75, 2.75, 4.25]
    assert frame["on"].to_numpy().dtype == np.float32
    pandas = density().to_pandas()
    assert pandas["off"].tolist() == frame["off"].to_list()


def test_a_notebook_shows_expected_events_and_the_highest_bin():
    html = density()._repr_html_()
    assert "Density of &lt;a&gt;: 3 bins of 2 s" in html
    assert "<td>on</td><td>0.8</td><td>0.7</td><td>2.75</td>" in html
    nothing = density(samples=0, values=np.zeros((0, 2), np.float32))
    assert "0 bins" in nothing._repr_html_()


def test_a_figure_has_a_curve_per_type_and_marks_events(monkeypatch):
    pytest.importorskip("plotly")
    events = Events.of(["<a>", "b"], "on", [2.5, 4.0])
    figure = density().plot(events)
    assert [curve.name for curve in figure.data] == ["on", "off"]
    assert figure.data[0].x.tolist() == [0.75, 2.75, 4.25]
    assert [shape.x0 for shape in figure.layout.shapes] == [2.5]
    assert figure.layout.yaxis.title.text == "events per bin"
    monkeypatch.setattr(module, "MOST_POINTS", 2)
    assert density().plot().data[1].y.tolist() == pytest.approx([0.2, 0.9])
