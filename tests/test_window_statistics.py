"""Window statistics equal the naive ones for any widths, lengths and ranges."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import ConfigError
from bdl.window_statistics import WindowStatistics
from naive.window_statistics import window_statistics


@settings(max_examples=500, deadline=None)
@given(
    bins=st.integers(1, 40),
    channels=st.integers(1, 3),
    widths=st.lists(st.integers(1, 50), min_size=0, max_size=3),
    causal=st.booleans(),
    scale=st.sampled_from([1e-3, 1.0, 1e3]),
    seed=st.integers(0, 1 << 30),
)
def test_equal_to_slices(bins, channels, widths, causal, scale, seed):
    rng = np.random.default_rng(seed)
    means = (rng.normal(size=(bins, channels)) * scale).astype(np.float32)
    spreads = (rng.uniform(size=(bins, channels)) * scale).astype(np.float32)
    statistics = WindowStatistics(means, spreads, widths, causal=causal)
    expected = window_statistics(means, spreads, widths, causal=causal)
    assert statistics.columns == expected.shape[1]
    np.testing.assert_allclose(statistics.rows(), expected, rtol=1e-5, atol=1e-5 * scale)
    first, stop = sorted(rng.integers(0, bins + 1, 2))
    part = statistics.rows(int(first), int(stop))
    np.testing.assert_array_equal(part, statistics.rows()[first:stop])


def test_causal_statistics_do_not_change_when_bins_are_appended():
    means = np.random.default_rng(0).normal(size=(50, 2)).astype(np.float32)
    spreads = np.abs(means)
    whole = WindowStatistics(means, spreads, (1, 5, 20), causal=True).rows()
    part = WindowStatistics(means[:30], spreads[:30], (1, 5, 20), causal=True).rows()
    np.testing.assert_array_equal(part, whole[:30])


def test_bad_shapes_and_widths_are_errors():
    with pytest.raises(ConfigError, match="shape"):
        WindowStatistics(np.zeros((3, 1), np.float32), np.zeros((2, 1), np.float32), (1,))
    with pytest.raises(ConfigError, match="at least one bin"):
        WindowStatistics(np.zeros((3, 1), np.float32), np.zeros((3, 1), np.float32), (0,))


@settings(max_examples=200, deadline=None)
@given(
    cuts=st.lists(st.integers(0, 60), max_size=4),
    widths=st.lists(st.integers(1, 20), min_size=1, max_size=3),
    seed=st.integers(0, 1 << 30),
)
def test_causal_statistics_of_parts_are_those_of_the_whole(cuts, widths, seed):
    means = np.random.default_rng(seed).normal(size=(60, 2)).astype(np.float32)
    whole = WindowStatistics(means, np.abs(means), widths, causal=True).rows()
    rows, carried = [], None
    for part in np.split(means, sorted(cuts)):
        statistics = WindowStatistics(part, np.abs(part), widths, causal=True, carried=carried)
        rows.append(statistics.rows())
        carried = statistics.carry()
        assert len(carried[0]) <= 2 * max(widths)
    np.testing.assert_array_equal(np.concatenate(rows), whole)
