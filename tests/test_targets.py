"""Targets: one unit for each visible event whatever the crop, and equal to the raw timeline."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bdl.errors import ConfigError, InputError
from bdl.kernels import Gaussian, Hard, RightGaussian, Tolerance
from bdl.sampling import bin_count
from bdl.targets import Crop, event_maps, event_points, event_targets, occupancy
from naive import targets as naive

widths = st.floats(0.05, 40.0)
kernels = st.one_of(
    st.just(Hard()),
    st.builds(Gaussian, sigma=widths),
    st.builds(RightGaussian, sigma=widths),
    st.builds(Tolerance, tolerances=st.lists(widths, min_size=1, max_size=3).map(tuple)),
)
places = st.lists(st.integers(-20, 260), max_size=8).map(lambda p: np.array(p, dtype=np.int64))
cases = st.tuples(
    places,
    kernels,
    st.sampled_from([0.5, 1.0, 5.0]),  # period
    st.integers(1, 40),  # stride
    st.integers(0, 120),  # first
    st.integers(1, 140),  # samples
)


def make(case, build=event_targets):
    where, kernel, period, stride, first, samples = case
    return build([where], kernel, Crop(first, samples, stride), period=period)[:, 0]


@settings(max_examples=2000, deadline=None)
@given(cases)
@example((np.array([0]), Gaussian(sigma=40.0), 0.5, 40, 0, 1))
@example((np.array([139, 139]), RightGaussian(sigma=40.0), 0.5, 7, 0, 140))
def test_mass_is_the_number_of_visible_events(case):
    where, _, _, stride, first, samples = case
    target = make(case)
    visible = ((where >= first) & (where < first + samples)).sum()
    assert target.shape == (bin_count(samples, stride),)
    assert abs(target.sum() - visible) < 1e-9
    assert (target >= 0).all()


@settings(max_examples=2000, deadline=None)
@given(cases)
def test_binned_mass_equals_the_raw_timeline(case):
    np.testing.assert_allclose(make(case), naive.event_targets(*case), atol=1e-12)


@settings(max_examples=1000, deadline=None)
@given(cases)
def test_maps_equal_the_raw_timeline(case):
    np.testing.assert_allclose(make(case, event_maps), naive.event_maps(*case), atol=1e-12)


@settings(max_examples=500, deadline=None)
@given(cases)
def test_points_are_hard_targets_cut_at_one(case):
    where, _, period, stride, first, samples = case
    hard = make((where, Hard(), period, stride, first, samples))
    points = event_points([where], Crop(first, samples, stride))[:, 0]
    np.testing.assert_array_equal(points, np.minimum(hard, 1))


@settings(max_examples=500, deadline=None)
@given(cases)
def test_events_add(case):
    where, *rest = case
    one_by_one = sum((make((where[i : i + 1], *rest)) for i in range(len(where))), 0 * make(case))
    np.testing.assert_allclose(make(case), one_by_one, atol=1e-12)


@settings(max_examples=500, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 200), st.integers(0, 200)), max_size=6),
    st.integers(1, 40),
    st.integers(0, 100),
    st.integers(1, 140),
)
def test_occupancy_equals_the_raw_mask(ends, stride, first, samples):
    spans = np.sort(np.array(ends, dtype=np.int64).reshape(-1, 2), axis=1)
    ours = occupancy([spans], Crop(first, samples, stride))[:, 0]
    np.testing.assert_allclose(ours, naive.occupancy(spans, stride, first, samples), atol=1e-12)


def test_columns_are_types():
    both = event_targets([np.array([3]), np.array([4, 5])], Hard(), Crop(0, 8, 4), period=1.0)
    assert both.tolist() == [[1, 0], [0, 2]]


def test_an_event_outside_contributes_nothing_however_wide_its_kernel():
    wide = Gaussian(sigma=50.0)
    target = event_targets([np.array([9, 110])], wide, Crop(10, 100, stride=5), period=1.0)
    assert not target.any()


@pytest.mark.parametrize("offset", range(10))
def test_the_sleep_gaussian_on_bins_of_fifty_seconds(offset):
    """The audited largest bin, 0.079862, is that of an event in the middle of its bin."""
    events = [np.array([1000 + offset])]
    target = event_targets(events, Gaussian(sigma=250.0), Crop(0, 2000, stride=10), period=5.0)
    if offset in (4, 5):
        assert target.max() == pytest.approx(0.079862, abs=5e-7)
    else:
        assert target.max() < 0.0798613


def test_bad_strides_crops_and_places_are_refused():
    with pytest.raises(ConfigError, match="stride"):
        bin_count(10, 0)
    with pytest.raises(ConfigError, match="samples"):
        bin_count(-1, 2)
    with pytest.raises(InputError, match="float64"):
        event_targets([np.array([1.5])], Hard(), Crop(0, 5, stride=2), period=1.0)


def test_an_empty_crop_has_no_bins():
    empty = Crop(0, 0, stride=2)
    assert event_targets([np.array([0])], Hard(), empty, period=1.0).size == 0
    assert occupancy([np.array([[0, 4]])], empty).shape == (0, 1)
