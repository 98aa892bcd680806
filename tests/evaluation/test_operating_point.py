"""Counts at a threshold are those of matching only the detections that reach it."""

from __future__ import annotations

import numpy as np
import pytest

from bdl.evaluation import Metric, match, operating_points
from bdl.evaluation.alarms import false_alarms
from bdl.events import Events
from bdl.formats import write_events
from calling import call, call_json
from naive import evaluation as naive

TOLERANCES = (2.0, 8.0)
THRESHOLDS = (-1.0, 0.3, 0.35, 0.9, 2.0)


def tables(seed: int) -> tuple[Events, Events]:
    rng = np.random.default_rng(seed)
    names = np.array(["a", "b", "c"], dtype=object)
    kinds = np.array(["off", "on"], dtype=object)
    n, m = int(rng.integers(2, 30)), int(rng.integers(1, 60))
    truth = Events.of(names[rng.integers(0, 3, n)], kinds[np.arange(n) % 2], rng.uniform(0, 99, n))
    who = np.array(truth.recordings, dtype=object)
    where = who[rng.integers(0, len(who), m)]
    score = rng.uniform(0, 1, m).round(1)
    return truth, Events.of(where, kinds[rng.integers(0, 2, m)], rng.uniform(0, 99, m), score)


@pytest.mark.parametrize("seed", range(100))
def test_counts_are_those_of_matching_what_is_kept(seed: int) -> None:
    truth, detections = tables(seed)
    kept = match(truth, detections, TOLERANCES, durations=dict.fromkeys("abc", 43200.0))
    assert detections.score is not None
    at_all = {t: false_alarms(kept, THRESHOLDS, t).sum(axis=1).tolist() for t in TOLERANCES}
    for place, threshold in enumerate(THRESHOLDS):
        rows = detections.score >= threshold
        only = Events.of(
            detections.recording[rows],
            detections.event[rows],
            detections.time[rows],
            detections.score[rows],
        )
        again = match(truth, only, TOLERANCES)
        got = operating_points(kept, threshold)
        for j, name in enumerate(kept.types):
            for k, tolerance in enumerate(TOLERANCES):
                point = got[name][tolerance]
                assert point.detections == np.sum(only.event == name)
                assert point.hits == again.count[j, k]
                assert point.truths == np.sum(truth.event == name)
        for k, tolerance in enumerate(TOLERANCES):
            figures = got["all"][tolerance].to_dict()
            assert figures["false"] == len(only) - again.count[:, k].sum()
            hit = np.concatenate([again.hits(name, tolerance)[0] for name in again.types])
            rows = [
                (again.recordings[again.recording[i]], again.types[j], again.time[i], i in hit)
                for j in range(len(again.types))
                for i in range(again.start[j], again.start[j + 1])
            ]
            alarms = naive.false_alarms(rows, "on", "off")
            assert figures["false_alarms"] == at_all[tolerance][place] == alarms
            assert figures["false_alarms_per_day"] == pytest.approx(
                alarms / len(kept.recordings) * 2
            )
            rate = Metric.parse(f"false_alarms_per_day@{tolerance:g}>={threshold}").value(kept)
            assert rate == figures["false_alarms_per_day"]


def test_the_command_counts_at_a_threshold(tmp_path) -> None:
    truth, detections = tables(1)
    write_events(truth, tmp_path / "truth.csv")
    write_events(detections, tmp_path / "found.csv")
    arguments = [f"--truth={tmp_path / 'truth.csv'}", f"--detections={tmp_path / 'found.csv'}"]
    arguments += ["--tolerance=2", "--tolerance=8", "--threshold=0.5"]
    at = call_json("score", *arguments)["at_threshold"]
    expected = operating_points(match(truth, detections, TOLERANCES), 0.5)
    assert at["threshold"] == 0.5
    assert at["all"]["8"] == expected["all"][8.0].to_dict()
    assert "detections with score >= 0.5" in call("score", *arguments)
