"""Metrics: their text forms, and one from outside the package."""

from __future__ import annotations

import numpy as np
import pytest

from bdl.config import Value
from bdl.decoding import calibrate
from bdl.density import Density
from bdl.errors import ConfigError
from bdl.evaluation import Matches, Metric, bootstrap, match, score
from bdl.evaluation.metrics import (
    F1,
    AveragePrecision,
    FalseAlarmRate,
    Precision,
    Sensitivity,
    TimingError,
)
from bdl.events import Events

FORMS = {
    "mAP": AveragePrecision(),
    "mAP:onset": AveragePrecision(type="onset"),
    "AP@60": AveragePrecision(tolerance=60.0),
    "AP@0.1:seizure:onset": AveragePrecision(tolerance=0.1, type="seizure:onset"),
    "mF1": F1(),
    "F1@60": F1(tolerance=60.0),
    "F1@60>=0.25": F1(tolerance=60.0, threshold=0.25),
    "sensitivity@60>=0.5:on": Sensitivity(tolerance=60.0, threshold=0.5, type="on"),
    "precision@60>=-1": Precision(tolerance=60.0, threshold=-1.0),
    "false_alarms_per_day@60>=0": FalseAlarmRate(tolerance=60.0, threshold=0.0),
    "median@60": TimingError(statistic="median", tolerance=60.0),
    "bias@60>=0.5:off": TimingError(statistic="bias", tolerance=60.0, threshold=0.5, type="off"),
    "p95@60": TimingError(statistic="p95", tolerance=60.0),
}


class Toy(Metric):
    """Share of the detections that are hits, whatever their score; lives in the tests."""

    kind: str = "toy"
    weight: float = 1.0

    def values(self, matches: Matches, weights: np.ndarray) -> np.ndarray:
        hits = np.zeros(len(matches.recordings))
        for name in matches.types:
            rows, _ = matches.hits(name, self.tolerance or matches.tolerances[0])
            hits += np.bincount(matches.recording[rows], minlength=len(hits))
        detections = weights @ matches.detections.sum(axis=1)
        return self.weight * (weights @ hits) / np.maximum(detections, 1)


class Holder(Value):
    metric: Metric
    metrics: tuple[Metric, ...] = ()


@pytest.mark.parametrize("name", FORMS)
def test_a_text_form_reads_and_writes_the_same_metric(name: str) -> None:
    assert Metric.parse(name) == FORMS[name]
    assert FORMS[name].name == str(FORMS[name]) == name
    assert Metric.parse(FORMS[name].model_dump(mode="json")) == FORMS[name]


def test_a_field_takes_every_form_and_is_written_as_text() -> None:
    made = Holder(
        metric="AP@60.0", metrics=["mF1", {"kind": "AP"}, Sensitivity(tolerance=1.0, threshold=0.5)]
    )
    assert made.model_dump(mode="json") == {
        "metric": "AP@60",
        "metrics": ["mF1", "mAP", "sensitivity@1>=0.5"],
    }
    assert Holder(**made.model_dump(mode="json")) == made


