"""Segmentation decoders against a version in whole numbers on the expanded timeline."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from bdl.decoding import Transitions
from bdl.decoding.transitions import UNIT
from bdl.density import Density
from bdl.errors import ConfigError
from bdl.intervals import IntervalType
from naive import decoding as naive

SLEEP = IntervalType("sleep", "onset", "wakeup")


def density(values: Any, stride: int = 1, samples: int | None = None) -> Density:
    column = np.asarray(values, np.float32).reshape(-1, 1)
    length = len(column) * stride if samples is None else samples
    return Density("a", column, ("sleep",), 1.0, stride, length, kind="state", bounded=True)


def occupancies(rng: np.random.Generator, bins: int) -> Any:
    """Eighths of one: pulses, ramps, saturated runs and noise, with many equal values."""
    levels = rng.integers(0, 9, bins)
    runs = np.repeat(levels, rng.integers(1, 5, bins))[:bins]
    return rng.choice([0, 1]) * levels / 8 if rng.random() < 0.3 else np.where(runs > 4, 8, 0) / 8


@pytest.mark.parametrize("clock", ["samples", "bins"])
@pytest.mark.parametrize("scorer", ["threshold", "difference"])
def test_transitions_equal_their_oracle(scorer: str, clock: str) -> None:
    rng = np.random.default_rng(1)
    for _ in range(500):
        bins, stride = int(rng.integers(1, 16)), int(rng.integers(1, 5))
        samples = bins * stride - int(rng.integers(0, stride))
        values = occupancies(rng, bins)
        window, distance = int(rng.integers(1, 14)), int(rng.integers(0, 12))
        level = float(rng.choice([0.25, 0.5, 1.0]))
        step = stride if clock == "bins" else 1
        decoder = Transitions(
            scorer=scorer,
            **({"level": level} if scorer == "threshold" else {}),
            window=window * step,
            separation=distance * step,
            clock=clock,
        )
        detections = decoder.decode(density(values, stride, samples), (SLEEP,))
        raw = values if clock == "bins" else naive.expanded(values, stride, samples)
        want = naive.transitions(
            [round(v * 8) for v in raw],
            window=window,
            scorer=scorer,
            level=round(level * 8),
            distance=distance,
        )
        for name, pairs in zip(("onset", "wakeup"), want, strict=True):
            rows = detections.event == name
            assert detections.time[rows].tolist() == [place * step for place, _ in pairs]
            length = min(window, len(raw))
            scores = [score / (8 * length) for _, score in pairs]
            np.testing.assert_allclose(detections.score[rows], scores, rtol=1e-12)


def test_smoothed_transitions_use_the_smoothed_timeline() -> None:
    rng = np.random.default_rng(2)
    for _ in range(200):
        bins, stride = int(rng.integers(4, 40)), int(rng.integers(1, 8))
        values = rng.random(bins).astype(np.float32)
        raw = gaussian_filter1d(naive.expanded(values, stride, bins * stride), 3.0)
        levels = [round(v * UNIT) for v in raw.tolist()]
        for scorer in ("threshold", "difference"):
            decoder = Transitions(scorer=scorer, window=6.0, smooth=3.0, separation=4.0)
            detections = decoder.decode(density(values, stride), (SLEEP,))
            want = naive.transitions(levels, window=6, scorer=scorer, level=UNIT // 2, distance=4)
            length = min(6, bins * stride)
            for name, pairs in zip(("onset", "wakeup"), want, strict=True):
                rows = detections.event == name
                assert detections.time[rows].tolist() == [place for place, _ in pairs]
                scores = [score / (length * UNIT) for _, score in pairs]
                np.testing.assert_allclose(detections.score[rows], scores, atol=1e-8)


def test_the_time_is_the_first_sample_of_the_new_state() -> None:
    values = [0, 0, 1, 1, 1, 0, 0, 0]
    for scorer in ("threshold", "difference"):
        for clock in ("samples", "bins"):
            decoder = Transitions(scorer=scorer, window=30.0, clock=clock)
            detections = decoder.decode(density(values, stride=10), (SLEEP,))
            assert detections.time.tolist() == [20.0, 50.0]
            assert detections.score.tolist() == [1.0, 1.0]


@pytest.mark.parametrize("scorer", ["threshold", "difference"])
@pytest.mark.parametrize("values", [[], [0.7], [0.3] * 50, [1.0] * 9, [0.0, 0.0]])
def test_a_level_occupancy_has_no_transitions(values: list[float], scorer: str) -> None:
    for smooth in (0.0, 5.0):
        decoder = Transitions(scorer=scorer, window=100.0, smooth=smooth)
        assert len(decoder.decode(density(values, stride=3), (SLEEP,))) == 0


def test_alternation_and_threshold() -> None:
    values = [0, 1, 0, 1, 0, 0.4, 0, 0, 0]
    detections = Transitions(
        scorer="difference", window=1.0, threshold=0.5, alternate=True, clock="bins"
    ).decode(density(values), (SLEEP,))
    assert detections.times("a", "onset").tolist() == [1.0, 3.0]
    assert detections.times("a", "wakeup").tolist() == [2.0, 4.0]


def test_an_occupancy_needs_its_interval_type() -> None:
    with pytest.raises(ConfigError, match="'sleep'"):
        Transitions(window=5.0).decode(density([0, 1]))
    events = Density("a", np.zeros((3, 1), np.float32), ("onset",), 1.0, 1, 3)
    with pytest.raises(ConfigError, match="peaks"):
        Transitions(window=5.0).decode(events, (SLEEP,))
    with pytest.raises(ConfigError):
        Transitions(window=0.0)
    with pytest.raises(ConfigError):
        Transitions(window=1.0, level=0.0)
