"""Boosted trees: our arrays give LightGBM's own predictions, and damaged arrays are refused."""

from dataclasses import replace

import numpy as np
import pytest

from bdl.boosting import _arrays, fit_trees
from bdl.errors import InputError

SETTINGS = {
    "trees": 20,
    "leaves": 7,
    "learning_rate": 0.2,
    "columns_per_tree": 0.8,
    "rows_per_tree": 0.8,
    "least_rows": 5,
    "seed": 1,
}


def data(rows=2000, missing=0.1):
    rng = np.random.default_rng(0)
    table = rng.normal(size=(rows, 4)).astype(np.float32)
    target = (rng.random(rows) < 0.02 + 0.4 * (table[:, 0] > 1)).astype(np.float64)
    table[rng.random(table.shape) < missing] = np.nan
    return table, target, rng.uniform(0.5, 2.0, rows)


@pytest.mark.parametrize("missing", [0.0, 0.1])
@pytest.mark.parametrize("objective", ["poisson", "cross_entropy"])
def test_equal_to_lightgbm(missing, objective):
    lightgbm = pytest.importorskip("lightgbm")
    table, target, weight = data(missing=missing)
    settings = {"objective": objective, "verbose": -1, "num_leaves": 7, "num_threads": 1}
    booster = lightgbm.train(settings, lightgbm.Dataset(table, target, weight=weight), 20)
    test, _, _ = data(rows=500, missing=0.3)
    expected = booster.predict(test, raw_score=True)
    ensemble = _arrays(booster.dump_model())
    ensemble.check(columns=4)
    np.testing.assert_allclose(ensemble.raw_scores(test), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("loss", ["poisson", "bernoulli"])
def test_threads_change_no_bit(loss):
    pytest.importorskip("lightgbm")
    table, target, weight = data()
    single, three = (
        fit_trees(table, target[:, None], weight, loss=loss, threads=n, **SETTINGS) for n in (1, 3)
    )
    assert_equal(single[0], three[0])


def assert_equal(first, second):
    for name in ("root", "column", "threshold", "left", "right", "missing"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))


@pytest.mark.parametrize("loss", ["poisson", "bernoulli"])
def test_targets_fitted_together_have_the_trees_of_each_alone(loss):
    pytest.importorskip("lightgbm")
    table, target, weight = data()
    targets = np.stack([target, target[::-1]], axis=1)
    together = fit_trees(table, targets, weight, loss=loss, threads=1, **SETTINGS)
    for j, ensemble in enumerate(together):
        alone = fit_trees(table, targets[:, [j]], weight, loss=loss, threads=1, **SETTINGS)
        assert_equal(ensemble, alone[0])


def test_a_poisson_ensemble_learns_the_rate():
    pytest.importorskip("lightgbm")
    table, target, weight = data(missing=0.0)
    (ensemble,) = fit_trees(table, target[:, None], weight, loss="poisson", threads=1, **SETTINGS)
    rate = np.exp(ensemble.raw_scores(table))
    high, low = rate[table[:, 0] > 1].mean(), rate[table[:, 0] < 0.9].mean()
    assert high > 0.25
    assert low < 0.1


@pytest.mark.parametrize(
    "damage",
    [
        {"left": np.array([0, 0, 0], np.int32)},
        {"right": np.array([9, 0, 0], np.int32)},
        {"column": np.array([4, -1, -1], np.int32)},
        {"root": np.array([3], np.int32)},
        {"threshold": np.array([np.nan, 0.0, 0.0])},
        {"threshold": np.zeros(2)},
    ],
)
def test_damaged_arrays_are_refused(damage):
    from bdl.boosting import TreeEnsemble

    stump = TreeEnsemble(
        root=np.array([0], np.int32),
        column=np.array([0, -1, -1], np.int32),
        threshold=np.array([0.5, -1.0, 2.0]),
        left=np.array([1, 0, 0], np.int32),
        right=np.array([2, 0, 0], np.int32),
        missing=np.zeros(3, np.int8),
    )
    stump.check(columns=4)
    with pytest.raises(InputError, match="damaged"):
        replace(stump, **damage).check(columns=4)
