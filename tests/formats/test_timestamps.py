"""Timestamps against the standard library, row by row."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.column_values import ColumnPlace
from bdl.errors import InputError
from bdl.formats import timestamps
from bdl.formats.timestamps import parse_times

PLACE = ColumnPlace("a.csv", "t")
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
zones = st.integers(-12 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m)))
moments = st.datetimes(datetime(1700, 1, 1), datetime(2260, 1, 1), timezones=zones)


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
        times, offsets, _ = parse_times(array, PLACE)
        assert times.tolist() == exact
        assert offsets is not None
        assert offsets.tolist() == east
    times, offsets, _ = parse_times(pa.array(texts * 2).dictionary_encode(), PLACE)
    assert times.tolist() == exact * 2
    assert offsets is not None
    assert offsets.tolist() == east * 2


LOCAL = ["2018-08-14T15:30:00", "2018-08-14T23:59:59", "2018-08-15T00:00:00"]
ZONED = ["2018-08-14T15:30:00.5Z", "2018-08-14T15:30:09.5Z", "2018-08-14T15:30:09.25Z"]
pieces = st.tuples(moments, st.integers(0, 5), st.integers(1, 9), st.integers(0, 40_000))


@settings(max_examples=300, deadline=None)
@given(st.lists(pieces, min_size=1, max_size=5), st.booleans())
def test_runs_of_days_are_parsed_as_single_times(
    rows: list[tuple[datetime, int, int, int]], whole_seconds: bool
) -> None:
    times = [
        (at.replace(microsecond=0 if whole_seconds else at.microsecond), form, count, step)
        for at, form, count, step in rows
    ]
    texts = [
        spell(at + timedelta(seconds=i * step), form)
        for at, form, count, step in times
        for i in range(count)
    ]
    array = pa.array(["skipped", *texts])[1:]
    single = [parse_times(pa.array([text]), PLACE) for text in texts]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(timestamps, "_LONG", 1)
        patch.setattr(timestamps, "_LEAST_RUN", 1)
        at, offsets, local = parse_times(array, PLACE)
    assert at.tolist() == [part.item() for part, _, _ in single]
    assert offsets is not None
    assert offsets.tolist() == [part.item() for _, part, _ in single if part is not None]
    assert not local


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(["2018-08-14T15:30:00", "2018-08-14T23:59:59", "2018-08-15T00:00:00"])
    ),
    st.text(alphabet="0123456789-:.TZ ", max_size=21),
)
def test_an_invalid_time_in_a_long_column_is_named_by_its_row(texts: list[str], odd: str) -> None:
    array = pa.array([*texts, odd, *texts])
    outcomes = []
    for long in (1, 1 << 30):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(timestamps, "_LONG", long)
            patch.setattr(timestamps, "_LEAST_RUN", 1)
            try:
                at, offsets, local = parse_times(array, PLACE)
                outcomes.append(f"{at.tolist()} {offsets} {local}")
            except InputError as error:
                outcomes.append(str(error))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("2018-08-14T15:30:00", "some times have a UTC offset and others none"),
        ("2018-08-14T15:30:00+1500", "not on the calendar"),
        ("2018-08-14T15:30:00-12:30", "not on the calendar"),
        ("2018-08-14T15:30:00+0160", "not on the calendar"),
        ("2018-02-29T15:30:00Z", "not on the calendar"),
        ("2018-13-01T15:30:00Z", "not on the calendar"),
        ("2018-08-14T24:00:00Z", "not on the calendar"),
        ("2018-08-14", "some times have a UTC offset and others none"),
        ("2018-08-14T15:30:00.Z", "not on the calendar"),
        ("2018-08-14T15:30:00Zulu", "not on the calendar"),
        ("01/02/2018 15:30:00+00:00", "not on the calendar"),
        ("2018-08-14T15:3/:00Z", "not on the calendar"),
        ("", "not on the calendar"),
    ],
)
def test_a_bad_time_names_file_column_row_and_cause(text: str, why: str) -> None:
    with pytest.raises(InputError, match=rf"a\.csv: column 't', row 1: .*{why}"):
        parse_times(pa.array(["2018-08-14T15:30:00Z", text]), PLACE)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet="0123456789-+:.TZ /", min_size=15, max_size=30))
def test_nothing_is_accepted_that_the_standard_library_refuses(text: str) -> None:
    iso = "2018-08-14T15:30:00Z"  # texts after an ISO time are taken as they are
    try:
        times, offsets, _ = parse_times(pa.array([iso, text]), PLACE)
    except InputError:
        return
    at = datetime.fromisoformat(text)
    assert (at - EPOCH) // timedelta(microseconds=1) == times[1] // 1000
    assert offsets is not None
    assert at.utcoffset() == timedelta(seconds=int(offsets[1]))


FORMS = (
    ("%d.%m.%Y %H:%M:%S", None),
    ("%d/%m/%Y %H:%M:%S", "day-first"),
    ("%m/%d/%Y %I:%M:%S %p", "month-first"),
    ("%Y/%m/%d %H:%M:%S", None),
    ("%d-%m-%Y %H:%M:%S", None),
    ("%d.%m.%y, %H:%M:%S", None),
    ("%Y-%m-%d %H:%M:%S:000", None),
    ("%Y-%m-%d %H:%M:%S,000", None),
)


@settings(max_examples=200, deadline=None)
@given(
    rows=st.lists(st.datetimes(datetime(2000, 1, 1), datetime(2060, 1, 1)), min_size=1, max_size=9),
    form=st.sampled_from(FORMS),
    pad=st.booleans(),
)
def test_common_local_forms_agree_with_strptime(
    rows: list[datetime], form: tuple[str, str | None], pad: bool
) -> None:
    exact = [row.replace(microsecond=0) for row in rows]
    texts = [row.strftime(form[0]) for row in exact]
    if not pad:
        texts = [re.sub(r"(^|[/. ])0(\d[/.:])", r"\1\2", text) for text in texts]
    times, offsets, _ = parse_times(pa.array(texts), PLACE, None, form[1])  # type: ignore[arg-type]
    assert times.tolist() == [int(row.replace(tzinfo=UTC).timestamp()) * 10**9 for row in exact]
    assert offsets is None


def test_the_dates_tell_their_order_or_it_is_asked_for() -> None:
    march = [datetime(2024, 3, 4, 5, tzinfo=UTC), datetime(2024, 3, 14, 5, tzinfo=UTC)]
    expected = [int(at.timestamp()) * 10**9 for at in march]
    for texts in (["4/3/2024 5:00", "14/3/2024 5:00"], ["3/4/2024 5:00 AM", "3/14/2024 5:00 AM"]):
        assert parse_times(pa.array(texts), PLACE)[0].tolist() == expected
    for texts in (["4 Mar 2024 5:00", "14-Mar-2024 5:00"], ["Mar 4, 2024 5:00", "14 mar 24 5:00"]):
        for order in (None, "day-first", "month-first"):  # a name needs no order
            assert parse_times(pa.array(texts), PLACE, None, order)[0].tolist() == expected
    with pytest.raises(InputError, match=r"row 1: an hour up to 12 .* got '14.3.2024 13:05 PM'"):
        parse_times(pa.array(["4.3.2024 1:05 PM", "14.3.2024 13:05 PM"]), PLACE)
    with pytest.raises(InputError, match=r"'3/4/2024 5:00'.*--date-order day-first"):
        parse_times(pa.array(["3/4/2024 5:00"]), PLACE)
    with pytest.raises(InputError, match="dates of one order"):
        parse_times(pa.array(["14/3/2024 5:00", "3/14/2024 5:00"]), PLACE)


def test_null_and_other_types_are_refused() -> None:
    with pytest.raises(InputError, match="row 1"):
        parse_times(pa.array(["2018-08-14T15:30:00Z", None]), PLACE)
    with pytest.raises(InputError, match="a column of type int64"):
        parse_times(pa.array([1, 2]), PLACE)


@settings(max_examples=100, deadline=None)
@given(
    start=moments,
    steps=st.lists(st.integers(0, 900), max_size=60),
    form=st.integers(0, 5),
    change=st.integers(0, 60),
    invalid=st.none() | st.integers(0, 60),
)
def test_runs_of_one_offset(
    start: datetime, steps: list[int], form: int, change: int, invalid: int | None
) -> None:
    """Rows of one width with one change of offset."""
    at = start.replace(microsecond=0)
    rows = [at]
    for number, step in enumerate(steps):
        at += timedelta(seconds=step)
        rows.append(at.astimezone(UTC) if number >= change else at)
    texts = [spell(moment, form) for moment in rows]
    if invalid is not None and invalid < len(texts):
        texts[invalid] = texts[invalid][:17] + "6x" + texts[invalid][19:]
        with pytest.raises(InputError, match=f"row {invalid}: "):
            parse_times(pa.array(texts), PLACE)
        return
    times, offsets, _ = parse_times(pa.array(["", *texts])[1:], PLACE)
    assert times.tolist() == [
        (moment - EPOCH) // timedelta(microseconds=1) * 1000 for moment in rows
    ]
    east = [int(moment.utcoffset().total_seconds()) for moment in rows]  # type: ignore[union-attr]
    assert offsets is not None
    assert offsets.tolist() == east