def test_a_metric_that_its_name_does_not_determine_is_written_with_all_fields() -> None:
    made = Holder(metric=Toy(weight=2.0, tolerance=5.0))
    assert made.model_dump()["metric"] == {
        "tolerance": 5.0,
        "type": None,
        "delay": None,
        "kind": "toy",
        "weight": 2.0,
    }
    assert Holder(**made.model_dump()) == made
    assert Holder(metric="toy@5").model_dump()["metric"] == "toy@5"


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("accuracy", "metric 'accuracy' is not known; expected one of AP, mAP, "),
        ("AP@wide", "'wide' is not a number"),
        ("AP@-5", "tolerance: more than 0"),
        ("AP@60>=0.5", "AP takes no >="),
        ("sensitivity@60", "threshold: a value expected"),
        ("sensitivity>=0.5", "tolerance: a value expected"),
        ("F1>=0.5", "a threshold needs a tolerance"),
        ("@60", "is not known"),
    ],
)
def test_a_wrong_form_says_what_is_wrong(name: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        Metric.parse(name)


def tables() -> tuple[Events, Events]:
    truth = Events.of([*"aabb"], ["on", "off"] * 2, [10.0, 20.0, 30.0, 40.0])
    times = [11.0, 26.0, 12.0, 31.0, 39.0]
    names = ["on", "off", "on", "on", "off"]
    return truth, Events.of([*"aaabb"], names, times, [0.9, 0.8, 0.7, 0.6, 0.5])


@pytest.mark.parametrize("name", ["mAP", "mF1", "AP@5", "F1@9:on", "F1@5>=0.6", "median@9"])
def test_the_value_is_that_of_weights_of_one(name: str) -> None:
    matches = match(*tables(), [5.0, 9.0])
    metric = Metric.parse(name)
    ones = metric.values(matches, np.ones((3, 2)))
    assert ones == pytest.approx([metric.value(matches)] * 3, abs=1e-14)


class Ranking(Metric):
    """A metric that ranks detections, as another package would define it."""

    kind: str = "ranking"

    @property
    def needs_scores(self) -> bool:
        return True

    def values(self, matches, weights):
        return weights.sum(axis=1)


@pytest.mark.parametrize("name", ["mAP", "F1@5>=0.5", "delay@5>=0", "screening@5", "ranking"])
def test_a_metric_that_reads_scores_refuses_detections_without(name: str) -> None:
    truth, scored = tables()
    plain = Events.of(scored.recording, scored.event, scored.time)
    metric = Metric.parse(name)
    assert metric.needs_scores
    with pytest.raises(ConfigError, match="add a column 'score'"):
        metric.value(match(truth, plain, [5.0]))
    with pytest.raises(ConfigError, match="add a column 'score'"):
        bootstrap({"plain": match(truth, plain, [5.0])}, metric=metric, replicates=5)


def test_a_metric_from_outside_scores_bootstraps_and_calibrates() -> None:
    truth, detections = tables()
    result = score(truth, detections, [5.0, 9.0])
    assert result.metric("toy") == 3 / 5
    assert result.metric("toy@9") == 4 / 5
    estimate = bootstrap({"system": result.matches}, metric="toy@9", replicates=20)
    assert estimate.metric == "toy@9"
    assert estimate.systems["system"].low <= 4 / 5 <= estimate.systems["system"].high
    values = np.array([[0.0], [0.9], [0.0], [0.2], [0.0]], np.float32)
    density = Density("a", values, ("beat",), 1.0, stride=1, samples=5)
    beat = Events.of("a", "beat", [1.0])
    chosen = calibrate([density], beat, "peaks", tolerances=[1.0], metric="toy")
    assert (chosen.metric, chosen.score) == ("toy", 1.0)


def test_calibration_minimises_what_is_better_low() -> None:
    values = np.array([[0.0], [0.9], [0.0], [0.2], [0.0]], np.float32)
    density = Density("a", values, ("beat",), 1.0, stride=1, samples=5)
    truth = Events.of("a", "beat", [1.0])
    rate = "false_alarms_per_day@1>=0"
    chosen = calibrate([density], truth, "peaks", tolerances=[1.0], metric=rate)
    assert chosen.score == min(trial.score for trial in chosen.tried) == 0.0
    with pytest.raises(ConfigError, match="metric 'AP@7': a tolerance among 1 expected"):
        calibrate([density], truth, "peaks", tolerances=[1.0], metric="AP@7")


def test_a_bias_is_best_at_zero() -> None:
    bias = TimingError(statistic="bias", tolerance=1.0)
    assert bias.better(-0.5) == bias.better(0.5) < bias.better(0.1)
    assert bias.better(float("nan")) == -np.inf


def test_every_metric_has_a_summary_and_an_example() -> None:
    for kind, metric in Metric.kinds().items():
        if metric.__module__.startswith("bdl."):
            assert metric.summary().endswith("."), kind
            assert ">>>" in (metric.__doc__ or ""), kind
