"""What thresholds did on held-out recordings, against counting again at each."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdl.detector.choices import HeldOut
from bdl.detector.operating_curve import OperatingCurve
from bdl.errors import ConfigError
from bdl.evaluation import Matches, match
from bdl.evaluation.operating_points import operating_points
from bdl.events import Events
from bdl.intervals import IntervalType

BOUT = IntervalType("bout", "on", "off")
DAYS = 4


def drawn(seed: int, count: int = 60) -> Matches:
    """Matches of random detections, near and far from random events, in recordings of a day."""
    rng = np.random.default_rng(seed)
    ids, kinds = rng.choice([*"abcd"], (2, count)), rng.choice(["on", "off"], (2, count))
    times = rng.integers(0, 500, (2, count)) * 1.0
    truth = Events.of(ids[0][:20], kinds[0][:20], times[0][:20])
    scores = rng.integers(1, 30, count) / 30
    detections = Events.of(ids[1], kinds[1], times[1], scores)
    return match(
        truth, detections, [5.0, 20.0], types=("on", "off"), recordings=[*"abcd"],
        event_free="count", durations=dict.fromkeys("abcd", 86400.0), intervals=(BOUT,),
    )  # fmt: skip


@given(st.integers(0, 10_000))
def test_rates_are_those_of_counting_at_each_threshold(seed: int) -> None:
    matches = drawn(seed)
    curve = OperatingCurve.of(matches)
    assert curve is not None
    rates = curve.false_alarms_per_day()
    older = OperatingCurve(**{k: v for k, v in curve.model_dump().items() if k != "alarms"})
    once, separately = older.false_alarms_per_day((BOUT,)), older.false_alarms_per_day()
    for place, threshold in enumerate(curve.thresholds):
        points = operating_points(matches, threshold)
        assert rates[place] == points["all"][20.0].false_alarms_per_day
        false = [points[name][20.0].false for name in ("on", "off")]
        # A file of an older version has no alarms: of two ends that with more is counted.
        assert separately[place] == pytest.approx(sum(false) / DAYS)
        assert once[place] == pytest.approx(max(false) / DAYS)
        known = [points[name] for name in ("on", "off") if points[name][20.0].truths]
        recall = np.mean([point[20.0].recall for point in known])
        f1 = np.mean([point[t].f1 for point in known for t in (5.0, 20.0)])
        assert curve.sensitivity()[place] == pytest.approx(recall)
        assert curve.f1()[place] == pytest.approx(f1)


@pytest.mark.parametrize(
    ("events", "alarms"),
    [
        pytest.param([("on", 1.0), ("off", 900.0)], 0, id="one right end, one wrong end"),
        pytest.param([("on", 500.0), ("on", 600.0)], 2, id="two onsets"),
        pytest.param([("off", 500.0), ("on", 600.0)], 2, id="an offset before an onset"),
        pytest.param([("on", 500.0), ("off", 600.0)], 1, id="a wrong interval"),
    ],
)
def test_false_alarms_are_those_of_the_score(events: list[tuple[str, float]], alarms: int) -> None:
    kinds, times = zip(*events, strict=True)
    truth = Events.of("a", ["on", "off"], [0.0, 100.0])
    detections = Events.of("a", kinds, times, [0.5] * len(events))
    matches = match(truth, detections, [5.0], intervals=(BOUT,), durations={"a": 86400.0})
    curve = OperatingCurve.of(matches)
    assert curve is not None
    assert curve.false_alarms_per_day().tolist() == [alarms]
    assert operating_points(matches, None)["all"][5.0].false_alarms_per_day == alarms


def test_held_out_intervals_of_any_names_are_one_alarm() -> None:
    stay = IntervalType("stay", "alpha", "omega")
    truth = Events.of("a", ["alpha", "omega"], [0.0, 100.0])
    held = HeldOut(
        truth, (5.0,), ("alpha", "omega"), (stay,), "ignore", 0.0, durations={"a": 86400.0}
    )
    detections = Events.of("a", ["alpha", "omega"], [500.0, 600.0], [0.5, 0.5])
    curve = OperatingCurve.of(held.match(detections, ["a"]))
    assert curve is not None
    assert curve.false_alarms_per_day().tolist() == [1.0]


@given(st.integers(0, 10_000), st.floats(0.0, 8.0), st.integers(0, 100).map(lambda n: n / 100))
def test_the_threshold_that_is_asked_for_is_the_best_of_all(
    seed: int, per_day: float, share: float
) -> None:
    curve = OperatingCurve.of(drawn(seed))
    assert curve is not None
    rates, sensitivities = curve.false_alarms_per_day(), curve.sensitivity()
    most = per_day * (1 + 1e-9)
    allowed = [t for t, rate in zip(curve.thresholds, rates, strict=True) if rate <= most]
    if allowed:
        assert curve.within_false_alarms(per_day) == min(allowed)
    else:
        with pytest.raises(ConfigError, match="allow at least as many"):
            curve.within_false_alarms(per_day)
    enough = [
        t
        for t, value in zip(curve.thresholds, sensitivities, strict=True)
        if value >= share - 1e-12
    ]
    if enough:
        assert curve.reaching_sensitivity(share) == max(enough)
    else:
        with pytest.raises(ConfigError, match="--all"):
            curve.reaching_sensitivity(share)


@given(st.integers(0, 10_000))
def test_reliability_counts_every_detection_once(seed: int) -> None:
    matches = drawn(seed)
    curve = OperatingCurve.of(matches)
    assert curve is not None
    bands = curve.reliability()
    assert sum(band.detections for band in bands) == len(matches.score)
    hits = sum(band.detections * np.array(band.right) for band in bands)
    np.testing.assert_allclose(hits, matches.count.sum(axis=0))
    assert all(band.low <= band.high for band in bands)
    assert [band.high for band in bands[1:]] == [band.low for band in bands[:-1]]


def test_many_scores_are_kept_by_a_hundred_thresholds() -> None:
    scores = np.random.default_rng(0).uniform(size=5000)
    detections = Events.of("a", "beat", np.arange(5000.0), scores)
    truth = Events.of("a", "beat", [10.0, 20.0])
    curve = OperatingCurve.of(
        match(truth, detections, [1.0], durations={"a": 5000.0}), including=[scores[7]]
    )
    assert curve is not None
    assert len(curve.thresholds) <= 101
    assert curve.thresholds[curve.place(scores[7])] == scores[7]
    assert curve.detections[-1] == (5000,)
