"""The figures of `inspect`, against counting by hand."""

from __future__ import annotations

import json

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.events import Events
from bdl.formats import inspect
from bdl.formats.event_summary import Durations
from bdl.intervals import IntervalType
from bdl.recording import Recording, Recordings


def two() -> Recordings:
    first = np.array([[1.0, np.nan], [2.0, 3.0]])
    return Recordings.of(
        [
            Recording.of(first, id="a", period=1800.0, channels=["x", "y"], group="g"),
            Recording.of(np.zeros(4), id="b", period=900.0, channels=["x"], group="g"),
        ]
    )


def test_recordings_are_counted() -> None:
    summary = inspect(two()).recordings
    assert summary is not None
    assert (summary.recordings, summary.hours, summary.groups, summary.largest_group) == (
        2,
        2.0,
        1,
        2,
    )
    assert summary.periods == {"1800": 1, "900": 1}
    assert summary.channels == {"x": 2, "y": 1}
    assert summary.missing == 1 / 8
    quick = inspect(two(), values=False).recordings
    assert quick is not None
    assert quick.missing is None


@settings(max_examples=100, deadline=None)
@given(
    st.lists(
        st.tuples(
            st.sampled_from("abz"),
            st.sampled_from("xy"),
            st.integers(-4, 40).map(lambda t: t * 300),
        ),
        max_size=12,
    )
)
def test_events_are_counted(rows: list[tuple[str, str, int]]) -> None:
    events = Events.of(*map(list, zip(*rows, strict=True))) if rows else Events.empty()
    summary = inspect(two(), events).events
    assert summary is not None
    json.dumps(summary.__dict__)
    assert summary.events == len(rows)
    assert summary.types == {kind: sum(r[1] == kind for r in rows) for kind in events.types}
    assert summary.duplicates == len(rows) - len(set(rows))
    assert summary.unknown_recordings == (["z"] if any(r[0] == "z" for r in rows) else [])
    ends = {"a": (1800, 2), "b": (900, 4)}
    assert summary.outside == sum(
        not 0 <= np.floor(time / ends[id][0] + 0.5) < ends[id][1]
        for id, _, time in rows
        if id in ends
    )
    distinct = sorted(set(rows))
    gaps = [
        abs(first[2] - second[2])
        for i, first in enumerate(distinct)
        for second in distinct[i + 1 :]
        if first[0] == second[0]
    ]
    assert summary.closest_seconds == (min(gaps) if gaps else None)
    used = {r[0] for r in rows} & {"a", "b"}
    assert summary.recordings_without_events == 2 - len(used)


def test_durations_of_intervals() -> None:
    kind = IntervalType("sleep", onset="bed", offset="up")
    times = [("bed", 0.0), ("bed", 10.0), ("up", 16.0), ("bed", 20.0), ("up", 65.5), ("up", 80.0)]
    events = Events.of("a", [name for name, _ in times], [time for _, time in times])
    summary = inspect(None, events, intervals=[kind]).events
    assert summary is not None
    assert summary.durations == {"sleep": Durations(2, 6.0, 25.75, 45.5)}
    # Without interval types, those that the names suggest.
    unnamed = inspect(None, events).events
    assert unnamed is not None
    assert unnamed.durations == {}
    ends = Events.of("a", ["seizure:onset", "seizure:offset"], [3.0, 9.0])
    named = inspect(None, ends).events
    assert named is not None
    assert named.durations == {"seizure": Durations(1, 6.0, 6.0, 6.0)}
