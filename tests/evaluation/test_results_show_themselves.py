"""Results are tables: in a notebook, as data frames, and as a plot."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from bdl.errors import ConfigError
from bdl.evaluation import bootstrap, compare, score, screening
from bdl.evaluation.counts import Counts
from bdl.events import Events
from bdl.frames import Tabular
from bdl.intervals import IntervalType
from bdl.pairing import pair

TRUTH = Events.of([*"aabb"], ["on", "off"] * 2, [10.0, 20.0, 30.0, 40.0])
TIMES = [11.0, 26.0, 12.0, 31.0, 39.0]
FOUND = Events.of([*"aaabb"], ["on", "off", "on", "on", "off"], TIMES, [0.9, 0.8, 0.7, 0.6, 0.5])
SCORE = score(TRUTH, FOUND, [9.0, 5.0], durations={"a": 43200.0, "b": 43200.0})
TABLES: dict[str, tuple[Tabular, int]] = {
    "events": (FOUND, 5),
    "annotations": (TRUTH, 4),
    "intervals": (pair(TRUTH, IntervalType("bout", "on", "off")), 2),
    "score": (SCORE, 4),
    "errors": (SCORE.errors(), 12),
    "curve": (SCORE.matches.curve("on", 5.0), 3),
    "screening": (screening(SCORE.matches, "on", 5.0), 3),
    "bootstrap": (bootstrap({"one": SCORE.matches}, replicates=10), 1),
    "counts": (Counts(("a", "b"), ("x",), np.ones((2, 1)), np.zeros((2, 1))), 2),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_result_becomes_a_data_frame(name: str) -> None:
    table, rows = TABLES[name]
    frames = table.to_polars(), table.to_pandas(), table.to_frame("pyarrow")
    assert [type(frame) for frame in frames] == [pl.DataFrame, pd.DataFrame, pa.Table]
    assert {len(frame) for frame in frames} == {rows}
    assert list(frames[0].columns) == list(frames[1].columns) == frames[2].column_names
    for column, values in table.columns().items():
        for frame in frames:
            np.testing.assert_array_equal(np.asarray(frame[column]), np.asarray(values))


@pytest.mark.parametrize("name", TABLES)
def test_a_result_shows_itself_in_a_notebook(name: str) -> None:
    table, rows = TABLES[name]
    html = table._repr_html_()
    assert html.count("<tr>") == 1 + rows
    for column in table.columns():
        assert f"<th>{column}</th>" in html


def test_names_are_escaped_and_long_tables_cut() -> None:
    html = Events.of("<a>", "x", np.arange(100.0))._repr_html_()
    assert "&lt;a&gt;" in html
    assert "100 rows, 20 shown" in html


def test_a_score_is_plotted_by_tolerance_and_recall() -> None:
    pytest.importorskip("plotly")
    figure = SCORE.plot()
    ap, curve = figure.data[0], figure.data[1]
    assert ap.name == curve.name == "off"
    assert list(ap.x) == [5.0, 9.0]
    assert list(ap.y) == SCORE.matches.average_precision()[0, ::-1].tolist()
    assert list(curve.y) == SCORE.matches.curve("off", 9.0).precision.tolist()


def test_systems_are_compared_on_the_same_recordings() -> None:
    alarm = Events.concat([FOUND, Events.of("c", "on", [5.0], [0.99])])
    with pytest.raises(ConfigError, match="at least two systems"):
        compare(TRUTH, {"only": FOUND}, [5.0])
    result = compare(
        TRUTH,
        {"with alarm": alarm, "without": [FOUND, FOUND]},
        [5.0],
        metric="AP@5:on",
        event_free="count",
        unknown="event-free",
        replicates=30,
    )
    assert result.clusters == 3
    assert result.differences["without - with alarm"].value > 0
    assert str(result).splitlines()[0].startswith("AP@5:on with its 95% confidence interval: 30")
