"""The expected-AP decoder against a scan of everything for every detection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bdl.decoding import ExpectedAP
from bdl.decoding.mass_search import take
from bdl.density import Density
from bdl.errors import ConfigError
from naive import decoding as naive


def density(values: Any, stride: int = 1, samples: int | None = None) -> Density:
    column = np.asarray(values, np.float32).reshape(-1, 1)
    length = len(column) * stride if samples is None else samples
    return Density("a", column, ("beat",), 1.0, stride, length)


def masses(rng: np.random.Generator, bins: int) -> Any:
    """Sparse peaks, noise, crowds of more than one unit, equal bins, zeros."""
    kind = rng.integers(5)
    if kind == 0:
        return rng.random(bins) ** 6
    if kind == 1:
        return rng.random(bins) * 3
    if kind == 2:
        return np.full(bins, float(rng.choice([0.125, 0.5, 1.0, 2.5])))
    if kind == 3:
        return np.where(rng.random(bins) < 0.2, rng.integers(0, 5, bins) / 2, 0.0)
    return np.repeat(rng.random(bins) / 4, 3)[:bins]


def test_detections_equal_those_of_the_full_scan() -> None:
    rng = np.random.default_rng(1)
    for _ in range(1200):
        bins, stride = int(rng.integers(1, 9)), int(rng.integers(1, 5))
        samples = bins * stride - int(rng.integers(0, stride))
        values = masses(rng, bins).astype(np.float32)
        tolerances = rng.choice([0.4, 1.0, 1.5, 2.0, 3.0, 4.5, 9.0, 40.0], 2, replace=False)
        threshold = float(rng.choice([0.01, 0.1, 0.3]))
        distance, most = int(rng.choice([0, 0, 2, 5])), int(rng.choice([3, 50]))
        want = naive.expected_ap(
            values,
            tolerances.tolist(),
            stride=stride,
            samples=samples,
            threshold=threshold,
            distance=distance,
            most=most,
        )
        decoder = ExpectedAP(
            tolerances=tuple(tolerances.tolist()),
            threshold=threshold,
            separation=distance,
            spacing=samples / most if most == 3 and samples % 3 == 0 else 0.0,
            refine="none",
        )
        taken_bins, scores = decoder.take(density(values, stride, samples), 0)
        if decoder.spacing == 0:
            taken_bins, scores = taken_bins[:most], scores[:most]
        assert list(zip(taken_bins.tolist(), scores.tolist(), strict=True)) == want


def test_scores_never_rise_and_masses_are_spent() -> None:
    rng = np.random.default_rng(2)
    for _ in range(300):
        values = masses(rng, 200).astype(np.float32)
        _, scores = ExpectedAP(tolerances=(5.0, 12.0), threshold=1e-4).take(density(values, 3), 0)
        assert (np.diff(scores) <= 0).all()
        # Each unit of a tolerance's mass is paid for at most once.
        assert scores.sum() <= float(values.sum(dtype=np.float64)) * (1 + 1e-9)


def test_the_window_is_open_and_a_bin_counts_with_its_share() -> None:
    values = np.zeros(5)
    values[2] = 1.0
    # Bin 1 is centred on 14.5; of bin 2 (20 to 29) samples below 24.5 are nearer than 10: 5 of 10.
    bins, scores = take(values, np.array([20]), stride=10, samples=50, least=1, distance=0)
    assert (bins.tolist(), scores.round(9).tolist()) == ([2], [1.0])
    values[2], values[1] = 0.5, 0.25
    _, scores = take(values, np.array([20]), stride=10, samples=50, least=1, distance=0)
    assert scores[:1].round(9).tolist() == [0.5 + 0.25 / 2]
    # On bins of one sample a neighbour at exactly the tolerance is outside.
    _, scores = take(
        np.array([0.25, 0.5, 0.25]), np.array([2]), stride=1, samples=3, least=1, distance=0
    )
    assert scores[:1].tolist() == [0.5]


def test_a_bin_is_taken_once_per_unit_of_its_mass() -> None:
    detections = ExpectedAP(tolerances=(3.0,), threshold=0.1, refine="none").decode(
        density([0, 2.5, 0])
    )
    assert detections.time.tolist() == [1.0, 1.0, 1.0]
    assert detections.score.tolist() == [1.0, 1.0, 0.5]
    separated = ExpectedAP(tolerances=(3.0,), threshold=0.1, refine="none", separation=1.0)
    assert separated.decode(density([0, 2.5, 0])).time.tolist() == [0.0, 1.0, 2.0]


def test_a_larger_unit_is_a_smaller_density() -> None:
    rng = np.random.default_rng(5)
    values = masses(rng, 80).astype(np.float32)
    decoder = ExpectedAP(tolerances=(5.0, 12.0), threshold=0.01, unit=2.0)
    halved = decoder.replace(unit=1.0, threshold=0.005).take(density(values / 2, 3), 0)
    bins, scores = decoder.take(density(values, 3), 0)
    assert bins.tolist() == halved[0].tolist()
    assert scores.tolist() == (2 * halved[1]).tolist()
    once = ExpectedAP(tolerances=(3.0,), threshold=0.1, unit=1.5, refine="none")
    assert once.decode(density([0, 1.4, 0])).time.tolist() == [1.0]


def test_spacing_truncates_by_duration() -> None:
    rng = np.random.default_rng(3)
    recording = density(rng.random(100).astype(np.float32) / 4, stride=10)
    whole = ExpectedAP(tolerances=(20.0,), refine="none")
    bins, scores = whole.take(recording, 0)
    spaced_bins, spaced = whole.replace(spacing=300.0).take(recording, 0)
    assert len(spaced) == 4
    assert spaced_bins.tolist() == bins[:4].tolist()
    assert spaced.tolist() == scores[:4].tolist()


@pytest.mark.parametrize("values", [[], [0.0], [0.0] * 50])
def test_no_mass_no_detections(values: list[float]) -> None:
    assert len(ExpectedAP(tolerances=(5.0,)).decode(density(values, stride=4))) == 0


def test_one_bin_and_a_short_last_bin() -> None:
    detections = ExpectedAP(tolerances=(5.0,)).decode(density([0.5], stride=4, samples=3))
    assert detections.time.tolist() == [1.0]
    assert detections.score.round(9).tolist() == [0.5]


def test_absurd_masses_do_not_overflow() -> None:
    decoder = ExpectedAP(tolerances=(5.0, 500.0), spacing=10.0)
    detections = decoder.decode(density(np.full(100, 1e30), stride=10))
    assert len(detections) == 100
    assert (detections.score == 1.0).all()


@pytest.mark.parametrize(
    "wrong",
    [
        {"tolerances": ()},
        {"tolerances": (0.0,)},
        {"tolerances": (1.0,), "threshold": 0.0},
        {"tolerances": (1.0,), "spacing": -1.0},
        {"tolerances": (1.0,), "truncate": 3},
    ],
)
def test_impossible_parameters_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        ExpectedAP(**wrong)


def test_an_occupancy_is_no_mass() -> None:
    state = Density("a", np.zeros((3, 1), np.float32), ("sleep",), 1.0, 1, 3, kind="state")
    with pytest.raises(ConfigError, match="use transitions"):
        ExpectedAP(tolerances=(1.0,)).decode(state)
