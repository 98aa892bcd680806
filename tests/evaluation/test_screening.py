"""Sensitivity at a rate of false alarms is one number, also at exactly the rate of a threshold."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bdl.detector.operating_curve import OperatingCurve
from bdl.evaluation import match, screening
from bdl.evaluation.metrics import ScreeningSensitivity
from bdl.events import Events
from calling import call, call_json
from naive import evaluation as naive


@given(st.integers(0, 2**32 - 1), st.integers(1, 200_000), st.integers(0, 6))
def test_every_way_to_ask_gives_the_same_sensitivity(seed: int, seconds: int, alarms: int) -> None:
    rng = np.random.default_rng(seed)
    truth = Events.of("a", "x", rng.integers(0, 50, 5) * 20.0)
    scores = rng.integers(1, 6, 12) / 10
    detections = Events.of("a", "x", rng.integers(0, 50, 12) * 20.0, scores)
    matches = match(truth, detections, [5.0], durations={"a": float(seconds)})
    rate = alarms / (seconds / 86400)
    hits = {*matches.hits("x", 5.0)[0].tolist()}
    rows = [(score, place in hits) for place, score in enumerate(matches.score.tolist())]
    expected = naive.sensitivity_within(rows, 5, alarms)
    metric = ScreeningSensitivity(tolerance=5.0, false_alarms_per_day=rate)
    curve = screening(matches, "x", 5.0)
    assert metric.value(matches) == curve.sensitivity_at(rate) == expected
    threshold = curve.threshold_at(rate)
    if expected:
        kept = [hit for score, hit in rows if score >= threshold]
        assert kept.count(True) / 5 == expected
    operating = OperatingCurve.of(matches)
    assert operating is not None
    if rate >= operating.false_alarms_per_day()[0]:
        place = operating.place(operating.within_false_alarms(rate))
        assert operating.sensitivity()[place] == expected


def test_a_type_without_events_has_no_sensitivity(tmp_path) -> None:
    (tmp_path / "truth.csv").write_text("recording,event,time\na,x,10\n")
    (tmp_path / "found.csv").write_text("recording,event,time,score\na,x,10,.9\na,y,20,.8\n")
    (tmp_path / "recordings.csv").write_text("recording,duration\na,86400\n")
    words = ["score", "--truth", tmp_path / "truth.csv", "--detections", tmp_path / "found.csv"]
    words += ["--recordings", tmp_path / "recordings.csv", "--scoring=screening", "--tolerance=5"]
    words += ["--type=x", "--type=y", "--false-alarms-per-day=1"]
    types = call_json(*words)["types"]
    assert types["x"]["5"]["sensitivity_at"] == {"1": 1.0}
    assert types["y"]["5"]["sensitivity_at"] == types["y"]["5"]["threshold_at"] == {"1": None}
    assert "–" in call(*words)
