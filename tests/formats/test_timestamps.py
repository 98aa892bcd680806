"""Timestamps against the standard library, row by row."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.column_values import ColumnPlace
from bdl.errors import InputError
from bdl.formats import timestamps
from bdl.formats.timestamps import parse_iso

PLACE = ColumnPlace("a.csv", "t")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
zones = st.integers(-12 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
moments = st.datetimes(datetime(1700, 1, 1), datetime(2260, 1, 1), timezones=zones)


def spread(offsets: list[tuple[int, int]], rows: int) -> list[int]:
    """The offset of every row."""
    starts = [row for row, _ in offsets]
    assert starts[:1] == [0]
    return np.repeat([offset for _, offset in offsets], np.diff([*starts, rows])).tolist()


def long_iso(array: pa.Array) -> tuple[np.ndarray, list[tuple[int, int]]]:  # type: ignore[type-arg]
    """Parse a column as if it were long: by runs of rows of one hour."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timestamps, "LONG", 1)
        return parse_iso(array, PLACE)


def spell(at: datetime, form: int) -> str:
    text = at.isoformat(sep="T" if form % 2 else " ")
    head, tail = text[:-6], text[-6:]
    if form % 3 == 1:
        tail = tail.replace(":", "")
    if form % 3 == 2 and tail == "+00:00":
        tail = "Z"
    return head + tail


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(moments, st.integers(0, 5)), min_size=1, max_size=20))
def test_agrees_with_the_standard_library(rows: list[tuple[datetime, int]]) -> None:
    texts = [spell(at, form) for at, form in rows]
    exact = [(at - EPOCH) // timedelta(microseconds=1) * 1000 for at, _ in rows]
    east = [int(at.utcoffset().total_seconds()) for at, _ in rows]  # type: ignore[union-attr]
    whole = pa.array(["skipped", *texts])[1:]
    for array in (pa.array(texts), pa.array(texts, pa.large_string()), whole):
        times, offsets = parse_iso(array, PLACE)
        assert times.tolist() == exact
        assert spread(offsets, len(east)) == east
    times, offsets = parse_iso(pa.array(texts * 2).dictionary_encode(), PLACE)
    assert times.tolist() == exact * 2
    assert spread(offsets, 2 * len(east)) == east * 2
    times, offsets = long_iso(pa.array(texts * 2))
    assert times.tolist() == exact * 2
    assert spread(offsets, 2 * len(east)) == east * 2


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2018-08-14T15:30:00", "has no UTC offset"),
        ("2018-08-14T15:30:00.5", "has no UTC offset"),
        ("2018-08-14T15:30:00+1500", "not on the calendar"),
        ("2018-08-14T15:30:00-12:30", "not on the calendar"),
        ("2018-08-14T15:30:00+0160", "not on the calendar"),
        ("2018-02-29T15:30:00Z", "not on the calendar"),
        ("2018-13-01T15:30:00Z", "not on the calendar"),
        ("2018-08-14T24:00:00Z", "not on the calendar"),
        ("2018-08-14", "not on the calendar"),
        ("2018-08-14T15:30:00.Z", "not on the calendar"),
        ("2018-08-14T15:30:00Zulu", "not on the calendar"),
        ("01/02/2018 15:30:00+00:00", "not on the calendar"),
        ("2018-08-14T15:3/:00Z", "not on the calendar"),
        ("", "not on the calendar"),
    ],
)
def test_a_bad_time_names_file_column_row_and_cause(text: str, why: str) -> None:
    for parse in (long_iso, lambda array: parse_iso(array, PLACE)):
        with pytest.raises(InputError, match=rf"a\.csv: column 't', row 1: .*{why}"):
            parse(pa.array(["2018-08-14T15:30:00Z", text]))


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789-+:.TZ /", min_size=15, max_size=30))
def test_nothing_is_accepted_that_the_standard_library_refuses(text: str) -> None:
    try:
        times, offsets = parse_iso(pa.array([text]), PLACE)
    except InputError:
        return
    at = datetime.fromisoformat(text)
    assert (at - EPOCH) // timedelta(microseconds=1) == times[0] // 1000
    assert at.utcoffset() == timedelta(seconds=offsets[0][1])


def test_a_default_offset_serves_times_without_one_only() -> None:
    texts = pa.array(["2018-08-14T15:30:00", "2018-08-14T15:30:00Z"])
    times, offsets = parse_iso(texts, PLACE, default=3600)
    assert np.diff(times).tolist() == [3600 * 10**9]
    assert offsets == [(0, 3600), (1, 0)]


def test_null_and_other_types_are_refused() -> None:
    with pytest.raises(InputError, match="row 1"):
        parse_iso(pa.array(["2018-08-14T15:30:00Z", None]), PLACE)
    with pytest.raises(InputError, match="a column of type int64"):
        parse_iso(pa.array([1, 2]), PLACE)


@settings(max_examples=100, deadline=None)
@given(
    start=moments,
    steps=st.lists(st.integers(0, 900), max_size=60),
    form=st.integers(0, 5),
    change=st.integers(0, 60),
    invalid=st.none() | st.integers(0, 60),
)
def test_runs_of_one_hour(
    start: datetime, steps: list[int], form: int, change: int, invalid: int | None
) -> None:
    """Rows in which mostly only minutes and seconds change, with one change of offset."""
    at = start.replace(microsecond=0)
    rows = [at]
    for number, step in enumerate(steps):
        at += timedelta(seconds=step)
        rows.append(at.astimezone(UTC) if number >= change else at)
    texts = [spell(each, form) for each in rows]
    if invalid is not None and invalid < len(texts):
        texts[invalid] = texts[invalid][:17] + "6x" + texts[invalid][19:]
        with pytest.raises(InputError, match=f"row {invalid}: "):
            long_iso(pa.array(texts))
        return
    times, offsets = long_iso(pa.array(["", *texts])[1:])
    assert times.tolist() == [(each - EPOCH) // timedelta(microseconds=1) * 1000 for each in rows]
    east = [int(each.utcoffset().total_seconds()) for each in rows]  # type: ignore[union-attr]
    assert spread(offsets, len(rows)) == east
