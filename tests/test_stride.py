"""Stride advice against the paper's table and against its own definitions."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bdl.errors import ConfigError
from bdl.stride import advise, check, collision, largest

PAPER = [
    # period, stride, tolerance, spacing in samples, m, P, conservative, weak
    (5.0, 10, 60.0, 17_280, "5.79e-04", "1.67e-07", True, True),
    (1 / 256, 512, 1.0, 883_728, "5.79e-04", "1.68e-07", False, True),
    (1 / 256, 256, 1.0, 883_728, "2.90e-04", "4.20e-08", True, True),
]


@pytest.mark.parametrize(
    ("period", "stride", "tolerance", "spacing", "m", "p", "conservative", "weak"), PAPER
)
def test_the_papers_table(period, stride, tolerance, spacing, m, p, conservative, weak):
    row = advise(period=period, stride=stride, tolerance=tolerance, spacing=spacing * period)
    assert f"{row.expected:.2e}" == m
    assert f"{row.collision_approximation:.2e}" == p
    assert (row.conservative, row.weak) == (conservative, weak)
    assert row.collision == pytest.approx(row.collision_approximation, rel=1e-3)
    assert row.collision < row.collision_approximation


def test_sequence_length_of_the_paper():
    """One hour of EEG is 921,600 samples and 1,800 steps at stride 512."""
    row = advise(period=1 / 256, stride=512, tolerance=1, spacing=3452, duration=3600)
    assert row.bins == 1800
    assert advise(period=5, stride=7, tolerance=60, spacing=86400, duration=50).bins == 2


@pytest.mark.parametrize("m", [0.01, 0.5, 1.0, 3.0, 20.0])
def test_collision_is_the_poisson_tail(m):
    tail = math.exp(-m) * sum(m**k / math.factorial(k) for k in range(2, 120))
    assert collision(m) == pytest.approx(tail, rel=1e-12)


def test_largest_stride_is_the_largest():
    rng = np.random.default_rng(3)
    for _ in range(200):
        period = float(rng.uniform(0.001, 10))
        spacing = period * float(rng.uniform(2, 1e6))
        probability = float(10 ** rng.uniform(-8, -0.5))
        best = largest(period=period, spacing=spacing, probability=probability)
        assert best == 0 or collision(best * period / spacing) <= probability * (1 + 1e-9)
        assert collision((best + 1) * period / spacing) > probability


def test_no_stride_may_do():
    assert largest(period=1, spacing=1, probability=1e-6) == 0
    (message,) = check(period=1, stride=1, spacing=1.0)
    assert "1 samples or fewer come nearest" in message


def test_check_tells_weak_from_conservative():
    assert check(period=1 / 256, stride=256, tolerances=[1.0, 60.0], spacing=3452.0) == ()
    (weak,) = check(period=1 / 256, stride=512, tolerances=[60.0, 1.0])
    assert weak.startswith("a bin of 512 samples lasts 2 s")
    assert "at most 256 samples fit" in weak
    (none,) = check(period=1 / 256, stride=513, tolerances=[1.0])
    assert "even the correct bin misses" in none


def test_check_tells_collisions():
    (message,) = check(period=5, stride=17_280, tolerances=[1e6], spacing=86400)
    assert "share a bin" in message
    assert "784 samples or fewer" in message


@pytest.mark.parametrize(
    "wrong",
    [{"period": 0}, {"stride": 0}, {"tolerance": -1}, {"spacing": math.nan}, {"probability": 1.0}],
)
def test_impossible_parameters(wrong):
    good = {"period": 5.0, "stride": 10, "tolerance": 60.0, "spacing": 86400.0}
    with pytest.raises(ConfigError):
        advise(**{**good, **wrong})
