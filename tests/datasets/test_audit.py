"""The audit's figures, against the paper and against a slow reading of the definitions."""

from __future__ import annotations

import numpy as np
import pytest

from bdl.datasets.audit import audit
from bdl.errors import ConfigError
from bdl.events import Events
from bdl.kernels import Gaussian, Hard, RightGaussian, Tolerance
from bdl.recording import RecordingInfo

WEEK = RecordingInfo("a", 7 * 17_280, ("x",), 5.0)


def test_the_papers_figures_for_sleep():
    """Gaussian, sigma 50 samples, stride 10; the phase within a bin decides the largest bin."""
    times = np.arange(10) * 5.0 + np.arange(10) * 50_000 + 20_000
    (row,) = audit(
        Events.of("a", "onset", times),
        [WEEK],
        types=["onset"],
        kernel=Gaussian(sigma=250),
        stride=10,
    )
    assert row.largest_sample == pytest.approx(0.0079998, abs=1e-7)
    assert row.largest_bin == pytest.approx(0.079862, abs=5e-7)
    assert row.above_one == 0
    assert row.mass == pytest.approx(10, abs=1e-12)
    assert row.touched == 0


@pytest.mark.parametrize(
    "kernel",
    [Hard(), Gaussian(sigma=40), RightGaussian(sigma=40), Tolerance(tolerances=(20.0, 60.0))],
)
@pytest.mark.parametrize("window", [None, 900.0])
def test_against_the_definitions(kernel, window):
    rng = np.random.default_rng(7)
    for stride in (1, 7, 10):
        samples = int(rng.integers(300, 700))
        info = RecordingInfo("a", samples, ("x",), 5.0)
        places = rng.integers(0, samples, size=12)
        table = Events.of("a", "x", [*(places * 5.0), samples * 5.0 + 100])
        (row,) = audit(table, [info], types=["x"], kernel=kernel, stride=stride, window=window)
        offset, weights = kernel.weights(5.0)
        size = samples if window is None else max(stride, round(window / 5))
        mass = lost = 0.0
        touched = collisions = 0
        peaks, bins = [0.0], [0.0]
        for first in range(0, samples, size):
            length = min(size, samples - first)
            fine = np.zeros(length)
            counts = np.zeros(-(-length // stride))
            for place in places[(places >= first) & (places < first + length)] - first:
                at = place + offset + np.arange(len(weights))
                shown = (at >= 0) & (at < length)
                lost += 1 - weights[shown].sum()
                touched += not shown.all()
                fine[at[shown]] += weights[shown] / weights[shown].sum()
                counts[place // stride] += 1
            coarse = np.add.reduceat(fine, np.arange(0, length, stride))
            mass += coarse.sum()
            peaks.append(fine.max())
            bins.append(coarse.max())
            collisions += (counts > 1).sum()
        assert (row.events, row.outside, row.placed) == (13, 1, 12)
        assert row.mass == pytest.approx(mass)
        assert row.lost == pytest.approx(lost, abs=1e-9)
        assert row.touched == touched
        assert row.largest_sample == pytest.approx(max(peaks))
        assert row.largest_bin == pytest.approx(max(bins))
        assert row.collisions == collisions
        assert row.worst < 1e-9


def test_edges_cost_naive_construction():
    table = Events.of("a", "onset", [0.0, 50_000.0])
    (row,) = audit(table, [WEEK], types=["onset"], kernel=Gaussian(sigma=250), stride=10)
    assert row.touched == 1
    assert row.lost == pytest.approx(0.5, abs=0.01)
    assert row.mass == pytest.approx(2)


def test_no_events_and_bad_window():
    (row,) = audit(Events.empty(), [WEEK], types=["onset"], kernel=Hard(), stride=10)
    assert (row.events, row.placed, row.mass) == (0, 0, 0)
    with pytest.raises(ConfigError):
        audit(Events.empty(), [WEEK], types=["onset"], kernel=Hard(), stride=10, window=0)
