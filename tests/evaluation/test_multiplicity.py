"""Holm's method: equal to its definition step by step, and kept to its error rate."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdl.errors import ConfigError
from bdl.evaluation import bootstrap, compare
from bdl.evaluation.multiplicity import differences, holm, holm_levels, needed_replicates, p_value
from bdl.events import Events
from naive import holm as naive

P = st.lists(st.floats(0.0005, 1.0), min_size=1, max_size=8)


@given(P, st.sampled_from([0.01, 0.05, 0.2]))
def test_equals_the_steps_of_holm(p: list[float], alpha: float) -> None:
    adjusted = holm(np.array(p))
    claimed, levels = naive.claims(p, alpha)
    near = np.abs(adjusted - alpha) < 1e-9  # equal but for rounding
    assert [*(adjusted <= alpha)] == claimed or near.any()
    if not near.any():
        assert holm_levels(np.array(p), alpha) == pytest.approx(levels)


def test_a_difference_without_replicates_does_not_count() -> None:
    assert holm(np.array([0.01, np.nan, 0.04])).tolist()[::2] == [0.02, 0.04]
    assert np.isnan(p_value(np.array([np.nan])))


@given(st.integers(0, 50), st.integers(2, 5))
def test_an_adjusted_interval_excludes_zero_where_a_difference_is_claimed(
    seed: int, number: int
) -> None:
    rng = np.random.default_rng(seed)
    centre = rng.normal(0, 2.5, number)
    draws = rng.normal(centre, 1.0, (4999, number))
    for difference in differences(centre, draws, 0.95):
        excluded = not difference.adjusted.low <= 0 <= difference.adjusted.high
        if abs(difference.adjusted_p - 0.05) > 0.01:
            assert excluded == (difference.adjusted_p < 0.05)
        assert (
            difference.adjusted.low <= difference.low <= difference.high <= difference.adjusted.high
        )
        assert difference.adjusted_p >= difference.p


def test_false_claims_among_true_zeros_are_as_rare_as_asked() -> None:
    rng = np.random.default_rng(0)
    wrong = 0
    for _ in range(400):
        centre = rng.normal(0, 1, 5)
        draws = centre + rng.normal(0, 1, (499, 1)) * 0.5 + rng.normal(0, 0.866, (499, 5))
        wrong += any(difference.adjusted_p <= 0.1 for difference in differences(centre, draws, 0.9))
    assert wrong / 400 < 0.13


TRUTH = Events.of([*"abcdef"], "beat", [10.0] * 6)


def system(hits: str) -> Events:
    return Events.of([*"abcdef"], "beat", [10.0 if h == "x" else 90.0 for h in hits], [1.0] * 6)


SYSTEMS = {"a": system("xxxxxx"), "b": system("xxxx.."), "c": system("x.x.x.")}


def test_all_pairs_or_those_with_a_baseline() -> None:
    every = compare(TRUTH, SYSTEMS, [5.0], replicates=200)
    assert [*every.differences] == ["b - a", "c - a", "c - b"]
    against = compare(TRUTH, SYSTEMS, [5.0], replicates=200, baseline="b")
    assert [*against.differences] == ["a - b", "c - b"]
    assert against.differences["c - b"].p == every.differences["c - b"].p
    fewer, more = against.differences["a - b"].adjusted, every.differences["b - a"].adjusted
    assert fewer.high - fewer.low < more.high - more.low
    plain = compare(TRUTH, {k: SYSTEMS[k] for k in "ab"}, [5.0], replicates=200)
    assert plain.differences["b - a"].adjusted_p == plain.differences["b - a"].p
    assert "Holm" not in str(plain)
    assert "Holm: adjusted for 3 differences" in str(every)
    assert max(map(len, str(every).splitlines())) <= 80
    with pytest.raises(ConfigError, match="--baseline"):
        compare(TRUTH, SYSTEMS, [5.0], baseline="z")


def test_too_few_replicates_are_told() -> None:
    assert needed_replicates(3, 0.95) == 119
    few = compare(TRUTH, SYSTEMS, [5.0], replicates=118)
    assert "--bootstrap 119" in str(few)
    assert "--bootstrap" not in str(compare(TRUTH, SYSTEMS, [5.0], replicates=119))
    assert not bootstrap({"a": few.matches["a"]}, replicates=5).differences
