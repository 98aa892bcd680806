"""Intervals: the table, and the three rules of pairing against obviously right versions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.intervals import Interval, Intervals, IntervalType
from bdl.pairing import pair
from naive import decoding as naive

SLEEP = IntervalType("sleep", "onset", "wakeup")


def table(onsets: list[float], offsets: list[float]) -> Events:
    if not onsets and not offsets:
        return Events.empty()
    names = ["onset"] * len(onsets) + ["wakeup"] * len(offsets)
    return Events.of("a", names, [*onsets, *offsets])


def naive_adjacent(onsets: list[int], offsets: list[int]) -> tuple[list[list[float]], int]:
    """Neighbours in time of which the first is an onset and the second an offset."""
    ends = sorted([(t, 1) for t in onsets] + [(t, 0) for t in offsets])
    pairs = [
        [float(ends[i][0]), float(ends[i + 1][0])]
        for i in range(len(ends) - 1)
        if (ends[i][1], ends[i + 1][1]) == (1, 0)
    ]
    return pairs, len(ends) - 2 * len(pairs)


@settings(max_examples=500, deadline=None)
@given(st.lists(st.integers(0, 20), max_size=14), st.lists(st.integers(0, 20), max_size=14))
def test_adjacent_pairs_are_neighbours_in_time(onsets: list[int], offsets: list[int]) -> None:
    intervals = pair(table([*map(float, onsets)], [*map(float, offsets)]), SLEEP)
    ours = (intervals.of_recording("a").tolist(), intervals.unpaired)
    assert ours == naive_adjacent(onsets, offsets)


def test_at_one_time_an_interval_closes_before_the_next_opens() -> None:
    intervals = pair(table([1.0, 5.0], [5.0, 9.0]), SLEEP)
    assert intervals.of_recording("a").tolist() == [[1.0, 5.0], [5.0, 9.0]]
    assert intervals.unpaired == 0


def test_pairs_are_made_within_a_recording_and_a_threshold() -> None:
    events = Events.of(["a", "b"], ["onset", "wakeup"], [1.0, 2.0], [0.5, 0.9])
    assert len(pair(events, SLEEP)) == 0
    names, scores = ["onset", "wakeup"] * 2, [0.75, 0.5, 0.25, 0.75]
    both = Events.of("a", names, [1.0, 2.0, 2.0, 5.0], scores)
    assert pair(both, SLEEP).of_recording("a").tolist() == [[1.0, 2.0], [2.0, 5.0]]
    assert [interval.score for interval in pair(both, SLEEP)] == [1.25, 1.0]
    high = pair(both, SLEEP, threshold=0.5)
    assert (high.of_recording("a").tolist(), high.unpaired) == ([[1.0, 2.0]], 1)
    assert len(pair(Events.empty(), SLEEP)) == 0


def test_intervals_come_by_recording_type_and_start() -> None:
    walk = IntervalType.named("walk")
    events = Events.of(
        ["b", "b", "a", "a", "a", "a"],
        ["onset", "wakeup", "walk:onset", "walk:offset", "onset", "wakeup"],
        [1.0, 2.0, 3.0, 4.0, 5.0, 6.0],
    )
    intervals = pair(events, [walk, SLEEP])
    assert [*intervals] == [
        Interval("a", "walk", 3.0, 4.0),
        Interval("a", "sleep", 5.0, 6.0),
        Interval("b", "sleep", 1.0, 2.0),
    ]
    assert (intervals.recordings, intervals.names) == (("a", "b"), ("sleep", "walk"))
    assert intervals.of_recording("a", "sleep").tolist() == [[5.0, 6.0]]
    assert intervals.of_recording("a", "run").shape == intervals.of_recording("c").shape == (0, 2)
    assert intervals.seconds.tolist() == [1.0, 1.0, 1.0]


def test_in_order_intervals_may_overlap_and_need_both_ends() -> None:
    intervals = pair(table([1.0, 2.0], [5.0, 8.0]), SLEEP, rule="in-order")
    assert intervals.of_recording("a").tolist() == [[1.0, 5.0], [2.0, 8.0]]
    with pytest.raises(InputError, match="'a': 2 'onset' but 1 'wakeup'"):
        pair(table([1.0, 2.0], [5.0]), SLEEP, rule="in-order")


def draw(rng: np.random.Generator, most: int, span: int) -> list[tuple[int, int]]:
    """Some (time, score) pairs in order of time; times and scores often repeat."""
    times = np.sort(rng.integers(0, span, rng.integers(0, most + 1)))
    return [(int(t), int(s)) for t, s in zip(times, rng.integers(0, 5, len(times)), strict=True)]


def test_best_pairs_are_the_best_of_all_choices() -> None:
    rng = np.random.default_rng(3)
    for _ in range(1500):
        onset, offset = draw(rng, 4, 12), draw(rng, 4, 12)
        shortest = int(rng.integers(0, 4))
        limits = (shortest, shortest + int(rng.integers(0, 8)), int(rng.integers(0, 4)))
        rows = [("onset", *row) for row in onset] + [("wakeup", *row) for row in offset]
        if not rows:
            continue
        events = Events.of("a", *(list(column) for column in zip(*rows, strict=True)))
        keywords = dict(zip(("min_duration", "max_duration", "min_gap"), limits, strict=True))
        intervals = [*pair(events, SLEEP, rule="best", **keywords)]
        total = sum(interval.score or 0.0 for interval in intervals)
        assert total == naive.pairs(onset, offset, *limits)
        for interval in intervals:
            assert limits[0] <= interval.end - interval.start <= limits[1]
            assert interval.end > interval.start
        for before, after in itertools.pairwise(intervals):
            assert after.start - before.end >= limits[2]


def test_best_pairs_are_made_within_a_recording() -> None:
    events = Events.of(["a", "b"], ["onset", "wakeup"], [1.0, 2.0])
    assert len(pair(events, SLEEP, rule="best")) == 0
    both = Events.of([*"aabb"], ["onset", "wakeup"] * 2, [1.0, 2.0, 4.0, 5.0])
    assert [*pair(both, SLEEP, rule="best")] == [
        Interval("a", "sleep", 1.0, 2.0),
        Interval("b", "sleep", 4.0, 5.0),
    ]


def test_impossible_limits_rules_and_scores_are_refused() -> None:
    events = Events.of("a", ["onset", "wakeup"], [1.0, 2.0], [0.5, -1.0])
    with pytest.raises(ConfigError, match="max_duration"):
        pair(events, SLEEP, rule="best", min_duration=5.0, max_duration=1.0)
    with pytest.raises(ConfigError, match="min_gap"):
        pair(events, SLEEP, rule="best", min_gap=-1.0)
    with pytest.raises(ConfigError, match="have no effect with rule 'adjacent'"):
        pair(events, SLEEP, min_gap=1.0)
    with pytest.raises(ConfigError, match="'in-order' or 'best' expected, got 'nearest'"):
        pair(events, SLEEP, rule="nearest")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="interval types"):
        pair(events, ())
    with pytest.raises(ConfigError, match="have one name"):
        pair(events, IntervalType("sleep", "onset", "onset"))
    with pytest.raises(InputError, match="scores"):
        pair(events, SLEEP, rule="best")


def test_pairing_many_events_gives_many_intervals() -> None:
    rng = np.random.default_rng(4)
    times = np.sort(rng.random(200_000)) * 1e6
    names = np.where(rng.random(200_000) < 0.5, "onset", "wakeup")
    events = Events.of("a", names, times, rng.random(200_000))
    assert len(pair(events, SLEEP, rule="best", max_duration=60.0)) > 10_000


def test_a_table_of_intervals_checks_its_columns() -> None:
    with pytest.raises(InputError, match=r"'rest' of recording 'a', row 1: .* got 5.0 to 4.0"):
        Intervals.of("a", "rest", [1.0, 5.0], [2.0, 4.0])
    with pytest.raises(InputError, match="finite"):
        Intervals.of("a", "rest", 1.0, math.inf)
    with pytest.raises(InputError, match="one length"):
        Intervals.of(["a", "b"], "rest", 1.0, 2.0)


def test_the_ends_of_an_interval_type_have_its_name() -> None:
    plain = IntervalType.named("sleep")
    assert (plain.onset, plain.offset) == ("sleep:onset", "sleep:offset")
