"""State sequences and their scores, against the samples spelled out."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from bdl.config import validate
from bdl.density import Density
from bdl.evaluation.reconstruction import (
    Direct,
    ExponentialRecursion,
    IntegratedDifference,
    PeakFill,
    Reconstruction,
)
from bdl.evaluation.states import choose, states
from bdl.events import Events
from bdl.intervals import IntervalType

SLEEP = IntervalType("sleep", onset="on", offset="off")


def random_night(rng: np.random.Generator, name: str) -> tuple[Density, Events]:
    samples, stride = int(rng.integers(20, 200)), int(rng.integers(1, 9))
    period = float(rng.choice([1.0, 0.5, 5.0]))
    bins = -(-samples // stride)
    values = (rng.random((bins, 2)) * (rng.random((bins, 2)) < 0.3)).astype(np.float32)
    density = Density(name, values, ("off", "on"), period, stride=stride, samples=samples)
    times = rng.uniform(-2, samples * period, 9)
    return density, Events.of(name, rng.choice(["on", "off"], 9), times)


def sample_states(density: Density, truth: Events) -> NDArray[np.bool_]:
    """True state of each sample, by the words of the rule."""
    events = sorted(
        [(t, 1) for t in truth.times(density.recording, "on")]
        + [(t, 0) for t in truth.times(density.recording, "off")]
    )
    state = np.zeros(density.samples, dtype=bool)
    for (start, a), (end, b) in pairwise(events):
        if a == 1 and b == 0:
            first, last = (int(np.floor(t / density.period + 0.5)) for t in (start, end))
            state[max(first, 0) : max(last, 0)] = True
    return state


@pytest.mark.parametrize("seed", range(40))
def test_scores_equal_those_of_the_samples_spelled_out(seed: int) -> None:
    rng = np.random.default_rng(seed)
    nights = [random_night(rng, name) for name in ("a", "b")]
    truth = Events.concat([events for _, events in nights])
    way = ExponentialRecursion(scale=2.0, initial=0.5, threshold=0.6)
    result = states([d for d, _ in nights], truth, SLEEP, way)
    true = np.concatenate([sample_states(d, truth) for d, _ in nights])
    probability = np.concatenate(
        [np.repeat(way.probabilities(d, SLEEP), np.diff(d.edges)) for d, _ in nights]
    )
    on = probability >= 0.6
    hits, union = (on & true).sum(), (on | true).sum()
    assert result.samples == len(true)
    assert result.hits == hits
    assert result.brier == pytest.approx(((probability - true) ** 2).mean(), abs=1e-12)
    if union:
        assert result.iou == pytest.approx(hits / union)
        assert result.f1 == pytest.approx(2 * hits / (on.sum() + true.sum()))
    if on.any():
        assert result.precision == pytest.approx(hits / on.sum())
    if true.any():
        assert result.recall == pytest.approx(hits / true.sum())


def test_the_recursion_follows_its_formula() -> None:
    rng = np.random.default_rng(0)
    density, _ = random_night(rng, "a")
    off, on = density.values.astype(float).T
    p, expected = 0.3, []
    for enter, leave in zip(1 - np.exp(-2 * on), 1 - np.exp(-2 * off), strict=True):
        p = p * (1 - leave) + (1 - p) * enter
        expected.append(p)
    ours = ExponentialRecursion(scale=2.0, initial=0.3).probabilities(density, SLEEP)
    np.testing.assert_allclose(ours, expected, atol=1e-12)


def of(rows: list[list[float]]) -> Density:
    values = np.array(rows, dtype=np.float32)
    return Density("a", values, ("off", "on"), 1.0, stride=1, samples=len(values))


def test_peak_fill_keeps_the_highest_of_a_run_and_ignores_a_leading_offset() -> None:
    rows = [[0.9, 0], [0, 0], [0, 0.2], [0, 0], [0, 0.8], [0, 0], [0.5, 0], [0, 0], [0.3, 0]]
    assert PeakFill().probabilities(of(rows), SLEEP).tolist() == [0, 0, 0, 0, 1, 1, 0, 0, 0]
    assert PeakFill(height=0.6).probabilities(of(rows), SLEEP).tolist() == [0] * 9


def test_peak_fill_keeps_peaks_apart() -> None:
    rows = [[0, 0.5], [0, 0], [0, 0.9], [0, 0], [0.8, 0], [0, 0]]
    apart = PeakFill(separation=3.0).probabilities(of(rows), SLEEP)
    assert apart.tolist() == [0, 0, 1, 1, 0, 0]


def test_the_integrated_difference_is_cut_to_probabilities() -> None:
    rows = [[0, 0.7], [0, 0.7], [0.9, 0], [0.9, 0]]
    ours = IntegratedDifference(initial=0.0).probabilities(of(rows), SLEEP)
    np.testing.assert_allclose(ours, [0.7, 1.0, 0.5, 0.0], atol=1e-6)


@pytest.mark.parametrize("kind", ["exponential", "integrated", "peaks"])
def test_parameters_are_chosen_on_calibration_recordings(kind: str) -> None:
    rng = np.random.default_rng(4)
    densities, parts = [], []
    for name in ("a", "b", "c"):
        values = np.full((200, 2), 0.001, np.float32)
        start, end = int(rng.integers(20, 80)), int(rng.integers(120, 180))
        values[start, 1] = values[end, 0] = 0.4
        densities.append(Density(name, values, ("off", "on"), 60.0, stride=1, samples=200))
        parts.append(Events.of(name, ["on", "off"], [start * 60.0, end * 60.0]))
    truth = Events.concat(parts)
    grid = Reconstruction.kinds()[kind].candidates()
    best = choose(densities, truth, SLEEP, grid)
    assert best.score.f1 == max(states(densities, truth, SLEEP, g).f1 for g in grid)
    assert best.score == states(densities, truth, SLEEP, best.reconstruction)
    assert best.score.f1 > 0.9


def test_reconstructions_go_to_json_and_back() -> None:
    for way in (ExponentialRecursion(scale=3.0), PeakFill(), IntegratedDifference(), Direct()):
        assert validate(Reconstruction, way.model_dump(mode="json"), "way") == way
