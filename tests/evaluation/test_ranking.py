"""The order of detections: the radix sort of large tables is that of numpy's sort by keys."""

from __future__ import annotations

import numpy as np
import pytest

from bdl.evaluation import match, ranking
from bdl.events import Events


def scores(rng: np.random.Generator, kind: str, size: int) -> np.ndarray:
    if kind == "distinct":
        return rng.normal(size=size)
    if kind == "tied":
        return rng.integers(-3, 4, size) / 4
    values = np.array([-np.inf, -1.0, -0.0, 0.0, 5e-324, 1.0, np.inf])
    return values[rng.integers(0, len(values), size)]


@pytest.mark.parametrize("kind", ["distinct", "tied", "special"])
@pytest.mark.parametrize("types", [1, 3])
@pytest.mark.parametrize("seed", range(4))
def test_large_tables_are_ranked_like_small_ones(
    kind: str, types: int, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    size = 500
    table = (
        rng.integers(-1, 5, size).astype(np.int32),
        rng.integers(-1 if types > 1 else 0, types, size).astype(np.int32),
        rng.integers(-20, 20, size).astype(np.float64),
        scores(rng, kind, size),
    )
    expected = ranking.rank(*table, types)
    monkeypatch.setattr(ranking, "_SMALL", 1)
    order, start = ranking.rank(*table, types)
    np.testing.assert_array_equal(order, expected[0])
    np.testing.assert_array_equal(start, expected[1])
    recording, event, time, score = table
    rows = [i for i in range(size) if recording[i] >= 0 and event[i] >= 0]
    plainly = sorted(rows, key=lambda i: (event[i], -score[i], time[i], i))
    assert order.tolist() == plainly


@pytest.mark.parametrize("seed", range(4))
def test_truths_of_large_tables_are_arranged_like_small_ones(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    group, time = rng.integers(0, 40, 300), rng.integers(-9, 9, 300) / 2
    expected = ranking.arrange(group, time, 41)
    monkeypatch.setattr(ranking, "_SMALL", 1)
    start, times = ranking.arrange(group, time, 41)
    np.testing.assert_array_equal(start, expected[0])
    np.testing.assert_array_equal(times, expected[1])


def test_a_score_does_not_depend_on_the_size_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    names = np.array([*"abc"], dtype=object)
    truth = Events.of(names[rng.integers(0, 3, 90)], "x", rng.uniform(0, 900, 90))
    where = names[rng.integers(0, 3, 400)]
    detections = Events.of(where, "x", rng.uniform(0, 900, 400), rng.integers(0, 9, 400) / 9)
    small = match(truth, detections, [3.0, 9.0])
    monkeypatch.setattr(ranking, "_SMALL", 1)
    large = match(truth, detections, [3.0, 9.0])
    np.testing.assert_array_equal(small.average_precision(), large.average_precision())
    np.testing.assert_array_equal(small.row, large.row)
