"""Kernels: unit sum, peak at the event, exact reach, and values that go to JSON and back."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.config import validate
from bdl.errors import ConfigError
from bdl.kernels import Gaussian, Hard, Kernel, Narrowing, RightGaussian, Tolerance, cumulative
from bdl.objectives import BDL
from naive import targets as naive

widths = st.floats(0.01, 60.0)
kernels = st.one_of(
    st.just(Hard()),
    st.builds(Gaussian, sigma=widths),
    st.builds(RightGaussian, sigma=widths),
    st.builds(
        Tolerance,
        tolerances=st.lists(widths, min_size=1, max_size=4).map(tuple),
        width=st.sampled_from([0.5, 1.0, 1.5]),
    ),
)
periods = st.sampled_from([1 / 256, 0.02, 0.1, 1 / 3, 1.0, 4.0, 5.0])


@settings(max_examples=400, deadline=None)
@given(kernels, periods)
def test_weights_are_the_formula_with_unit_sum(kernel, period):
    first, weights = kernel.weights(period)
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    distance = np.arange(first, first + len(weights))
    expected = naive.shape(kernel, distance, period)
    np.testing.assert_allclose(weights, expected / expected.sum(), rtol=1e-9)
    # Nothing is left out beyond either end, and no weight is carried for nothing.
    beyond = naive.shape(kernel, np.array([first - 1, first + len(weights)]), period)
    assert not beyond.any()
    assert weights[[0, -1]].min() > 0


@settings(max_examples=200, deadline=None)
@given(kernels, periods)
def test_weights_never_rise_away_from_the_event(kernel, period):
    first, weights = kernel.weights(period)
    assert first <= 0 < first + len(weights)
    assert (np.diff(weights[-first:]) <= 1e-15).all()
    assert (np.diff(weights[: -first + 1]) >= -1e-15).all()


@given(kernels, periods)
def test_running_sums_end_at_exactly_one(kernel, period):
    first, sums = cumulative(kernel, period)
    assert (first, len(sums)) == (kernel.weights(period)[0], len(kernel.weights(period)[1]) + 1)
    assert sums[0] == 0
    assert sums[-1] == 1
    with pytest.raises(ValueError, match="read-only"):
        sums[0] = 1


@given(kernels)
def test_a_kernel_goes_to_plain_data_and_back(kernel):
    assert validate(Kernel, kernel.model_dump(mode="json"), "kernel") == kernel


def test_the_sleep_gaussian_has_the_audited_peak():
    """The paper's audit prints 0.0079998; the formula gives 0.00799974."""
    _, weights = Gaussian(sigma=250.0).weights(5.0)
    assert weights.max() == pytest.approx(0.0079998, abs=1e-7)


def test_a_reach_that_is_whole_in_decimals_is_whole():
    assert len(Gaussian(sigma=0.1).weights(0.1)[1]) == 7
    assert len(Tolerance(tolerances=(0.7,)).weights(0.1)[1]) == 15


def test_a_kernel_below_one_sample_is_hard():
    assert Gaussian(sigma=0.1).weights(5.0)[1].tolist() == [1.0]
    assert Tolerance(tolerances=(0.1,)).weights(5.0)[1].tolist() == [1.0]


@pytest.mark.parametrize(
    ("data", "key"),
    [
        ({"kind": "gaussian", "sigma": 0.0}, "sigma"),
        ({"kind": "gaussian", "sigma": float("nan")}, "sigma"),
        ({"kind": "tolerance", "tolerances": ()}, "tolerances"),
        ({"kind": "tolerance", "tolerances": (1.0,), "width": -1.0}, "width"),
        ({"kind": "hard", "sigma": 1.0}, "sigma"),
        ({"kind": "soft"}, "soft"),
    ],
)
def test_impossible_kernels_are_refused_by_name(data, key):
    with pytest.raises(ConfigError, match=key):
        validate(Kernel, data, "kernel")


def test_a_narrowing_kernel_ends_hard():
    kernel = Narrowing(share=0.5).complete(sigma=10.0)
    widths = [kernel.at(progress).sigma for progress in (0.0, 0.25, 0.4)]
    assert widths == pytest.approx([10.0, 5.0, 2.0])
    assert kernel.at(0.5) == kernel.at(1.0) == Hard()
    first, weights = kernel.weights(period=1.0)
    assert (first, weights.tolist()) == (-15, Gaussian(sigma=5.0).weights(period=1.0)[1].tolist())


def test_an_objective_follows_its_kernel_through_training():
    objective = BDL(kernel=Narrowing(sigma=10.0))
    assert objective.at(0.0).kernel == Gaussian(sigma=10.0)
    assert objective.at(0.9).kernel == Hard()
    hard = BDL()
    assert hard.at(0.5) is hard
