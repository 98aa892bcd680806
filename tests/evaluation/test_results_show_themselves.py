"""Results are tables: in a notebook, as data frames, and as a plot."""

from __future__ import annotations

import pkgutil
from html import escape
from importlib import import_module
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import bdl
from bdl.datasets.audit import audit
from bdl.decoding import PeakGrid, calibrate
from bdl.density import Density
from bdl.detector.cross_validation import CrossValidated, CrossValidation
from bdl.detector.learning_curve import LearningCurve
from bdl.detector.operating_curve import OperatingCurve
from bdl.errors import ConfigError
from bdl.evaluation import (
    Estimate,
    beat_by_beat,
    bootstrap,
    compare,
    delay_table,
    operating_points,
    score,
    screening,
)
from bdl.evaluation.adapter import Adaptation
from bdl.evaluation.collar import collar_f
from bdl.evaluation.counts import Counts
from bdl.evaluation.interval_overlap import event_overlap
from bdl.events import Events
from bdl.frames import Tabular
from bdl.intervals import IntervalType
from bdl.kernels import Hard
from bdl.pairing import pair
from bdl.quality import Quality
from bdl.recording import Recording, Recordings
from bdl.review import agreement, disagreements
from bdl.study.results import Results, RowEstimate
from bdl.training.history import Epoch, History

TRUTH = Events.of([*"aabb"], ["on", "off"] * 2, [10.0, 20.0, 30.0, 40.0])
TIMES = [11.0, 26.0, 12.0, 31.0, 39.0]
FOUND = Events.of([*"aaabb"], ["on", "off", "on", "on", "off"], TIMES, [0.9, 0.8, 0.7, 0.6, 0.5])
SCORE = score(TRUTH, FOUND, [9.0, 5.0], durations={"a": 43200.0, "b": 43200.0})
ISSUED = Events.of([*"aaabb"], FOUND.event, TIMES, FOUND.score, [time + 9.0 for time in TIMES])
BOUTS = pair(TRUTH, IntervalType("bout", "on", "off"))
COUNTS = Counts(("a", "b"), ("x",), np.ones((2, 1)), np.zeros((2, 1)))
BEATS = [301.0, 302.0]  # the first five minutes are not scored
ESTIMATE = Estimate(0.5, 0.4, 0.7)
CALIBRATION = calibrate(
    [Density("a", np.array([[0.1], [0.9], [0.2]], np.float32), ("on",), 1.0, stride=1, samples=3)],
    Events.of("a", "on", [1.0]),
    PeakGrid(thresholds=(0.1, 0.5), smooths=(0.0, 2.0)),
    tolerances=(1.0,),
)
RECORDINGS = Recordings.of([Recording.of(np.ones((9, 2)), id=id, period=1.0) for id in "ab"])
CURVE = OperatingCurve.of(SCORE.matches)
assert CURVE is not None
CROSS_VALIDATION = CrossValidation(
    folds=2, groups=2, recordings=2,
    scores={"mAP": CrossValidated(value=0.5, low=0.4, high=0.6)},
    chosen={"F1@5>=0": CrossValidated(value=None)},
)  # fmt: skip
TABLES: dict[str, tuple[Tabular, int]] = {
    "events": (FOUND, 5),
    "annotations": (TRUTH, 4),
    "intervals": (BOUTS, 2),
    "score": (SCORE, 4),
    "errors": (SCORE.errors(), 12),
    "curve": (SCORE.matches.curve("on", 5.0), 3),
    "screening": (screening(SCORE.matches, "on", 5.0), 3),
    "bootstrap": (bootstrap({"one": SCORE.matches}, replicates=10), 1),
    "points": (operating_points(SCORE.matches, 0.6), 6),
    "counts": (COUNTS, 2),
    "beats": (beat_by_beat(Events.of("a", "N", BEATS), Events.of("a", "N", BEATS)), 1),
    "delay": (delay_table(score(TRUTH, ISSUED, [9.0, 5.0]).matches, [30.0]), 4),
    "agreement": (agreement({"ann": TRUTH, "bob": FOUND}, [5.0]), 3),
    "review": (disagreements(TRUTH, FOUND, tolerance=5.0), 2),
    "calibration": (CALIBRATION, 4),
    "operating curve": (CURVE, 5),
    "reliability": (CURVE.reliability(), 1),
    "learning curve": (LearningCurve((2, 4), (ESTIMATE, ESTIMATE), ESTIMATE, 3), 2),
    "cross-validation": (CROSS_VALIDATION, 2),
    "study": (Results((), estimates=(RowEstimate("a", "tuned", "mAP", 0.5, None, None),)), 1),
    "recordings": (RECORDINGS, 2),
    "stretches": (Quality(flat=1.0).of(RECORDINGS["a"]), 2),
    "adaptation": (Adaptation(COUNTS, COUNTS, np.ones((2, 1))), 2),
    "collar": (collar_f(TRUTH, FOUND, 5.0), 2),
    "overlap": (event_overlap(BOUTS, BOUTS, {"a": 60.0, "b": 60.0}), 1),
    "history": (History([Epoch(1, 9, 0.5, 1e-3, 2.0), Epoch(2, 18, 0.4, 1e-3, 2.0, 0.7)]), 2),
    "audit": (audit(TRUTH, RECORDINGS.infos, types=["on", "off"], kernel=Hard(), stride=3), 2),
    "density": (Density("a", np.ones((3, 1), np.float32), ("on",), 1.0, stride=1, samples=3), 3),
}


