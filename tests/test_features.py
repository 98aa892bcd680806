"""Features: equal to numpy bin by bin, exact quartiles, local calendar, honest gaps."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from bdl import binning as module
from bdl import value_readers
from bdl.binning import bin_features
from bdl.config import validate
from bdl.errors import ConfigError, InputError
from bdl.features import Features
from bdl.recording import Recording, Recordings
from bdl.scaling import Divisor, NoScaling, Robust
from bdl.scaling.quartiles import quartiles
from naive import features as naive

numbers = st.one_of(st.floats(-1e4, 1e4, width=32), st.just(float("nan")), st.just(-0.0))
arrays = hnp.arrays(
    np.float32,
    st.tuples(st.integers(1, 60), st.integers(1, 3)),
    elements=numbers,
)
orders = st.permutations(module.STATISTICS).flatmap(
    lambda p: st.integers(1, 4).map(lambda n: tuple(p[:n]))
)


def recording(values, **more):
    return Recording.of(values, id="a", period=5.0, **more)


@settings(max_examples=500, deadline=None)
@given(arrays, st.integers(1, 70), orders)
def test_statistics_equal_numpy(values, stride, statistics):
    ours = bin_features(
        recording(values), Features(stride=stride, statistics=statistics, scaling="none")
    )
    expected, missing = naive.bin_features(values, stride, statistics)
    np.testing.assert_allclose(ours.values, expected, rtol=1e-6, atol=1e-4)
    np.testing.assert_array_equal(ours.missing, missing)
    assert ours.values.dtype == np.float32
    assert len(ours) == -(-len(values) // stride)


@settings(max_examples=300, deadline=None)
@given(arrays, st.integers(1, 20), st.floats(0.1, 100), st.floats(-50, 50))
def test_scaling_bins_is_binning_scaled_samples(values, stride, scale, shift):
    channels = values.shape[1]
    robust = Robust(median=(shift,) * channels, spread=(scale,) * channels)
    for scaling, at in ((Divisor(by=scale), 0.0), (robust, shift)):
        ours = bin_features(recording(values), Features(stride=stride, scaling=scaling))
        expected, _ = naive.bin_features(values, stride, module.STATISTICS, at, scale)
        np.testing.assert_allclose(ours.values, expected, rtol=1e-5, atol=1e-4 / scale + 1e-6)


@settings(max_examples=200, deadline=None)
@given(arrays, st.integers(1, 20), st.lists(st.sampled_from([0.0, 0.1, 30.0]), min_size=3))
def test_logarithms_are_taken_of_the_samples(values, stride, units):
    unit = tuple(units[: values.shape[1]])
    shift, scale = tuple(range(1, len(unit) + 1)), (2.0,) * len(unit)
    scaling = Robust(median=shift, spread=scale, unit=unit)
    before = values.copy()
    ours = bin_features(recording(values), Features(stride=stride, scaling=scaling))
    expected, _ = naive.bin_features(values, stride, module.STATISTICS, shift, scale, unit)
    np.testing.assert_allclose(ours.values, expected, rtol=1e-5, atol=1e-4)
    np.testing.assert_array_equal(values, before)


@settings(max_examples=200, deadline=None)
@given(arrays, st.integers(1, 20))
def test_the_share_of_missing_samples_is_the_last_column(values, stride):
    plain = bin_features(recording(values), Features(stride=stride, scaling="none"))
    flagged = bin_features(recording(values), Features(stride=stride, missing=True, scaling="none"))
    np.testing.assert_array_equal(flagged.values[:, :-1], plain.values)
    expected = [np.isnan(values[at : at + stride]).mean() for at in range(0, len(values), stride)]
    np.testing.assert_allclose(flagged.values[:, -1], expected, atol=1e-6)
    np.testing.assert_array_equal(flagged.missing, np.array(expected) == 1)


def test_a_small_spread_on_a_large_level_is_kept():
    values = (1e6 + np.random.default_rng(0).normal(size=(4000, 1))).astype(np.float32)
    ours = bin_features(
        recording(values), Features(stride=1000, statistics=("std", "mean"), scaling="none")
    )
    parts = values.astype(np.float64).reshape(4, 1000)
    np.testing.assert_allclose(ours.values[:, 0], parts.std(axis=1), rtol=1e-6)
    np.testing.assert_allclose(ours.values[:, 1], parts.mean(axis=1), rtol=1e-7)


def test_a_map_read_in_chunks_gives_the_same(tmp_path, monkeypatch):
    values = np.random.default_rng(0).normal(size=(1003, 2)).astype(np.float32)
    values[100:150] = np.nan
    whole = bin_features(recording(values), Features(stride=7, scaling="none"))
    np.save(tmp_path / "values.npy", values)
    mapped = np.load(tmp_path / "values.npy", mmap_mode="r")
    monkeypatch.setattr(module, "CHUNK", 50)
    monkeypatch.setattr(value_readers, "CHUNK", 50)
    lazy = Recording(recording(values).info, mapped)
    parts = bin_features(lazy, Features(stride=7, scaling="none"))
    np.testing.assert_array_equal(whole.values, parts.values)
    np.testing.assert_array_equal(whole.missing, parts.missing)
    np.testing.assert_allclose(
        quartiles(Recordings.of([lazy])), np.nanpercentile(values, [25, 50, 75], axis=0).T
    )


def test_columns_of_any_layout_and_threads_give_the_same():
    values = np.asfortranarray(np.random.default_rng(0).normal(size=(5000, 3)).astype(np.float32))
    plain = bin_features(
        recording(np.ascontiguousarray(values)), Features(stride=10, scaling="none")
    ).values
    with ThreadPoolExecutor(4) as pool:
        made = pool.map(
            lambda _: bin_features(
                Recording(recording(values).info, values), Features(stride=10, scaling="none")
            ),
            range(8),
        )
        assert all((features.values == plain).all() for features in made)


def test_one_channel_missing_is_zero_and_not_flagged():
    values = np.array([[np.nan, 1.0], [np.nan, 3.0], [np.nan, np.nan]])
    ours = bin_features(recording(values), Features(stride=2, statistics=("mean",), scaling="none"))
    assert ours.values.tolist() == [[0, 2], [0, 0]]
    assert ours.missing.tolist() == [False, True]
    shifted = Features(
        stride=2, statistics=("mean",), scaling=Robust(median=(9.0, 9.0), spread=(1.0, 1.0))
    )
    assert bin_features(recording(values), shifted).values.tolist() == [[0, -7], [0, 0]]


def test_hours_are_local_through_daylight_saving():
    start = datetime(2018, 11, 4, 0, 30, tzinfo=timezone(timedelta(hours=-4)))
    # At 02:00 clocks go back to 01:00: 90 minutes after the start, sample 1080.
    night = recording(np.zeros(2161), start=start, offset_changes=[(1080, -5 * 3600)])
    ours = bin_features(night, Features(stride=360, calendar=True, scaling="none"))
    assert ours.hour is not None
    assert ours.hour.tolist() == [0, 1, 1, 1, 1, 2, 2]
    assert ours.weekday is not None
    assert set(ours.weekday.tolist()) == {6}


def test_a_bin_has_the_hour_of_its_first_sample():
    start = datetime(2018, 8, 14, 23, 59, 55, tzinfo=UTC)
    ours = bin_features(
        recording(np.zeros(4), start=start), Features(stride=2, calendar=True, scaling="none")
    )
    assert ours.hour is not None
    assert ours.weekday is not None
    assert (ours.hour.tolist(), ours.weekday.tolist()) == ([23, 0], [1, 2])


def test_a_calendar_needs_a_start():
    with pytest.raises(InputError, match="start"):
        bin_features(recording(np.zeros(4)), Features(stride=2, calendar=True, scaling="none"))
    assert bin_features(recording(np.zeros(4)), Features(stride=2, scaling="none")).hour is None


def test_no_samples_are_no_bins():
    ours = bin_features(recording(np.zeros((0, 2))), Features(stride=2, scaling="none"))
    assert ours.values.shape == (0, 8)


def test_infinite_values_are_refused_with_their_bin():
    values = np.zeros((9, 1), dtype=np.float32)
    values[7] = -np.inf
    with pytest.raises(InputError, match="bin 3"):
        bin_features(
            Recording(recording(np.zeros((9, 1))).info, values), Features(stride=2, scaling="none")
        )


@settings(max_examples=300, deadline=None)
@given(st.lists(arrays.map(lambda a: a[:, :1]), min_size=1, max_size=4))
def test_quartiles_are_exact(parts):
    pooled = np.concatenate(parts).astype(np.float64)
    kept = Recordings.of(
        [Recording.of(part, id=str(i), period=1.0) for i, part in enumerate(parts)]
    )
    if np.isnan(pooled).all():
        with pytest.raises(InputError, match="only missing ones"):
            quartiles(kept)
        return
    expected = np.nanpercentile(pooled, [25, 50, 75], axis=0).T
    np.testing.assert_allclose(quartiles(kept), expected, rtol=1e-12, atol=1e-12)


def test_scaling_is_learned_from_what_is_given_and_only_if_robust():
    low = Recording.of(np.arange(101.0), id="low", period=1.0)
    high = Recording.of(np.arange(101.0) + 1e6, id="high", period=1.0)
    both = Recordings.of([low, high])
    learned = Features(stride=5, scaling=Robust()).fit(both.select(["low"]))
    assert learned.scaling == Robust(median=(50.0,), spread=(50.0,))
    for scaling in (NoScaling(), Divisor(by=2.0)):
        kept = Features(stride=5, scaling=scaling)
        assert kept.fit(both) == kept
    own = Features(stride=5, scaling=Robust(median=(1.0,), spread=(2.0,)))
    assert own.fit(both) == own
    with pytest.raises(ConfigError, match="given together"):
        Robust(median=(1.0,))
    flat = Recordings.of([Recording.of(np.ones(9), id="flat", period=1.0)])
    assert Features(stride=5, scaling=Robust()).fit(flat).scaling.spread == (1.0,)


def test_bad_scaling_says_what_is_wrong():
    flat = recording(np.zeros((4, 2)))
    with pytest.raises(ConfigError, match="call fit first"):
        bin_features(flat, Features(stride=2, scaling=Robust()))
    with pytest.raises(InputError, match="cannot be used on 2"):
        bin_features(flat, Features(stride=2, scaling=Robust(median=(0.0,), spread=(1.0,))))
    with pytest.raises(InputError, match="at least one recording"):
        quartiles(Recordings.of([]))
    other = Recording.of(np.zeros(4), id="b", period=5.0, channels=["x"])
    with pytest.raises(InputError, match="'b' has channels x"):
        quartiles(Recordings.of([flat, other]))


def test_features_go_to_plain_data_and_back():
    made = Features(stride=10, calendar=True, scaling=Robust(median=(1.5,), spread=(2.0,)))
    assert validate(Features, made.model_dump(mode="json"), "features") == made
    with pytest.raises(ConfigError, match="stride"):
        Features(stride=0)
    with pytest.raises(ConfigError, match="repeat"):
        bin_features(
            recording(np.zeros(4)), Features(stride=2, statistics=("mean", "mean"), scaling="none")
        )
