"""Events as a table: data frames of three kinds, selection, order, what is wrong."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import InputError
from bdl.events import Events
from naive.ordering import in_order

rows = st.lists(
    st.tuples(
        st.sampled_from(["a", "b", "ü", ""]).filter(bool),
        st.sampled_from(["x", "y:onset"]),
        st.floats(-1e9, 1e9),
        st.floats(-1e3, 1e3),
    ),
    min_size=1,
    max_size=12,
)


def columns(listed: list[tuple[str, str, float, float]]) -> dict[str, list[Any]]:
    names = ("recording", "event", "time", "score")
    return {
        name: list(column) for name, column in zip(names, zip(*listed, strict=True), strict=True)
    }


@settings(max_examples=60, deadline=None)
@given(rows, st.booleans())
def test_data_frames_come_back_in_their_kind(
    listed: list[tuple[str, str, float, float]], scored: bool
) -> None:
    data = columns(listed)
    if not scored:
        del data["score"]
    for make, kind in (
        (pd.DataFrame, pd.DataFrame),
        (pl.DataFrame, pl.DataFrame),
        (pa.table, pa.Table),
    ):
        events = Events.from_frame(make(data))
        back = events.to_frame()
        assert isinstance(back, kind)
        assert Events.from_frame(back) == events
        assert events.recording.tolist() == data["recording"]
        assert events.time.tolist() == data["time"]
        assert (events.score is not None) == scored


@settings(max_examples=60, deadline=None)
@given(rows, st.sets(st.sampled_from(["a", "b", "q"])))
def test_select_and_concat_agree_with_lists(
    listed: list[tuple[str, str, float, float]], wanted: set[str]
) -> None:
    events = Events.of(*columns(listed).values())
    chosen = events.select(recordings=wanted, types=["x"])
    expected = [row for row in listed if row[0] in wanted and row[1] == "x"]
    assert chosen.time.tolist() == [row[2] for row in expected]
    rest = events.select(types=["y:onset"])
    both = Events.concat([events.select(types=["x"]), rest])
    assert in_order(both) == in_order(events)
    for id in {row[0] for row in listed}:
        times = sorted(row[2] for row in listed if row[0] == id and row[1] == "x")
        assert events.times(id, "x").tolist() == times


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"time": ["soon", "later"]}, "column 'time', row 0: a number expected, got 'soon'"),
        ({"time": [1.0, float("inf")]}, "row 1 has no finite time"),
        ({"time": [None, 1.0]}, "row 0 has no finite time"),
        ({"recording": ["a", None]}, "column 'recording', row 1: a name expected, got None"),
        ({"score": [1.0, float("nan")]}, "row 1 has no finite time or no score"),
    ],
)
def test_bad_rows_are_named(change: dict[str, list[Any]], message: str) -> None:
    data = {"recording": ["a", "b"], "event": ["x", "x"], "time": [1.0, 2.0]}
    with pytest.raises(InputError, match=f"truth.csv: {message}"):
        Events.from_frame(pl.DataFrame({**data, **change}), source="truth.csv")


def test_rows_without_time_are_dropped_and_counted_when_asked() -> None:
    frame = pl.DataFrame({"recording": ["a", "a"], "event": ["x", "x"], "time": [None, 1.0]})
    events = Events.from_frame(frame, incomplete="drop")
    assert (events.time.tolist(), events.dropped) == ([1.0], 1)


def test_other_bad_tables() -> None:
    with pytest.raises(InputError, match="column 'time' is missing; it has recording, event"):
        Events.from_frame(pd.DataFrame({"recording": ["a"], "event": ["x"]}))
    with pytest.raises(InputError, match="a pandas, polars or pyarrow table expected, got list"):
        Events.from_frame([1, 2])
    with pytest.raises(InputError, match="columns of one length"):
        Events.of(["a", "b"], "x", [1.0])
    with pytest.raises(InputError, match="texts"):
        Events.of([1, 2], "x", [1.0, 2.0])  # type: ignore[list-item]
    mixed = pd.DataFrame({"recording": ["a", 1], "event": ["x", "x"], "time": [1.0, 2.0]})
    with pytest.raises(InputError, match="values of one type"):
        Events.from_frame(mixed)


def test_numbers_serve_as_ids_and_categories_as_names() -> None:
    frame = pd.DataFrame({"recording": [7, 8], "event": ["x", "y"], "time": [1, 2]})
    frame["event"] = frame["event"].astype("category")
    events = Events.from_frame(frame)
    assert (events.recordings, events.types) == (("7", "8"), ("x", "y"))


def test_it_prints_itself_for_a_person() -> None:
    events = Events.of(["a", "a", "b"], ["onset", "wakeup", "onset"], [1, 2, 3], [0.5, 0.25, 1])
    assert repr(events) == "Events: 3 in 2 recordings, scored\n  onset   2\n  wakeup  1"
    assert repr(Events.empty()) == "Events: 0 in 0 recordings"


def test_equality_follows_rows_and_scores() -> None:
    events = Events.of("a", "x", [1.0], [0.5])
    assert events == Events.of("a", "x", [1.0], [0.5])
    assert events != Events.of("a", "x", [1.0], [0.6])
    assert events != Events.of("a", "x", [1.0])
    assert events != Events.of("b", "x", [1.0], [0.5])
    assert events != "events"
    assert Events.empty() == Events.concat([])
    assert np.array_equal(Events.empty(scored=True).score, np.zeros(0))


def test_an_empty_table_has_the_types_of_a_full_one(tmp_path):
    full, empty = Events.of("a", "beat", [1.0], [0.5]), Events.empty(scored=True)
    for backend in ("polars", "pyarrow"):
        types = [table.to_frame(backend).schema for table in (full, empty)]
        assert types[0] == types[1]
    empty.to_polars().write_parquet(tmp_path / "none.parquet")
    assert len(Events.from_frame(pl.read_parquet(tmp_path / "none.parquet"))) == 0
