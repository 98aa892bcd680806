"""Peaks agree with scipy on the expanded timeline; smoothing, separation and causality."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d

from bdl.decoding import Peaks
from bdl.decoding.maxima import local_maxima, separate
from bdl.decoding.peaks import find_peaks
from bdl.decoding.smoothed_maxima import smoothed_maxima
from bdl.decoding.smoothing import smooth
from bdl.density import Density
from bdl.errors import ConfigError, InputError
from naive import decoding as naive

Array = NDArray[Any]


def density(
    values: Any, stride: int = 1, samples: int | None = None, period: float = 1.0
) -> Density:
    column = np.asarray(values, np.float32).reshape(-1, 1)
    length = len(column) * stride if samples is None else samples
    return Density("a", column, ("beat",), period, stride, length)


def rough(rng: np.random.Generator, bins: int) -> Array:
    """Values of the sort that trips a peak finder: noise, flat runs, zeros, ones, lone bumps."""
    kind = rng.integers(6)
    if kind == 0:
        return rng.random(bins)
    if kind == 1:
        return np.exp(np.cumsum(rng.normal(size=bins)) - 5)
    if kind == 2:
        return np.repeat(rng.random(bins), rng.integers(1, 6, bins))[:bins]
    if kind == 3:
        return np.where(rng.random(bins) < 0.2, rng.random(bins), 0.0)
    if kind == 4:
        return np.minimum(np.repeat(rng.random(bins) * 2, 4)[:bins], 1.0)
    return np.where(rng.random(bins) < 0.05, 1.0, 0.0)


def test_the_peak_of_bin_b_at_stride_10_lies_on_sample_10_b_plus_4() -> None:
    detections = Peaks().decode(density([0, 0, 1, 0, 2, 0], stride=10, period=5.0))
    assert detections.time.tolist() == [24 * 5.0, 44 * 5.0]


def test_a_single_bin_smoothed_keeps_its_flat_top() -> None:
    detections = Peaks(smooth=50.0).decode(
        density([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0], 10, period=5.0)
    )
    assert detections.time.tolist() == [54 * 5.0]


def test_smoothing_agrees_with_scipy_on_the_expanded_timeline() -> None:
    rng = np.random.default_rng(1)
    for _ in range(1500):
        bins, stride = int(rng.integers(1, 40)), int(rng.integers(1, 13))
        samples = bins * stride - int(rng.integers(0, stride))
        sigma = float(rng.choice([0.3, 1.0, 2.5, 10.0, 37.0]))
        values = rough(rng, bins).astype(np.float32).astype(np.float64)
        ours = smooth(values, sigma, stride=stride, samples=samples)
        plain = gaussian_filter1d(naive.expanded(values, stride, samples), sigma)
        np.testing.assert_allclose(ours, plain, rtol=1e-12, atol=1e-15)


def test_trailing_smoothing_is_the_one_sided_mean() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        bins, stride = int(rng.integers(1, 20)), int(rng.integers(1, 6))
        samples = bins * stride - int(rng.integers(0, stride))
        sigma = float(rng.choice([0.5, 2.0, 9.0]))
        values = rough(rng, bins)
        ours = smooth(values, sigma, stride=stride, samples=samples, side="trailing")
        plain = naive.trailing(naive.expanded(values, stride, samples), sigma)
        np.testing.assert_allclose(ours, plain, rtol=1e-12, atol=1e-15)


def test_a_constant_stays_exactly_constant() -> None:
    for value in (0.1, 1.0, 0.3333333):
        out = smooth(np.full(50, value), 7.3, stride=10, samples=497)
        assert (out == value).all()


@pytest.mark.parametrize("sigma", [0.0, 10.0])
def test_peaks_agree_with_find_peaks_on_the_expanded_timeline(sigma: float) -> None:
    rng = np.random.default_rng(3)
    for _ in range(1500):
        bins, stride = int(rng.integers(1, 120)), int(rng.integers(1, 13))
        samples = bins * stride - int(rng.integers(0, stride))
        values = (rng.random(bins) ** 4).astype(np.float32)
        distance, threshold = int(rng.integers(0, 60)), float(rng.choice([0.0, 0.1, 0.4]))
        decoder = Peaks(smooth=sigma, separation=distance, threshold=threshold)
        detections = decoder.decode(density(values, stride, samples))
        place, height = naive.paper_peaks(
            values,
            stride=stride,
            samples=samples,
            sigma=sigma,
            distance=distance,
            threshold=threshold,
        )
        assert detections.time.tolist() == place.tolist()
        assert detections.score is not None
        np.testing.assert_allclose(detections.score, height, rtol=1e-12)


def agree_before_separation(
    values: NDArray[np.float32], stride: int, samples: int, sigma: float
) -> None:
    places, heights = find_peaks(density(values, stride, samples), 0, Peaks(smooth=sigma))
    place, height = naive.paper_peaks(
        values, stride=stride, samples=samples, sigma=sigma, distance=0, threshold=0.0
    )
    assert places.tolist() == place.tolist()
    np.testing.assert_allclose(heights, height, rtol=1e-12, atol=1e-15)


def test_peaks_before_separation_agree_with_find_peaks_on_rough_values() -> None:
    rng = np.random.default_rng(4)
    for _ in range(3000):
        bins, stride = int(rng.integers(1, 60)), int(rng.integers(1, 13))
        samples = bins * stride - int(rng.integers(0, stride))
        values = rough(rng, bins).astype(np.float32)
        sigma = float(rng.choice([0.0, 1.0, 3.0, 10.0]))
        agree_before_separation(values, stride, samples, sigma)


def test_blocks_leave_no_seams() -> None:
    rng = np.random.default_rng(10)
    for case in range(250):
        bins, stride = int(rng.integers(240, 800)), int(rng.integers(1, 6))
        samples = bins * stride - int(rng.integers(0, stride))
        values = rough(rng, bins)
        if case % 3 == 0:  # flat tops, zeros and ones over the ends of blocks
            begin = int(rng.integers(180, 250))
            values[begin : begin + int(rng.integers(5, 400))] = 1.0
        values = values.astype(np.float32)
        sigma = float(rng.choice([0.7, 3.0, 10.0]))
        agree_before_separation(values, stride, samples, sigma)
        trailing, _ = find_peaks(
            density(values, stride, samples), 0, Peaks(smooth=sigma, smoothing="trailing")
        )
        first, last = local_maxima(
            smooth(values.astype(float), sigma, stride=stride, samples=samples, side="trailing")
        )
        assert trailing.tolist() == ((first + last) // 2).tolist()


def test_rounding_can_leave_more_maxima_than_bins() -> None:
    values = 0.7 + 1e-13 * np.random.default_rng(0).random(100)
    places, _ = smoothed_maxima(values, 300.0, stride=40, samples=4000)
    first, last = local_maxima(smooth(values, 300.0, stride=40, samples=4000))
    assert len(places) > len(values)
    assert places.tolist() == ((first + last) // 2).tolist()


def test_bins_are_a_clock_of_their_own() -> None:
    rng = np.random.default_rng(5)
    for _ in range(500):
        bins = int(rng.integers(1, 80))
        values = rng.random(bins).astype(np.float32)
        binned = density(values, stride=10)
        detections = Peaks(clock="bins", smooth=20.0, separation=50.0).decode(binned)
        place, _ = naive.paper_peaks(
            values, stride=1, samples=bins, sigma=2.0, distance=5, threshold=0.0
        )
        assert detections.time.tolist() == binned.times[place].tolist()


def test_maxima_and_separation_equal_their_oracles() -> None:
    rng = np.random.default_rng(6)
    for _ in range(4000):
        values = rng.integers(0, 4, rng.integers(0, 25)).astype(float)
        first, last = local_maxima(values)
        assert list(zip(first.tolist(), last.tolist(), strict=True)) == naive.maxima(
            values.tolist()
        )
        places = np.sort(rng.choice(80, len(values), replace=False))
        distance = int(rng.integers(0, 20))
        rows = separate(places, values, distance)
        assert rows.tolist() == naive.separate(places.tolist(), values.tolist(), distance)


def test_cutting_before_or_after_separation_is_the_same() -> None:
    rng = np.random.default_rng(7)
    for _ in range(1000):
        heights = rng.integers(0, 6, 30) / 5
        places = np.sort(rng.choice(90, 30, replace=False))
        threshold, distance = float(rng.choice([0.2, 0.4, 0.8])), int(rng.integers(1, 15))
        high = np.flatnonzero(heights >= threshold)
        before = high[separate(places[high], heights[high], distance)]
        after = separate(places, heights, distance)
        assert before.tolist() == [i for i in after.tolist() if heights[i] >= threshold]


@pytest.mark.parametrize("clock", ["samples", "bins"])
@pytest.mark.parametrize("smooth", [0.0, 20.0])
def test_a_causal_decoder_never_changes_what_it_emitted(clock: str, smooth: float) -> None:
    rng = np.random.default_rng(8)
    decoder = Peaks(
        smooth=smooth, smoothing="trailing", separation=40.0, keep="earlier", clock=clock
    )
    for _ in range(150):
        values = rough(rng, 60)
        whole = decoder.decode(density(values, stride=5))
        known = set(zip(whole.time.tolist(), whole.score.tolist(), strict=True))
        before: set[tuple[float, float]] = set()
        for bins in range(1, 61):
            part = decoder.decode(density(values[:bins], stride=5))
            emitted = set(zip(part.time.tolist(), part.score.tolist(), strict=True))
            assert before <= emitted <= known
            before = emitted


def test_keeping_the_higher_peak_looks_ahead() -> None:
    decoder = Peaks(separation=5.0)
    values = [0, 1, 0, 2, 0]
    assert decoder.decode(density(values[:3])).time.tolist() == [1.0]
    assert decoder.decode(density(values)).time.tolist() == [3.0]


@pytest.mark.parametrize("values", [[], [0.5], [0.5, 0.5], [0.3] * 100, [0.0] * 7])
@pytest.mark.parametrize("smooth", [0.0, 3.0])
def test_an_empty_or_level_density_has_no_peaks(values: list[float], smooth: float) -> None:
    for decoder in (Peaks(smooth=smooth), Peaks(smooth=smooth, clock="bins", separation=1e6)):
        detections = decoder.decode(density(values, stride=4))
        assert len(detections) == 0
        assert detections.score is not None


def test_a_recording_shorter_than_the_separation_keeps_one_peak() -> None:
    detections = Peaks(separation=1e9).decode(density([0, 1, 0, 3, 0, 2, 0]))
    assert detections.time.tolist() == [3.0]


def test_a_million_peaks() -> None:
    rng = np.random.default_rng(9)
    values = np.zeros(2_000_001, np.float32)
    values[1::2] = 1 + rng.random(1_000_000)
    assert len(Peaks().decode(density(values))) == 1_000_000
    separated = Peaks(separation=100.0).decode(density(values))
    assert (np.diff(separated.time) >= 100).all()
    ramp = np.where(np.arange(2_000_001) % 2, np.arange(2_000_001) / 2e6, 0)
    assert len(Peaks(separation=100.0).decode(density(ramp))) == 20_000


@pytest.mark.parametrize(
    ("values", "message"),
    [([0.1, np.nan], "nan"), ([0.1, -0.5], "-0.5"), ([np.inf, 0.0], "inf")],
)
def test_impossible_densities_are_refused(values: list[float], message: str) -> None:
    with pytest.raises(InputError, match=message):
        density(values)


def test_a_bounded_density_above_one_is_refused() -> None:
    with pytest.raises(InputError, match="bounded"):
        Density("a", np.array([[1.5]], np.float32), ("beat",), 1.0, 1, 1, bounded=True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"treshold": 1.0},
        {"smooth": -1.0},
        {"separation": float("nan")},
        {"smoothing": "central"},
        {"clock": "seconds"},
        {"refine": "parabola"},
    ],
)
def test_impossible_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        Peaks(**wrong)


def test_an_occupancy_has_no_peaks() -> None:
    state = Density("a", np.zeros((3, 1), np.float32), ("sleep",), 1.0, 1, 3, kind="state")
    with pytest.raises(ConfigError, match="use transitions"):
        Peaks().decode(state)
