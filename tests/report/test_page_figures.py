"""Figures hold the numbers they were given, and names from outside only as text."""

from __future__ import annotations

import numpy as np
import pytest

from bdl.report import page_figures

HOSTILE = '<a href="https://example.org">x</a><img src=x onerror=alert(1)>'


def test_names_are_text_to_plotly() -> None:
    values = np.array([0.5])
    made = (
        page_figures.ap_over_tolerance([1.0], [(HOSTILE, values, values, values)]),
        page_figures.precision_recall([(HOSTILE, HOSTILE, values, values)]),
        page_figures.timing_errors([(HOSTILE, values)]),
        page_figures.sensitivity_over_alarms([(HOSTILE, HOSTILE, values, values)], 0.1),
        page_figures.map_over_lag([0.0], [(HOSTILE, values, values, values)]),
        page_figures.count_calibration([(HOSTILE, values, values)]),
        page_figures.by_epoch("loss", [(0, HOSTILE, [1.0], [0.5])], log=True),
    )
    for figure in made:
        for trace in figure["data"]:
            assert "<" not in trace["name"]


@pytest.mark.parametrize("seed", range(5))
def test_histogram_counts_every_error_once(seed: int) -> None:
    rng = np.random.default_rng(seed)
    errors = [rng.normal(size=n) * 30 for n in (0, 1, 200)]
    made = page_figures.timing_errors([(str(i), values) for i, values in enumerate(errors)])
    assert [sum(trace["y"]) for trace in made["data"]] == [0, 1, 200]


def test_histogram_of_nothing_and_of_perfect_timing() -> None:
    assert page_figures.timing_errors([])["data"] == []
    assert sum(page_figures.timing_errors([("a", np.zeros(3))])["data"][0]["y"]) == 3


def test_values_that_are_not_finite_become_gaps() -> None:
    nan = np.array([np.nan, 0.5])
    made = page_figures.ap_over_tolerance([1.0, 2.0], [("a", nan, nan, nan)])
    assert made["data"][1]["y"] == [None, 0.5]


def test_a_system_has_one_colour_and_a_type_one_dash() -> None:
    values = np.array([0.5])
    named = [(system, name, values, values) for system in "ab" for name in ("on", "off")]
    lines = [trace["line"] for trace in page_figures.precision_recall(named)["data"]]
    assert lines[0]["color"] == lines[1]["color"] != lines[2]["color"] == lines[3]["color"]
    assert lines[0]["dash"] == lines[2]["dash"] != lines[1]["dash"] == lines[3]["dash"]


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    many = np.linspace(0, 1, 100_000)
    trace = page_figures.precision_recall([("a", "on", many, many)])["data"][0]
    assert len(trace["x"]) <= 1000
    assert (trace["x"][0], trace["x"][-1]) == (0.0, 1.0)


def test_counts_are_drawn_as_they_are() -> None:
    made = page_figures.count_calibration([("a", np.array([2.0, 3.0]), np.array([1.8, 3.5]))])
    assert made["data"][0]["x"] == [2.0, 3.0]
    assert made["data"][0]["y"] == [1.8, 3.5]
    assert made["data"][1]["x"] == [0, 3.5]
    assert page_figures.count_calibration([])["data"][0]["name"] == "equal"


@pytest.mark.parametrize("values", [[1.0], [1.0, 2.0], [60.0, 180.0, 300.0, 450.0, 1800.0]])
def test_ticks_stand_at_tolerances(values: list[float]) -> None:
    ticks = page_figures.ap_over_tolerance(values, [])["layout"]["xaxis"]
    assert set(ticks["tickvals"]) <= set(values)
    assert ticks["tickvals"][0] == values[0]


def test_sensitivity_is_the_highest_at_no_more_false_alarms() -> None:
    """A threshold between two others can find less: late hits are counted once only."""
    alarms, sensitivity = np.array([0.0, 1.0, 2.0, 3.0, 8.0]), np.array([0.2, 0.2, 0.5, 0.4, 0.5])
    figure = page_figures.sensitivity_over_alarms([("a", "on", alarms, sensitivity)], 1.0)
    [trace] = figure["data"]
    assert trace["x"] == [0.5, 2.0, 8.0]  # none is drawn at half of the least rate
    assert trace["y"] == [0.2, 0.5, 0.5]
    low, high = figure["layout"]["xaxis"]["range"]
    assert 10**low == pytest.approx(0.5)
    assert 10**high == pytest.approx(8.0)
    empty = page_figures.sensitivity_over_alarms([("a", "on", alarms[:0], sensitivity[:0])], 1.0)
    assert empty["data"][0]["x"] == []


def test_lags_that_a_method_lacks_are_left_out_and_offline_is_last() -> None:
    lags = [0.0, 0.5, np.inf]
    whole, part = np.array([0.3, 0.5, 0.6]), np.array([0.2, np.nan, 0.4])
    figure = page_figures.map_over_lag(
        lags, [("a", whole, whole - 0.1, whole + 0.2), ("b", part, part, part)]
    )
    first, second = figure["data"]
    assert first["error_y"]["array"] == pytest.approx([0.2] * 3)
    assert first["error_y"]["arrayminus"] == pytest.approx([0.1] * 3)
    assert (second["x"], second["y"]) == ([0.0, 2.0], [0.2, 0.4])
    assert figure["layout"]["xaxis"]["ticktext"] == ["0", "0.5", "offline"]


def test_the_ticks_of_a_loss_are_written_in_full() -> None:
    lines = [(0, "a", [1.0, 2.0], [0.05, 0.004]), (1, "b", [1.0], [float("nan")])]
    axis = page_figures.by_epoch("loss", lines, log=True)["layout"]["yaxis"]
    assert axis["type"] == "log"
    assert axis["ticktext"] == ["0.002", "0.005", "0.01", "0.02", "0.05"]
    negative = [(0, "a", [1.0], [-1.0])]
    assert "type" not in page_figures.by_epoch("loss", negative, log=True)["layout"]["yaxis"]
