"""Scores that know about delay, compared with a naive filter of the matches."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl import Events, write_events
from bdl.errors import ConfigError
from bdl.evaluation import bootstrap, match
from bdl.evaluation.delay_table import delay_table
from bdl.evaluation.metrics import Metric
from calling import call, call_json


@st.composite
def tables(draw: st.DrawFn) -> tuple[Events, Events]:
    times = st.integers(0, 60)
    truths = draw(st.lists(st.tuples(st.sampled_from("ab"), times), min_size=1, max_size=12))
    rows = draw(
        st.lists(
            st.tuples(st.sampled_from("ab"), times, st.integers(0, 5), st.integers(0, 40)),
            max_size=16,
        )
    )
    truth = Events.of([r for r, _ in truths], "x", [float(t) for _, t in truths])
    columns = [*zip(*rows, strict=True)] or [[]] * 4
    detections = Events.of(
        [*columns[0]], ["x"] * len(rows), [float(t) for t in columns[1]],
        [s / 5 for s in columns[2]],
        [float(t + late) for t, late in zip(columns[1], columns[3], strict=True)],
    )  # fmt: skip
    return truth, detections


@settings(max_examples=80, deadline=None)
@given(tables(), st.sampled_from([0.0, 5.0, 20.0, 1000.0]), st.sampled_from([0.0, 500.0, 3000.0]))
def test_late_hits_are_no_hits(pair, delay: float, rate: float) -> None:
    truth, detections = pair
    durations = {"a": 100.0, "b": 100.0}
    rules = {"event_free": "count", "recordings": ["a", "b"], "durations": durations}
    matches = match(truth, detections, [4.0, 9.0], **rules)
    for tolerance in matches.tolerances:
        rows, truths = matches.hits("x", tolerance)
        timely = matches.issued[rows] - matches.truth_time[truths] <= delay
        kept_rows, kept_truths = matches.within(delay).hits("x", tolerance)
        assert kept_rows.tolist() == rows[timely].tolist()
        assert kept_truths.tolist() == truths[timely].tolist()
        # Average precision, rank by rank with ties at once.
        total, ap, seen = len(truth), 0.0, 0
        for score in sorted({*matches.score.tolist()}, reverse=True):
            at = np.flatnonzero(matches.score >= score)
            hits = int(np.isin(at, kept_rows).sum())
            ap += (hits - seen) / total * hits / len(at)
            seen = hits
        assert Metric.parse(f"AP@{tolerance:g}<={delay:g}").value(matches) == pytest.approx(ap)
        # Sensitivity: the best threshold whose false alarms are few; late hits are none.
        best = 0.0
        for score in {*matches.score.tolist()}:
            at = np.flatnonzero(matches.score >= score)
            false = len(at) - int(np.isin(at, rows).sum())
            if false / (200 / 86400) <= rate * (1 + 1e-9):
                best = max(best, int(np.isin(at, kept_rows).sum()) / total)
        metric = Metric.parse(
            {"kind": "screening", "tolerance": tolerance, "delay": delay,
             "false_alarms_per_day": rate}
        )  # fmt: skip
        assert metric.value(matches) == pytest.approx(best)
        seconds = matches.issued[rows] - matches.truth_time[truths]
        for name, share in (("delay", 0.5), ("delay-p95", 0.95)):
            value = Metric.parse(f"{name}@{tolerance:g}").value(matches)
            assert np.isnan(value) if not len(seconds) else value == np.quantile(seconds, share)


def test_a_draw_counts_recordings_as_often_as_it_has_them() -> None:
    """A replicate that draws a recording twice scores as a table with its copy."""
    rng = np.random.default_rng(3)
    parts, detected = {}, {}
    for id in "abc":
        times = np.sort(rng.uniform(0, 900, 8))
        parts[id] = times
        detected[id] = (times + rng.normal(size=8) * 3, rng.random(8), rng.uniform(0, 60, 8))

    def tables_of(ids: list[str]) -> tuple[Events, Events, dict[str, float]]:
        names = [f"{id}{i}" for i, id in enumerate(ids)]
        truth = Events.concat(
            [Events.of(n, "x", parts[i]) for n, i in zip(names, ids, strict=True)]
        )
        detections = Events.concat(
            [
                Events.of(n, "x", detected[i][0], detected[i][1], detected[i][0] + detected[i][2])
                for n, i in zip(names, ids, strict=True)
            ]
        )
        return truth, detections, dict.fromkeys(names, 900.0)

    truth, detections, durations = tables_of([*"abc"])
    whole = match(truth, detections, [5.0], durations=durations)
    truth, detections, durations = tables_of([*"aab"])
    copied = match(truth, detections, [5.0], durations=durations)
    for text in ("AP@5<=30", "delay@5", "delay-p95@5>=0.2", "mF1<=20"):
        metric = Metric.parse(text)
        drawn = metric.replicates(whole, np.array([[2.0, 1.0, 0.0]]))[0]
        assert drawn == pytest.approx(metric.value(copied))
        assert metric.name == text
    metric = Metric.parse(
        {"kind": "screening", "tolerance": 5.0, "delay": 30.0, "false_alarms_per_day": 100.0}
    )
    drawn = metric.replicates(whole, np.array([[2.0, 1.0, 0.0]]))[0]
    assert drawn == pytest.approx(metric.value(copied))
    result = bootstrap({"one": whole, "other": whole.above(0.5)}, metric=metric, replicates=50)
    assert result.systems["one"].has_interval


def test_the_command_scores_delays(tmp_path) -> None:
    truth = Events.of([*"aabb"], "x", [100.0, 400.0, 50.0, 700.0])
    write_events(truth, tmp_path / "truth.csv")
    detections = Events.of(
        [*"aabbb"], "x", [101.0, 402.0, 49.0, 700.0, 300.0], [0.9, 0.8, 0.7, 0.6, 0.5],
        [130.0, 700.0, 60.0, 790.0, 310.0],
    )  # fmt: skip
    write_events(detections, tmp_path / "found.csv")
    (tmp_path / "recordings.csv").write_text("recording,duration\na,43200\nb,43200\n")
    command = [
        "score", "--truth", tmp_path / "truth.csv", "--detections", tmp_path / "found.csv",
        "--tolerance", 5, "--delay", 60, "--delay", 300, "--recordings",
        tmp_path / "recordings.csv", "--false-alarms-per-day", 0,
    ]  # fmt: skip
    shown = call_json(*command)["delay"]["x"]["5"]
    assert shown["median"]["value"] == 60.0
    assert shown["AP"]["value"] == 1.0
    assert shown["AP <= 60 s"]["value"] == pytest.approx((1 + 2 / 3) / 4)
    assert shown["sensitivity <= 60 s, 0/day"]["value"] == 0.5
    assert shown["sensitivity <= 300 s, 0/day"]["value"] == 1.0
    text = call(*command, "--bootstrap", 20)
    assert "issued in time" in text
    write_events(Events.of("a", "x", [1.0], [1.0]), tmp_path / "plain.csv")
    with pytest.raises(ConfigError, match="column 'issued' is missing"):
        call(
            "score", "--truth", tmp_path / "truth.csv", "--detections", tmp_path / "plain.csv",
            "--tolerance", 5, "--delay", 60,
        )  # fmt: skip


def test_delays_must_be_numbers() -> None:
    detections = Events.of("a", "x", [1.0], [1.0], [2.0])
    matches = match(Events.of("a", "x", [1.0]), detections, [5.0])
    with pytest.raises(ConfigError, match="0 seconds or more"):
        delay_table(matches, [-1.0])
