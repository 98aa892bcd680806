"""Collar F-measure and the seizure community's scores, against their public implementations."""

from __future__ import annotations

from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdl.errors import ConfigError, InputError
from bdl.evaluation import Tally
from bdl.evaluation.collar import collar_f, interval_collar_f, largest_matching
from bdl.evaluation.interval_overlap import ANY_OVERLAP, EventRule, event_overlap, sample_overlap
from bdl.events import Events
from bdl.intervals import Intervals, IntervalType
from bdl.pairing import pair

mir_eval = pytest.importorskip("mir_eval")
sed_eval = pytest.importorskip("sed_eval")
Annotation = pytest.importorskip("timescoring.annotations").Annotation
timescoring = pytest.importorskip("timescoring.scoring")

VOICE = IntervalType("voice", onset="on", offset="off")


def grid_times(rng: np.random.Generator, most: int) -> np.ndarray:
    """Distinct multiples of 1/8 s, on which every difference is exact."""
    return np.sort(rng.choice(200, int(rng.integers(1, most)), replace=False)) / 8


@pytest.mark.parametrize("seed", range(60))
def test_onset_f_equals_mir_eval(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true, detected = grid_times(rng, 25), grid_times(rng, 25)
    ours = collar_f(
        Events.of("a", "on", true), Events.of("a", "on", detected, np.ones(len(detected))), 0.25
    )["on"]
    f, precision, recall = mir_eval.onset.f_measure(true, detected, window=0.25)
    assert (ours.f1, ours.precision, ours.recall) == pytest.approx((f, precision, recall))


def random_spans(rng: np.random.Generator, most: int = 8) -> np.ndarray:
    """Disjoint intervals with ends on a grid of 1/8 s."""
    count = 2 * int(rng.integers(1, most))
    return np.sort(rng.choice(160, count, replace=False)).reshape(-1, 2) / 8


def intervals(name: str, spans: np.ndarray) -> Intervals:
    return Intervals.of(name, "voice", spans[:, 0], spans[:, 1])


def several(spans: dict[str, np.ndarray]) -> Intervals:
    names = np.repeat([*spans], [len(rows) for rows in spans.values()])
    rows = np.concatenate([*spans.values()])
    return Intervals.of(names, "voice", rows[:, 0], rows[:, 1])


@pytest.mark.parametrize("seed", range(60))
@pytest.mark.parametrize("share", [0.0, 0.5])
def test_interval_f_equals_sed_eval(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    true, detected = random_spans(rng), random_spans(rng)
    metric = sed_eval.sound_event.EventBasedMetrics(
        event_label_list=["voice"], t_collar=1.0, percentage_of_length=share
    )

    def listed(spans: np.ndarray) -> list[dict[str, object]]:
        rows = spans.tolist()
        return [{"onset": a, "offset": b, "event_label": "voice", "file": "a"} for a, b in rows]

    metric.evaluate(listed(true), listed(detected))
    theirs = metric.results_overall_metrics()["f_measure"]
    ours = interval_collar_f(
        intervals("a", true), intervals("a", detected), collar=1.0, offset_share=share
    )
    assert ours.f1 == pytest.approx(np.nan_to_num(theirs["f_measure"]))
    assert ours.precision == pytest.approx(theirs["precision"])
    assert ours.recall == pytest.approx(theirs["recall"])


def test_types_recordings_and_threshold_are_kept_apart() -> None:
    truth = Events.of(["a", "b"], ["on", "off"], [1.0, 1.0])
    detections = Events.of(["a", "b", "a"], ["on", "on", "on"], [1.0, 1.0, 1.1], [0.9, 0.8, 0.1])
    result = collar_f(truth, detections, 0.5, threshold=0.5)
    assert result["on"] == Tally(hits=1, detections=2, truths=1)
    assert result["off"] == Tally(hits=0, detections=0, truths=1)
    assert np.isnan(result["off"].precision)
    assert result["off"].f1 == 0.0


def seizure_spans(rng: np.random.Generator) -> np.ndarray:
    count = 2 * int(rng.integers(0, 7))
    times = np.sort(rng.choice(36_000, count, replace=False)).reshape(-1, 2)
    return times / rng.choice([10.0, 20.0])


RULES = [
    EventRule(),
    ANY_OVERLAP,
    EventRule(before=0.0, after=0.0, overlap=0.3, longest=100.0, merge=10.0),
]


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("seed", range(50))
def test_event_scores_equal_timescoring(seed: int, rule: EventRule) -> None:
    rng = np.random.default_rng(seed)
    true, detected = seizure_spans(rng), seizure_spans(rng)
    rate, seconds = 256, 3600
    reference, guess = (
        Annotation([tuple(row) for row in spans.tolist()], rate, rate * seconds)
        for spans in (true, detected)
    )
    theirs = timescoring.EventScoring(
        reference,
        guess,
        timescoring.EventScoring.Parameters(
            toleranceStart=rule.before,
            toleranceEnd=rule.after,
            minOverlap=rule.overlap,
            maxEventDuration=rule.longest or np.inf,
            minDurationBetweenEvents=rule.merge,
        ),
    )
    ours = event_overlap(
        intervals("a", true), intervals("a", detected), {"a": float(seconds)}, rule
    )
    assert (ours.hits, ours.truths, ours.false) == (theirs.tp, theirs.refTrue, theirs.fp)
    for mine, other in (
        (ours.recall, theirs.sensitivity),
        (ours.precision, theirs.precision),
        (ours.f1, theirs.f1),
        (ours.false_positives_per_day, theirs.fpRate),
    ):
        assert mine == pytest.approx(other, nan_ok=True)
    samples = timescoring.SampleScoring(reference, guess)
    mine = sample_overlap(intervals("a", true), intervals("a", detected), {"a": float(seconds)})
    assert (mine.hits, mine.truths, mine.false) == (
        samples.tp,
        samples.refTrue,
        samples.fp,
    )
    assert mine.false_positives_per_day == pytest.approx(samples.fpRate)


def test_recordings_add_up() -> None:
    rng = np.random.default_rng(9)
    true, detected = ({n: seizure_spans(rng) for n in "abc"} for _ in range(2))
    length = dict.fromkeys("abc", 3600.0)
    whole = event_overlap(several(true), several(detected), length)
    parts = [
        event_overlap(intervals(n, true[n]), intervals(n, detected[n]), {n: 3600.0}) for n in "abc"
    ]
    assert astuple(whole) == tuple(np.sum([astuple(part) for part in parts], axis=0))


def test_the_same_table_serves_both_scores() -> None:
    events = Events.of("a", ["on", "off"], [10.0, 60.0])
    detections = Events.of("a", ["on", "off"], [12.0, 65.0], [0.9, 0.9])
    assert collar_f(events, detections, 3.0)["on"].f1 == 1.0
    spans = pair(events, VOICE), pair(detections, VOICE)
    assert event_overlap(*spans, {"a": 600.0}).recall == 1.0


def test_bad_input_is_told() -> None:
    with pytest.raises(ConfigError, match="collar"):
        collar_f(Events.empty(), Events.empty(), 0.0)
    with pytest.raises(ConfigError, match="offset_share"):
        interval_collar_f(Intervals.empty(), Intervals.empty(), collar=1.0, offset_share=-1.0)
    with pytest.raises(InputError, match="without a duration"):
        event_overlap(intervals("a", np.array([[0.0, 1.0]])), Intervals.empty(), {})
    with pytest.raises(ConfigError, match="merge"):
        EventRule(merge=-1.0)


@given(st.integers(0, 9), st.integers(0, 9), st.floats(0, 1), st.integers(0, 10_000))
def test_the_largest_matching_is_that_of_scipy(
    rows: int, columns: int, share: float, seed: int
) -> None:
    sparse = pytest.importorskip("scipy.sparse")
    csgraph = pytest.importorskip("scipy.sparse.csgraph")
    allowed = np.random.default_rng(seed).random((rows, columns)) < share
    if allowed.size:
        pairs = csgraph.maximum_bipartite_matching(sparse.csr_array(allowed))
        assert largest_matching(allowed) == int((pairs >= 0).sum())
    else:
        assert largest_matching(allowed) == 0
