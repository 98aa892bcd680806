"""Labels: the sample clock, pairing of endpoints, jitter."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import ConfigError
from bdl.events import Events
from bdl.intervals import IntervalType
from bdl.labels import Labels, label
from bdl.recording import RecordingInfo
from bdl.sampling import nearest_sample

SLEEP = IntervalType("sleep", "onset", "wakeup")


def info(name="a", samples=100, period=5.0):
    return RecordingInfo(name, samples, ("x",), period)


def test_intervals_open_at_an_edge_are_dropped():
    table = Events.of("a", ["wakeup", "onset", "wakeup", "onset"], [50.0, 100.0, 200.0, 400.0])
    dropped = label(table, [info()], types=["onset"], intervals=[SLEEP])["a"]
    assert dropped.intervals[0].tolist() == [[20, 40]]


def test_an_unpaired_endpoint_is_still_an_event():
    table = Events.of("a", ["onset", "onset", "wakeup"], [10.0, 20.0, 30.0])
    labels = label(table, [info()], types=["onset", "wakeup"], intervals=[SLEEP])["a"]
    assert [places.tolist() for places in labels.events] == [[2, 4], [6]]
    assert labels.intervals[0].tolist() == [[4, 6]]


def test_events_stand_at_their_nearest_sample_and_outside_ones_are_counted():
    table = Events.of("a", "onset", [-2.6, -2.5, 0.0, 7.4, 7.5, 497.4, 497.5])
    labels = label(table, [info()], types=["onset"])["a"]
    assert labels.events[0].tolist() == [0, 0, 1, 2, 99]
    assert labels.outside == 2


def test_an_interval_past_the_end_is_clipped_and_one_wholly_outside_disappears():
    table = Events.of("a", ["onset", "wakeup"] * 2, [450.0, 900.0, 1000.0, 1100.0])
    labels = label(table, [info()], types=[], intervals=[SLEEP])["a"]
    assert labels.intervals[0].tolist() == [[90, 100]]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from("xyz"), st.integers(0, 99))))
def test_each_recording_and_type_gets_its_own(rows):
    table = (
        Events.of([r for r, _, _ in rows], [t for _, t, _ in rows], [5.0 * s for _, _, s in rows])
        if rows
        else Events.empty()
    )
    by_recording = label(table, [info("b"), info("a")], types=["z", "x"])
    assert [*by_recording] == ["b", "a"]
    for name, labels in by_recording.items():
        expected = [sorted(s for r, t, s in rows if (r, t) == (name, kind)) for kind in "zx"]
        assert [places.tolist() for places in labels.events] == expected


def test_repeated_types_are_refused():
    with pytest.raises(ConfigError, match="repeat"):
        label(Events.empty(), [info()], types=["onset", "onset"])


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.integers(0, 99), max_size=10),
    st.integers(0, 30),
    st.integers(0, 2**32 - 1),
)
def test_jitter_moves_a_little_and_loses_nothing(places, reach, seed):
    where = np.sort(np.array(places, dtype=np.int64))
    spans = where[: len(where) // 2 * 2].reshape(-1, 2)
    labels = Labels("a", 1.0, 100, (where,), (spans,))
    moved = labels.jittered(reach, np.random.default_rng(seed))
    assert moved.events[0].shape == where.shape
    # Sorting both sides keeps the greatest distance of a pairing within the reach.
    assert (np.abs(moved.events[0] - where) <= reach).all()
    assert ((moved.events[0] >= 0) & (moved.events[0] < 100)).all()
    assert (np.abs(moved.intervals[0] - spans) <= reach).all()
    assert (moved.intervals[0][:, 0] <= moved.intervals[0][:, 1]).all()


def test_jitter_is_uniform_and_comes_from_its_generator():
    labels = Labels("a", 1.0, 10_000, (np.full(7000, 5000),))
    moved = labels.jittered(3, np.random.default_rng(1)).events[0]
    counts = np.bincount(moved - 4997, minlength=7)
    assert len(counts) == 7
    assert (np.abs(counts - 1000) < 5 * np.sqrt(1000)).all()
    again = labels.jittered(3, np.random.default_rng(1)).events[0]
    assert (moved == again).all()
    assert labels.jittered(0, np.random.default_rng(1)) is labels
    with pytest.raises(ConfigError, match="jitter"):
        labels.jittered(-1, np.random.default_rng(1))


def test_halves_go_up():
    assert nearest_sample(np.array([2.5, -2.5, 7.4999]), 5.0).tolist() == [1, 0, 1]
