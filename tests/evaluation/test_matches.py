"""What is read from kept matches equals what matching again would say."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bdl.errors import ConfigError, InputError
from bdl.evaluation import Matches, Regions, error_table, match, screening
from bdl.events import Events
from naive import evaluation as naive
from naive import evaluation_cases as cases


def matched(
    case: cases.Case,
    detections: list[naive.Detection] | None = None,
    recordings: list[str] | None = None,
) -> Matches:
    return match(
        cases.table(case.truths, scored=False),
        cases.table(case.detections if detections is None else detections, scored=True),
        case.tolerances,
        recordings=recordings or case.recordings,
        event_free=case.event_free,  # type: ignore[arg-type]
        types=cases.TYPES,
    )


def random_cases(count: int, rows: int = 40) -> list[cases.Case]:
    rng = np.random.default_rng(42)
    return [cases.draw(rng, recordings=5, rows=rows) for _ in range(count)]


@pytest.mark.parametrize("case", random_cases(25))
def test_thresholds_need_no_second_matching(case: cases.Case) -> None:
    kept = matched(case)
    for threshold in [-1.0, -0.25, 0.0, 0.25, 0.3, 0.75, 9.0]:
        again = matched(case, [d for d in case.detections if d[3] >= threshold])
        above = kept.above(threshold)
        np.testing.assert_allclose(
            above.average_precision(), again.average_precision(), rtol=0, atol=1e-12
        )
        np.testing.assert_array_equal(above.count, again.count)


@pytest.mark.parametrize("case", random_cases(25))
def test_curves_and_f1_at_a_threshold_follow_the_rules(case: cases.Case) -> None:
    kept = matched(case)
    lasting = replace(kept, durations=dict.fromkeys(kept.recordings, 8640.0))
    for j, event in enumerate(kept.types):
        for k, tolerance in enumerate(case.tolerances):
            pooled, truths = naive.ranked_hits(
                case.truths, case.detections, event, tolerance, case.event_free
            )
            if not truths:
                assert np.isnan(kept.tally(0.5).recall[j, k])
                continue
            points = naive.curve(pooled, truths)
            curve = kept.curve(event, tolerance)
            np.testing.assert_allclose(
                np.array([*curve.columns().values()]).T,
                np.array([p[:3] for p in points]).reshape(-1, 3),
                atol=1e-12,
            )
            for threshold, _, _, f1 in points:
                assert kept.tally(threshold).f1[j, k] == pytest.approx(f1, abs=1e-12)
            best = kept.best_f1()
            if best.f1[j, k] > 0:
                assert kept.tally(best.threshold[j, k]).f1[j, k] == best.f1[j, k]
            days = screening(lasting, event, tolerance)
            false = [(len([1 for s, _ in pooled if s >= p[0]])) * (1 - p[1]) for p in points]
            expected = np.array(false) / (len(kept.recordings) / 10)
            np.testing.assert_allclose(days.false_alarms_per_day, expected, atol=1e-9)
            np.testing.assert_allclose(days.sensitivity, [p[2] for p in points], atol=1e-12)


def test_names_that_were_not_scored_are_refused() -> None:
    kept = match(Events.of("a", "x", [0.0]), Events.of("a", "x", [0.0], [1.0]), [1.0])
    with pytest.raises(ConfigError, match="'y' is not among"):
        kept.curve("y", 1.0)
    with pytest.raises(ConfigError, match="tolerance 2 was not matched"):
        kept.curve("x", 2.0)


def inside(spans: dict[str, list[tuple[float, float]]], recording: str, time: float) -> bool:
    return any(a <= time < b for a, b in spans.get(recording, []))


@pytest.mark.parametrize("case", random_cases(40))
def test_regions_equal_leaving_out_what_lies_outside(case: cases.Case) -> None:
    rng = np.random.default_rng(len(case.truths))
    spans = {
        name: [tuple(sorted(rng.choice(40, 2, replace=False).tolist())) for _ in range(3)]
        for name in case.recordings[:-1] or case.recordings
    }
    truths = [t for t in case.truths if inside(spans, t[0], t[2])]
    detections = [d for d in case.detections if inside(spans, d[0], d[2])]
    arguments = (
        cases.table(case.truths, scored=False),
        cases.table(case.detections, scored=True),
        case.tolerances,
    )
    options = {"event_free": case.event_free, "types": cases.TYPES, "recordings": case.recordings}
    if not truths:
        with pytest.raises(InputError, match="no events at all"):
            match(*arguments, regions=Regions.of(spans), **options)  # type: ignore[arg-type]
        return
    kept = match(*arguments, regions=Regions.of(spans), **options)  # type: ignore[arg-type]
    ap, _ = naive.figures(truths, detections, list(cases.TYPES), case.tolerances, case.event_free)
    np.testing.assert_allclose(kept.average_precision(), ap, rtol=0, atol=1e-12)
    lost = kept.left_out
    out = lost.detections_outside_regions + lost.detections_in_unscored_recordings
    assert len(kept.time) + out == len(case.detections)


def test_impossible_regions_are_refused() -> None:
    with pytest.raises(InputError, match="start < end"):
        Regions.of({"a": [(5.0, 5.0)]})


@pytest.mark.parametrize("case", random_cases(40))
def test_every_truth_and_detection_has_one_kind_of_error(case: cases.Case) -> None:
    kept = matched(case)
    table = error_table(kept, case.tolerances[0], threshold=0.25)
    for j, event in enumerate(kept.types):
        kinds = table.totals[event]
        paired = kinds["hit"] + kinds["early"] + kinds["late"]
        assert paired + kinds["missed"] == kept.truths[:, j].sum()
        cut = kept.cuts([0.25])[0, j] - kept.start[j]
        assert paired + kinds["duplicate"] + kinds["false"] == cut
        assert kinds["hit"] == kept.hits_before(kept.cuts([0.25])[0])[j, 0]
    assert (table.counts >= 0).all()


def test_errors_are_told_apart_and_located() -> None:
    truth = Events.of(["a", "a", "b", "b"], "x", [100.0, 200.0, 100.0, 300.0])
    times = [101.0, 103.0, 192.0, 110.0, 500.0, 600.0]
    names = ["a", "a", "a", "b", "b", "b"]
    kept = match(truth, Events.of(names, "x", times, [0.9, 0.8, 0.7, 0.6, 0.5, 0.4]), [5.0])
    table = error_table(kept, 5.0, threshold=0.0)
    assert table.totals["x"] == {
        "hit": 1,
        "early": 1,
        "late": 1,
        "missed": 1,
        "duplicate": 1,
        "false": 2,
    }
    assert table.worst("false") == [("b", 2)]
    assert table.worst("duplicate", type="x") == [("a", 1)]
    assert table.half_in("false") == 1
    assert "1 of 2: b (2)" in str(table)
    assert table.reach == 15.0
    with pytest.raises(ConfigError, match="kind"):
        table.worst("odd")


def test_best_threshold_is_used_where_none_is_given() -> None:
    truth = Events.of("a", "x", [0.0, 50.0])
    kept = match(truth, Events.of("a", "x", [0.0, 50.0, 90.0], [0.9, 0.8, 0.1]), [5.0])
    table = error_table(kept, 5.0)
    assert table.threshold == {"x": 0.8}
    assert table.totals["x"]["false"] == 0
