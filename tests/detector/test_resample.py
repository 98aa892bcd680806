"""Resampling: exact on what it can be exact on, and honest about gaps."""

from __future__ import annotations

import numpy as np
import pytest

from bdl import Recording
from bdl.detector.resample import resample
from bdl.errors import ConfigError


def ramp(samples: int, period: float) -> Recording:
    return Recording.of(np.arange(samples) * period, id="a", period=period)


@pytest.mark.parametrize("period", [0.1, 0.25, 0.3, 1.0])
def test_a_straight_line_stays_one_on_a_finer_clock(period):
    made = resample(ramp(50, 1.0), period)
    times = np.arange(made.info.samples) * period
    np.testing.assert_allclose(made.values[:, 0], times, rtol=1e-6)
    assert times[-1] <= 49.0 < times[-1] + period + 1e-9


@pytest.mark.parametrize("period", [2.0, 3.5, 10.0])
def test_a_coarser_clock_averages_what_is_near(period):
    rng = np.random.default_rng(0)
    values = rng.normal(size=200)
    values[50:70] = np.nan
    made = resample(Recording.of(values, id="a", period=1.0), period)
    for i, got in enumerate(made.values[:, 0]):
        near = [
            values[j]
            for j in range(200)
            if -period / 2 - 1e-9 <= j - i * period < period / 2 - 1e-9
        ]
        there = [value for value in near if not np.isnan(value)]
        if there:
            assert got == pytest.approx(np.mean(there), abs=1e-6)
        else:
            assert np.isnan(got)


def test_gaps_stay_gaps():
    made = resample(Recording.of([0.0, 1.0, np.nan, 3.0], id="a", period=1.0), 0.5)
    assert np.isnan(made.values[:, 0]).tolist() == [False] * 3 + [True] * 3 + [False]


def test_edges():
    assert resample(ramp(1, 1.0), 0.5).info.samples == 1
    assert resample(Recording.of(np.zeros((0, 1)), id="a", period=1.0), 0.5).info.samples == 0
    same = ramp(9, 1.0)
    assert np.array_equal(resample(same, 1.0).values, same.values)
    with pytest.raises(ConfigError, match="positive number of seconds"):
        resample(same, 0.0)