def _result_classes() -> set[type[Tabular]]:
    """All classes of results in the package; those of tests and examples are left out."""
    for module in pkgutil.walk_packages(bdl.__path__, "bdl."):
        if not module.ispkg and module.name.split(".")[1] in (
            "evaluation", "decoding", "detector", "quality", "review", "study",
        ):  # fmt: skip
            import_module(module.name)
    classes, todo = set(), [Tabular]
    while todo:
        kinds = todo.pop().__subclasses__()
        todo += kinds
        classes.update(kind for kind in kinds if kind.__module__.startswith("bdl."))
    return classes


def test_every_class_of_results_is_tried_here() -> None:
    pytest.importorskip("torch")
    assert _result_classes() == {type(table) for table, _ in TABLES.values()}


@pytest.mark.parametrize("name", TABLES)
def test_a_result_is_plotted(name: str) -> None:
    pytest.importorskip("plotly")
    figure = TABLES[name][0].plot()
    assert len(figure.data) > 0
    drawn = [value for curve in figure.data for value in np.ravel(curve.y).tolist()]
    assert len(drawn) > 0


def test_a_plot_has_a_curve_per_type_with_its_interval() -> None:
    pytest.importorskip("plotly")
    points = operating_points(SCORE.matches, 0.6).plot()
    assert [curve.name for curve in points.data] == ["off", "on", "all"]
    assert list(points.data[1].x) == [9.0, 5.0]
    [curve] = TABLES["learning curve"][0].plot().data
    assert list(curve.error_y.array) == pytest.approx([0.2, 0.2])
    assert list(curve.error_y.arrayminus) == pytest.approx([0.1, 0.1])
    [bouts] = TABLES["intervals"][0].plot().data
    np.testing.assert_array_equal(bouts.x, [10.0, 20.0, np.nan, 30.0, 40.0, np.nan])


def test_a_table_without_numbers_says_that_it_cannot_be_drawn() -> None:
    pytest.importorskip("plotly")

    class Names(Tabular):
        def columns(self) -> dict[str, Any]:
            return {"name": ["a"]}

    with pytest.raises(ConfigError, match="no column of numbers"):
        Names().plot()


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


@pytest.mark.parametrize("name", [name for name in TABLES if name != "density"])
def test_a_result_shows_itself_in_a_notebook(name: str) -> None:
    table, rows = TABLES[name]
    html = table._repr_html_()
    assert html.count("<tr>") == 1 + rows
    for column in table.columns():
        assert f"<th>{escape(column)}</th>" in html


def test_names_are_escaped_and_long_tables_cut() -> None:
    html = Events.of("<a>", "x", np.arange(100.0))._repr_html_()
    assert "&lt;a&gt;" in html
    assert "100 rows, 20 shown" in html


def test_recordings_show_the_first_few_and_their_number() -> None:
    many = Recordings.of(
        Recording.of(np.ones((3, 2)), id=f"r{i}", period=0.5, channels=["x", "y"], group="g")
        for i in range(30)
    )
    html = many._repr_html_()
    assert "<tr><td>r0</td><td>0.5</td><td>3</td><td>x, y</td><td>g</td></tr>" in html
    assert "30 rows, 20 shown" in html
    assert many.to_polars().row(29) == ("r29", 0.5, 3, "x, y", "g")


def test_a_score_is_plotted_by_tolerance_and_recall() -> None:
    pytest.importorskip("plotly")
    figure = SCORE.plot()
    ap, curve = figure.data[0], figure.data[1]
    assert ap.name == curve.name == "off"
    assert list(ap.x) == [5.0, 9.0]
    assert list(ap.y) == SCORE.matches.average_precision()[0, ::-1].tolist()
    assert list(curve.y) == SCORE.matches.curve("off", 9.0).precision.tolist()


def test_errors_and_comparisons_are_plotted() -> None:
    pytest.importorskip("plotly")
    bars = SCORE.errors().plot().data
    assert [bar.name for bar in bars] == ["off", "on"]
    assert list(bars[1].y) == [*SCORE.errors().totals["on"].values()]
    systems = {"a": FOUND, "b": FOUND, "c": FOUND}
    result = compare(TRUTH, systems, [5.0], replicates=20)
    first, second = result.plot().data
    assert list(first.x) == [estimate.value for estimate in result.systems.values()]
    assert list(second.y) == ["b - a", "c - a", "c - b"]


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_data_frames_are_scored_as_they_are(make: Any) -> None:
    truth, detections = (
        make({n: list(c) for n, c in table.columns().items()}) for table in (TRUTH, FOUND)
    )
    assert (
        score(truth, detections, tolerances=[9.0, 5.0]).to_dict()
        == score(TRUTH, FOUND, [9.0, 5.0]).to_dict()
    )
    listed = compare(truth, {"a": detections, "b": [detections, detections]}, [5.0], replicates=9)
    assert (
        listed.to_dict() == compare(TRUTH, {"a": FOUND, "b": FOUND}, [5.0], replicates=9).to_dict()
    )


def test_detections_without_scores_have_all_metrics_but_average_precision() -> None:
    plain = score(TRUTH, Events.of([*"aaabb"], FOUND.event, TIMES), [5.0])
    assert plain.metric("F1@5:on") == pytest.approx(2 * 2 / (3 + 2))
    assert plain.to_dict()["mAP"] is None
    assert "mAP" not in str(plain)
    with pytest.raises(ConfigError, match="--metric mF1"):
        plain.metric("mAP")
    assert operating_points(plain.matches, None)["on"][5.0].hits == 2
    assert "which have no scores" in str(operating_points(plain.matches, None))


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
    heading = str(result).splitlines()[:2]
    assert heading[0] == "AP@5:on with its 95% confidence interval"
    assert heading[1].startswith("30 bootstrap replicates over 3 clusters")
