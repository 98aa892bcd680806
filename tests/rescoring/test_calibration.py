"""Calibration of scores, its correction by trees, and what a file keeps of both."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl import Events
from bdl.decoding.candidates import Candidates, to_events
from bdl.errors import ConfigError, InputError
from bdl.evaluation import Regions, match
from bdl.rescoring import Rescorer, Rescoring, ScoreCalibration, hit_shares

SHARES = st.sampled_from([0.0, 0.2, 0.5, 1.0, np.nan])
ROWS = st.lists(st.tuples(st.integers(0, 2), st.floats(0.0, 30.0), SHARES), max_size=60)


def of_types(rows):
    """Detections by type and the share of hits of each, in their order."""
    by_type, shares = {}, []
    for kind in range(3):
        scores = [score for of, score, _ in rows if of == kind]
        by_type["abc"[kind]] = Candidates(np.arange(len(scores), dtype=float), np.array(scores))
        shares += [share for of, _, share in rows if of == kind]
    return by_type, np.array(shares)


@settings(max_examples=300, deadline=None)
@given(rows=ROWS)
def test_a_calibration_is_finite_and_keeps_the_order_of_each_type(rows):
    by_type, share = of_types(rows)
    calibration = ScoreCalibration.fit([by_type], [share])
    if not np.isfinite(share).any():
        assert calibration is None
        return
    assert np.isfinite(calibration.curves).all()
    assert all(slope > 0 for _, slope, _ in calibration.curves)
    for event, part in calibration.apply(by_type).items():
        assert ((part.score >= 0) & (part.score <= 1)).all()
        order = np.argsort(by_type[event].score, kind="stable")
        assert (np.diff(part.score[order]) >= 0).all()


@settings(max_examples=200, deadline=None)
@given(rows=ROWS, seed=st.integers(0, 100))
def test_scores_do_not_depend_on_the_detections_beside_them(rows, seed):
    """As on streams, which calibrate a few detections of several types at a time."""
    by_type, share = of_types(rows)
    calibration = ScoreCalibration.fit([by_type], [share])
    if calibration is None:
        return
    expected = calibration.apply(by_type)
    joined = [(e, s) for e, part in by_type.items() for s in part.score]
    order = np.random.default_rng(seed).permutation(len(joined))
    turned = calibration.in_order_of(("c", "a", "b"))
    codes = np.array([turned.types.index(joined[i][0]) for i in order])
    scores = turned.scores(np.array([joined[i][1] for i in order]), codes)
    single = np.concatenate([part.score for part in expected.values()])
    assert np.array_equal(scores, single[order])
    for i in range(0, len(order), 3):
        part = slice(i, i + 3)
        raw = np.array([joined[j][1] for j in order[part]])
        assert np.array_equal(turned.scores(raw, codes[part]), scores[part])


@settings(max_examples=50, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    a=st.floats(-1.0, 2.0),
    b=st.floats(0.5, 3.0),
    c=st.floats(0.0, 2.0),
)
def test_calibrated_scores_are_the_shares_of_hits(seed, a, b, c):
    rng = np.random.default_rng(seed)
    raw = np.where(rng.random(4_000) < 0.5, rng.random(4_000), rng.lognormal(-1.5, 1.5, 4_000))
    true = ScoreCalibration(types=("beat",), curves=((a, b, c),)).scores(raw, np.zeros(4_000, int))
    hits = (rng.random(len(true)) < true).astype(float)
    by_type = {"beat": Candidates(np.arange(4_000.0), raw)}
    scores = ScoreCalibration.fit([by_type], [hits]).apply(by_type)["beat"].score
    # Five standard errors of the mean of 4,000 draws
    assert abs(scores.mean() - true.mean()) < 5 * 0.5 / np.sqrt(len(true))
    assert np.abs(scores - true).mean() < 0.05


@pytest.mark.parametrize("count", [300, 30_000])
def test_probabilities_stay_what_they_are(count):
    """Also where nearly all detections are wrong, and few at the top are all right."""
    rng = np.random.default_rng(0)
    raw = np.concatenate([rng.beta(0.05, 5.0, count), rng.uniform(0.95, 1.0, 60)])
    hits = (rng.random(len(raw)) < raw).astype(float)
    by_type = {"beat": Candidates(np.arange(len(raw), dtype=float), raw)}
    scores = ScoreCalibration.fit([by_type], [hits]).apply(by_type)["beat"].score
    assert scores[-60:].mean() > 0.9
    assert scores[:-60].mean() == pytest.approx(raw[:-60].mean(), abs=0.02)


def test_the_trees_correct_calibrated_scores():
    rng = np.random.default_rng(0)
    table = np.zeros((3_000, 3), np.float32)
    table[:, 1] = rng.normal(-1.0, 1.0, len(table))
    table[:, 2] = rng.random(len(table)) < 0.5  # what the score does not know
    by_type = {"beat": Candidates(np.arange(3_000.0), np.exp(table[:, 1]))}
    hits = (rng.random(len(table)) < np.where(table[:, 2] > 0, 0.9, 0.1)).astype(float)
    calibration = ScoreCalibration.fit([by_type], [hits])
    rescorer = Rescoring().fit([table], [hits], [by_type], calibration, seed=0)
    before = calibration.apply(by_type)["beat"].score
    after = rescorer.apply(by_type, table, calibration)["beat"].score
    assert np.abs(before - 0.5).max() < 0.2
    assert after[table[:, 2] > 0].mean() > 0.8
    assert after[table[:, 2] == 0].mean() < 0.2
    again = Rescorer.from_arrays(rescorer.arrays).apply(by_type, table, calibration)
    assert np.array_equal(again["beat"].score, after)


def test_detections_outside_annotated_spans_are_not_learned_from():
    """Their share is unknown, and each of the others has its own."""
    times = np.array([5.0, 15.0, 25.0, 35.0, 45.0])
    candidates = {"beat": Candidates(times, np.array([0.9, 0.2, 0.8, 0.4, 0.6]))}
    regions = Regions.of({"a": [(10.0, 30.0), (40.0, 50.0)]})
    truth = Events.of("a", "beat", [15.0, 25.3])
    matches = match(truth, to_events([("a", candidates)]), [0.1, 1.0], regions=regions)
    [shares] = hit_shares(matches, [("a", candidates)])
    assert np.array_equal(shares, [np.nan, 1.0, 0.5, np.nan, 0.0], equal_nan=True)


@pytest.mark.parametrize("curve", [(np.nan, 1.0, 1.0), (0.0, -1.0, 0.0), (0.0, 1.0, np.inf)])
def test_a_damaged_calibration_is_refused(curve):
    with pytest.raises(ConfigError, match="curves"):
        ScoreCalibration(types=("beat",), curves=(curve,))


def test_damaged_trees_are_refused():
    table = np.random.default_rng(1).normal(size=(200, 3)).astype(np.float32)
    by_type = {"beat": Candidates(np.arange(200.0), np.exp(table[:, 1]))}
    calibration = ScoreCalibration(types=("beat",), curves=((0.0, 1.0, 0.0),))
    hits = (table[:, 2] > 0).astype(float)
    trees = Rescoring(trees=5, least_rows=2).fit([table], [hits], [by_type], calibration, seed=0)
    with pytest.raises(InputError, match="damaged"):
        Rescorer.from_arrays({**trees.arrays, "left": trees.arrays["left"][:-1]})
