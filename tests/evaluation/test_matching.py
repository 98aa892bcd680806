"""Matching and AP against the rules word for word, and the invariances they imply."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import ConfigError, InputError
from bdl.evaluation import Matcher, Matches, match
from bdl.events import Events
from naive import evaluation as naive
from naive import evaluation_cases as cases
from naive.evaluation_pandas import event_detection_ap


def check(case: cases.Case) -> Matches:
    """Our AP and best F1 equal the naive ones."""
    matches = match(
        cases.table(case.truths, scored=False),
        cases.table(case.detections, scored=True),
        case.tolerances,
        recordings=case.recordings,
        event_free=case.event_free,  # type: ignore[arg-type]
    )
    ap, f1 = naive.figures(
        case.truths, case.detections, list(matches.types), case.tolerances, case.event_free
    )
    np.testing.assert_allclose(matches.average_precision(), ap, rtol=0, atol=1e-12)
    np.testing.assert_allclose(matches.best_f1().f1, f1, rtol=0, atol=1e-12)
    assert matches.mean_average_precision() == pytest.approx(naive.mean(ap), abs=1e-12)
    return matches


@pytest.mark.parametrize("seed", range(8))
def test_equals_the_rules_word_for_word(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for _ in range(2600):  # 8 x 2,600 = 20,800 cases
        check(cases.draw(rng))


@pytest.mark.parametrize("seed", range(3))
def test_equals_the_rules_on_crowded_recordings(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    for _ in range(15):
        check(cases.draw(rng, recordings=2, rows=120))


moments = st.integers(0, 12).map(float)
truth_rows = st.lists(
    st.tuples(st.sampled_from("ab"), st.just("on"), moments), min_size=1, max_size=8
)
detection_rows = st.lists(
    st.tuples(st.sampled_from("ab"), st.just("on"), moments, st.sampled_from([0.1, 0.5, 0.9])),
    max_size=10,
)


@settings(max_examples=150, deadline=None)
@given(truth_rows, detection_rows, st.sampled_from([[1.0], [3.0, 1.0], [2.0, 5.0, 20.0]]))
def test_equals_the_rules_where_hypothesis_looks(
    truths: list[naive.Truth], detections: list[naive.Detection], tolerances: list[float]
) -> None:
    check(cases.Case(truths, detections, tolerances, ["a", "b"], "ignore"))


def test_equals_the_pandas_loop() -> None:
    rng = np.random.default_rng(5)
    for _ in range(5):
        case = cases.draw(rng, rows=30, step=1.0)
        kept = {r for r, _, _ in case.truths}
        truth = pd.DataFrame(case.truths, columns=["series_id", "event", "step"])
        detections = pd.DataFrame(case.detections, columns=["series_id", "event", "step", "score"])
        loop = event_detection_ap(truth, detections, case.tolerances)
        matches = match(
            Events.from_frame(truth, recording="series_id", time="step"),
            Events.from_frame(detections, recording="series_id", time="step"),
            case.tolerances,
            recordings=kept | set(detections["series_id"]),
        )
        ours = matches.average_precision()
        for j, event in enumerate(matches.types):
            for k, tolerance in enumerate(case.tolerances):
                assert ours[j, k] == pytest.approx(loop[event][tolerance], abs=1e-12)


@pytest.mark.parametrize("period", [0.1, 0.02, 1 / 3, 1 / 360, 5.0])
def test_steps_and_seconds_give_one_answer(period: float) -> None:
    """Also at exactly the tolerance, late in a recording of a month."""
    late = float(round(30 * 86400 / period))
    for seed in range(40):
        tables = []
        for step, shift in ((1.0, 0.0), (1.0, late), (period, late * period)):
            case = cases.draw(np.random.default_rng(seed), rows=30, step=step)
            truths = [(r, e, t + shift) for r, e, t in case.truths]
            shifted = [(r, e, t + shift, s) for r, e, t, s in case.detections]
            matches = match(
                cases.table(truths, scored=False),
                cases.table(shifted, scored=True),
                case.tolerances,
                event_free="count",
                recordings=case.recordings,
            )
            tables.append((matches.count, matches.row, matches.truth))
        for other in tables[1:]:
            for ours, theirs in zip(tables[0], other, strict=True):
                np.testing.assert_array_equal(ours, theirs)


def shuffled(events: Events, rng: np.random.Generator) -> Events:
    return events._rows(rng.permutation(len(events)))


@pytest.mark.parametrize("seed", range(30))
def test_monotone_scores_names_and_row_order_do_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    case = cases.draw(rng, rows=40)
    before = check(case).average_precision()
    renamed = {name: f"z{9 - i}" for i, name in enumerate(case.recordings)}
    truths = [(renamed[r], e, t) for r, e, t in case.truths]
    detections = [(renamed[r], e, t, math.exp(3 * s)) for r, e, t, s in case.detections]
    after = match(
        shuffled(cases.table(truths, scored=False), rng),
        shuffled(cases.table(detections, scored=True), rng),
        case.tolerances,
        recordings=renamed.values(),
        event_free=case.event_free,  # type: ignore[arg-type]
    )
    np.testing.assert_array_equal(after.average_precision(), before)


def test_a_hit_is_strictly_nearer_than_the_tolerance() -> None:
    truth, detections = Events.of("a", "x", [10.0]), Events.of("a", "x", [13.0], [1.0])
    ap = match(truth, detections, [3.0, 3.0001]).average_precision()
    assert ap.tolist() == [[0.0, 1.0]]


def test_of_two_equally_near_the_earlier_is_taken() -> None:
    truth = Events.of("a", "x", [0.0, 10.0])
    detections = Events.of("a", "x", [5.0, 1.0], [0.9, 0.8])
    matches = match(truth, detections, [6.0])
    assert matches.hits("x", 6.0)[1].tolist() == [0]  # truth 0 is gone, 10 is too far from 1


def test_hits_are_not_nested_in_the_tolerance() -> None:
    truth = Events.of("a", "x", [0.0, 4.0])
    detections = Events.of("a", "x", [2.5, 3.9], [0.9, 0.8])
    matches = match(truth, detections, [1.0, 2.0])
    assert matches.hits("x", 1.0)[0].tolist() == [1]
    assert matches.hits("x", 2.0)[0].tolist() == [0]


def test_a_million_detections_in_one_recording() -> None:
    rng = np.random.default_rng(0)
    truth = Events.of("a", "x", np.arange(2000.0) * 50)
    times = rng.random(1_000_000) * 100_000
    names = (("a",), ("x",), np.zeros(10**6, np.int32), np.zeros(10**6, np.int32))
    matches = match(truth, Events(*names, times, rng.random(10**6)), [10.0, 1.0])
    assert matches.count.tolist() == [[2000, 2000]]
    assert 0.1 < matches.mean_average_precision() < 0.2


def test_infinite_scores_rank_first_and_last() -> None:
    truth = Events.of("a", "x", [0.0, 100.0])
    detections = Events.of("a", "x", [50.0, 0.0, 100.0], [-np.inf, 1.0, np.inf])
    assert match(truth, detections, [5.0]).mean_average_precision() == 1.0


def test_negative_zero_ties_with_zero() -> None:
    truth = Events.of("a", "x", [0.0])
    detections = Events.of("a", "x", [0.0, 50.0], [-0.0, 0.0])
    assert match(truth, detections, [5.0]).mean_average_precision() == 0.5


@pytest.mark.parametrize("tolerances", [[], [0.0], [-1.0], [1.0, 1.0], [np.nan], [np.inf]])
def test_impossible_tolerances_are_refused(tolerances: list[float]) -> None:
    with pytest.raises(ConfigError, match="tolerance"):
        Matcher(Events.of("a", "x", [0.0]), tolerances)


def test_no_truths_at_all_is_an_error() -> None:
    with pytest.raises(InputError, match="no events at all"):
        match(Events.empty(), Events.empty(scored=True), [1.0])


def test_no_detections_score_zero() -> None:
    matches = match(Events.of("a", "x", [0.0]), Events.empty(scored=True), [1.0])
    assert matches.mean_average_precision() == 0.0
    assert matches.mean_f1() == 0.0


def test_detections_without_scores_are_matched_but_not_ranked() -> None:
    matches = match(Events.of("a", "beat", [1.0]), Events.of("a", "beat", [1.0, 9.0]), [5.0])
    assert matches.count.tolist() == [[1]]
    assert not matches.ranked
    assert np.isnan(matches.average_precision()).all()


def test_unknown_recordings_and_types_are_refused_unless_ignored() -> None:
    truth = Events.of("a", "x", [0.0])
    stranger = Events.of(["a", "b"], "x", [0.0, 0.0], [0.5, 0.9])
    odd = Events.of("a", ["x", "y"], [0.0, 0.0], [0.5, 0.9])
    with pytest.raises(InputError, match=r"1 detections in 1 recordings .* 'b'"):
        match(truth, stranger, [1.0])
    with pytest.raises(InputError, match=r"1 detections in 1 event types .* 'y'"):
        match(truth, odd, [1.0])
    for detections, reason in ((stranger, "unknown recordings"), (odd, "unknown types")):
        ignoring = match(truth, detections, [1.0], unknown="ignore")
        assert ignoring.mean_average_precision() == 1.0
        assert any(reason in line for line in ignoring.left_out.lines())
    counted = match(truth, stranger, [1.0], unknown="event-free", event_free="count")
    assert counted.mean_average_precision() == 0.5


def test_event_free_recordings_are_ignored_or_counted() -> None:
    truth = Events.of("a", "x", [0.0])
    detections = Events.of(["a", "b"], "x", [0.0, 0.0], [0.5, 0.9])
    scores = {
        rule: match(truth, detections, [1.0], recordings=["a", "b"], event_free=rule)  # type: ignore[arg-type]
        for rule in ("ignore", "count")
    }
    assert scores["ignore"].mean_average_precision() == 1.0
    assert scores["count"].mean_average_precision() == 0.5
    assert scores["ignore"].left_out.detections_in_unscored_recordings == 1


def test_a_row_without_time_makes_its_recording_known() -> None:
    frame = pd.DataFrame({"recording": ["a", "b"], "event": "x", "time": [0.0, np.nan]})
    truth = Events.from_frame(frame, incomplete="drop")
    detections = Events.of(["a", "b"], "x", [0.0, 0.0], [0.5, 0.9])
    matches = match(truth, detections, [1.0], event_free="count")
    assert matches.mean_average_precision() == 0.5
    assert matches.left_out.truths_without_time == 1


def test_a_matcher_serves_many_sets_of_detections() -> None:
    rng = np.random.default_rng(3)
    case = cases.draw(rng, rows=30)
    truth = cases.table(case.truths, scored=False)
    matcher = Matcher(truth, case.tolerances, recordings=case.recordings, unknown="ignore")
    for _ in range(3):
        detections = cases.table(cases.draw(rng).detections, scored=True)
        once = match(
            truth, detections, case.tolerances, recordings=case.recordings, unknown="ignore"
        )
        again = matcher.match(detections)
        np.testing.assert_array_equal(again.average_precision(), once.average_precision())
