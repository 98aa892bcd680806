"""Alternation and pairing against every possible choice."""

from __future__ import annotations

import numpy as np
import pytest

from bdl.decoding import Peaks, calibrate, decode
from bdl.decoding.alternation import best_alternation
from bdl.decoding.candidates import Candidates
from bdl.density import Density
from bdl.errors import ConfigError
from bdl.events import Events
from bdl.intervals import IntervalType
from naive import decoding as naive

SLEEP = IntervalType("sleep", "onset", "wakeup")
TRUTH = Events.of("a", "onset", [1.0])


def draw(rng: np.random.Generator, most: int, span: int) -> list[tuple[int, int]]:
    """Some (time, score) pairs in order of time; times and scores often repeat."""
    times = np.sort(rng.integers(0, span, rng.integers(0, most + 1)))
    return [(int(t), int(s)) for t, s in zip(times, rng.integers(0, 5, len(times)), strict=True)]


def side(items: list[tuple[int, int]]) -> Candidates:
    table = np.array(items, float).reshape(-1, 2)
    return Candidates(table[:, 0].copy(), table[:, 1].copy())


def test_alternation_is_the_best_of_all_choices() -> None:
    rng = np.random.default_rng(1)
    for _ in range(1500):
        onset, offset = draw(rng, 4, 8), draw(rng, 4, 8)
        best = naive.alternation(onset, offset)
        kept_onset, kept_offset = best_alternation(side(onset), side(offset))
        want_onset = [onset[i] for i in range(len(onset)) if i in best]
        want_offset = [offset[i] for i in range(len(offset)) if i + len(onset) in best]
        assert list(zip(kept_onset.time, kept_onset.score, strict=True)) == want_onset
        assert list(zip(kept_offset.time, kept_offset.score, strict=True)) == want_offset


def test_alternation_beats_taking_the_highest_first() -> None:
    onset, offset = side([(0, 3), (2, 3)]), side([(1, 4), (3, 1), (9, 9)])
    first, second = best_alternation(onset, offset)
    assert first.time.tolist() == [0.0, 2.0]
    assert second.time.tolist() == [1.0, 9.0]


def test_an_alternating_sequence_is_left_whole() -> None:
    times = np.arange(100_000, dtype=float)
    scores = np.random.default_rng(2).random(100_000) + 0.1
    first, second = best_alternation(
        Candidates(times[::2], scores[::2]), Candidates(times[1::2], scores[1::2])
    )
    assert len(first.time) == len(second.time) == 50_000


def test_each_interval_type_alternates_by_itself_and_other_types_are_left_alone() -> None:
    values = np.zeros((9, 5), np.float32)
    values[[1, 3], 0] = 0.5, 0.4  # onset, twice
    values[[2, 6], 3] = 0.3  # beat: belongs to no interval
    names = ("onset", "wakeup", "run:onset", "beat", "run:offset")
    density = Density("a", values, names, 1.0, 1, 9)
    detections = Peaks(alternate=True).decode(density, (SLEEP, IntervalType.named("run")))
    assert detections.times("a", "onset").tolist() == [1.0]
    assert detections.times("a", "beat").tolist() == [2.0, 6.0]


def test_alternation_needs_interval_types_that_are_decoded() -> None:
    density = Density("a", np.zeros((3, 1), np.float32), ("onset",), 1.0, 1, 3)
    with pytest.raises(ConfigError, match="interval types"):
        Peaks(alternate=True).decode(density)
    with pytest.raises(ConfigError, match="'wakeup'"):
        Peaks(alternate=True).decode(density, (SLEEP,))
    with pytest.raises(ConfigError, match="its end 'wakeup' is no event type of the densities"):
        decode([density], "peaks", [SLEEP])
    with pytest.raises(ConfigError, match="its end 'wakeup' is no event type of the densities"):
        calibrate([density], TRUTH, "peaks", tolerances=[1.0], intervals=[SLEEP])
