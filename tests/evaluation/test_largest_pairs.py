"""The largest pairing in time, against trying all pairings, and mir_eval."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdl.evaluation.largest_pairs import largest_pairs
from naive import evaluation as naive

TICKS = st.lists(st.integers(0, 40), max_size=7).map(sorted)


@given(TICKS, TICKS, st.integers(1, 8), st.integers(1, 10), st.booleans())
def test_no_pairing_has_more_pairs(
    first: list[int], second: list[int], distance: int, per_unit: int, inclusive: bool
) -> None:
    """Whole ticks are compared exactly, and the same times in other units up to rounding."""
    expected = naive.largest_pairing(first, second, distance, inclusive)
    sides = [np.array(side, dtype=float) / per_unit for side in (first, second)]
    left, right = largest_pairs(*sides, distance / per_unit, inclusive=inclusive)
    assert len(left) == len(right) == expected
    assert len({*left.tolist()}) == len({*right.tolist()}) == expected
    for i, j in zip(left.tolist(), right.tolist(), strict=True):
        apart = abs(first[i] - second[j])
        assert apart < distance or (inclusive and apart == distance)
    again = largest_pairs(*sides[::-1], distance / per_unit, inclusive=inclusive)
    assert len(again[0]) == expected


@pytest.mark.parametrize("seed", range(50))
def test_pairs_are_as_many_as_those_of_mir_eval(seed: int) -> None:
    util = pytest.importorskip("mir_eval.util")
    rng = np.random.default_rng(seed)
    first, second = (np.sort(rng.integers(0, 200, rng.integers(0, 40))) / 4.0 for _ in range(2))
    for distance in (0.3, 1.1, 5.1):
        expected = len(util.match_events(first, second, distance))
        assert len(largest_pairs(first, second, distance, inclusive=False)[0]) == expected
