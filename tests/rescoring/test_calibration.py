"""Calibration of scores before the second stage, and what a file keeps of it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import InputError
from bdl.rescoring import Rescorer, Rescoring
from bdl.rescoring.rescoring import fit_calibration

SHARES = st.sampled_from([0.0, 0.2, 0.5, 1.0])
ROWS = st.lists(st.tuples(st.integers(0, 2), st.floats(-21.0, 3.0, width=32), SHARES), max_size=60)


def table_of(rows):
    return np.array([(kind, score, 0.0) for kind, score, _ in rows], np.float32).reshape(-1, 3)


@settings(max_examples=300, deadline=None)
@given(rows=ROWS)
def test_a_calibration_is_finite_and_keeps_the_order_of_each_type(rows):
    table, share = table_of(rows), np.array([share for *_, share in rows])
    calibration = fit_calibration(table, share)
    assert np.isfinite(calibration).all()
    assert (calibration[:, 1] > 0).all()
    scores = Rescorer(calibration).scores(table)
    assert ((scores >= 0) & (scores <= 1)).all()
    for kind in {kind for kind, *_ in rows}:
        of_kind = table[:, 0] == kind
        order = np.argsort(table[of_kind, 1], kind="stable")
        assert (np.diff(scores[of_kind][order]) >= 0).all()


@settings(max_examples=50, deadline=None)
@given(seed=st.integers(0, 10_000), slope=st.floats(0.5, 3.0), intercept=st.floats(-1.0, 2.0))
def test_calibrated_scores_are_the_shares_of_hits(seed, slope, intercept):
    rng = np.random.default_rng(seed)
    table = np.zeros((4_000, 2), np.float32)
    table[:, 1] = rng.normal(-1.0, 1.5, len(table))
    true = 1 / (1 + np.exp(-(intercept + slope * table[:, 1].astype(float))))
    hits = (rng.random(len(table)) < true).astype(float)
    scores = Rescorer(fit_calibration(table, hits)).scores(table)
    # Five standard errors of the mean of 4,000 draws
    assert abs(scores.mean() - true.mean()) < 5 * 0.5 / np.sqrt(len(table))
    assert np.abs(scores - true).max() < 0.15


def test_the_trees_correct_calibrated_scores():
    rng = np.random.default_rng(0)
    table = np.zeros((3_000, 3), np.float32)
    table[:, 1] = rng.normal(-1.0, 1.0, len(table))
    table[:, 2] = rng.random(len(table)) < 0.5  # what the score does not know
    hits = (rng.random(len(table)) < np.where(table[:, 2] > 0, 0.9, 0.1)).astype(float)
    rescorer = Rescoring().fit([table], [hits], seed=0)
    before, after = (each.scores(table) for each in (rescorer.without_trees(), rescorer))
    assert np.abs(before - 0.5).max() < 0.2
    assert after[table[:, 2] > 0].mean() > 0.8
    assert after[table[:, 2] == 0].mean() < 0.2


def test_arrays_make_the_same_rescorer_and_older_ones_have_no_calibration():
    rng = np.random.default_rng(1)
    table = rng.normal(size=(200, 3)).astype(np.float32)
    table[:, 0] = rng.integers(0, 2, len(table))
    rescorer = Rescoring(trees=5, least_rows=2).fit([table], [rng.random(len(table))], seed=0)
    again = Rescorer.from_arrays(rescorer.arrays)
    assert np.array_equal(again.scores(table), rescorer.scores(table))
    older = {name: array for name, array in rescorer.arrays.items() if name != "calibration"}
    raw = Rescorer.from_arrays(older).raw_scores(table)
    assert np.array_equal(raw, rescorer.trees.raw_scores(table))


@pytest.mark.parametrize(
    "damaged", [np.array([[np.nan, 1.0]]), np.zeros((0, 2)), np.ones((1, 2), np.float32)]
)
def test_a_damaged_calibration_is_refused(damaged):
    arrays = {**Rescorer(np.array([[0.0, 1.0]])).arrays, "calibration": damaged}
    with pytest.raises(InputError, match="'calibration'"):
        Rescorer.from_arrays(arrays)
