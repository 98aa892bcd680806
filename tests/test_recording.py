"""Recordings, their local time, and lazy collections."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import InputError
from bdl.recording import Recording, RecordingInfo, Recordings, Values
from bdl.value_readers import CHUNK, ValueReader

ZURICH = ZoneInfo("Europe/Zurich")


@settings(max_examples=60, deadline=None)
@given(
    start=st.datetimes(datetime(1971, 1, 1), datetime(2037, 1, 1)),
    period=st.sampled_from([1 / 3, 5.0, 60.0, 1800.0, 40000.0]),
    samples=st.integers(1, 500),
)
def test_local_time_is_that_of_the_zone(start: datetime, period: float, samples: int) -> None:
    """Hours and weekdays agree with the calendar of a zone, through its changes of clocks."""
    begin = start.replace(tzinfo=UTC, microsecond=0)
    local = [
        (begin + timedelta(seconds=i * period + 1e-6)).astimezone(ZURICH) for i in range(samples)
    ]
    offsets = [int(at.utcoffset().total_seconds()) for at in local]  # type: ignore[union-attr]
    changes = [(i, offsets[i]) for i in range(1, samples) if offsets[i] != offsets[i - 1]]
    first = begin.astimezone(timezone(timedelta(seconds=offsets[0])))
    info = RecordingInfo("a", samples, ("x",), period, first, tuple(changes))
    hours, weekdays = info.local_time(np.arange(samples))
    assert hours.tolist() == [at.hour for at in local]
    assert weekdays.tolist() == [at.weekday() for at in local]


def test_hours_without_a_start_are_refused() -> None:
    info = RecordingInfo("a", 3, ("x",), 1.0)
    with pytest.raises(InputError, match="has no start time"):
        info.local_time(np.arange(3))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"id": ""}, "needs an id"),
        ({"period": 0.0}, "period must be a positive"),
        ({"period": float("nan")}, "period must be a positive"),
        ({"period": float("inf")}, "period must be a positive"),
        ({"samples": -1}, "0 or more expected"),
        ({"channels": ("x", "x")}, "channel names repeat"),
        ({"start": datetime(2020, 1, 1)}, "has no UTC offset"),
        ({"offset_changes": ((5, 0), (5, 60))}, "out of order"),
        ({"offset_changes": ((5, 0), (3, 60))}, "out of order"),
    ],
)
def test_impossible_infos_are_refused(change: dict[str, object], message: str) -> None:
    fields = {"id": "a", "samples": 9, "channels": ("x",), "period": 1.0}
    with pytest.raises(InputError, match=message):
        RecordingInfo(**{**fields, **change})  # type: ignore[arg-type]


def test_values_must_fit_their_info() -> None:
    info = RecordingInfo("a", 3, ("x",), 1.0)
    with pytest.raises(InputError, match=r"shape \(3, 1\).*got \(4, 1\)"):
        Recording(info, np.zeros((4, 1), np.float32))
    with pytest.raises(InputError, match="float32 values expected, got float64"):
        Recording(info, np.zeros((3, 1)))  # type: ignore[arg-type]
    with pytest.raises(InputError, match="infinite value at sample 1, channel 0"):
        Recording.of(np.array([0.0, np.inf]), id="a", period=1.0)
    with pytest.raises(InputError, match=r"\(samples, channels\) expected, got \(1, 1, 1\)"):
        Recording.of(np.zeros((1, 1, 1)), id="a", period=1.0)


def test_a_collection_reads_one_recording_at_a_time_on_demand() -> None:
    read: list[str] = []

    def values(info: RecordingInfo) -> Values:
        read.append(info.id)
        return np.zeros((info.samples, 1), np.float32)

    infos = tuple(RecordingInfo(f"r{i}", 5, ("x",), 1.0) for i in range(10_000))
    many = Recordings(infos, values)
    assert not read
    assert (len(many), many.ids[7], "r7" in many, "q" in many) == (10_000, "r7", True, False)
    flow = iter(many)
    next(flow)
    assert read == ["r0"]
    assert many.select(["r5", "r3"])["r3"].values.shape == (5, 1)
    assert read == ["r0", "r3"]
    with pytest.raises(InputError, match=r"among 10000 \(r0, r1, r2 and 9997 more\)"):
        many["q"]
    with pytest.raises(InputError, match="two recordings have the id 'r1'"):
        many.select(["r1", "r1"])


def test_a_recording_without_a_group_is_its_own() -> None:
    pair = Recordings.of(
        [
            Recording.of(np.zeros(3), id="a", period=1.0, group="subject"),
            Recording.of(np.zeros(3), id="b", period=1.0),
        ]
    )
    assert pair.groups == {"a": "subject", "b": "b"}
    assert repr(pair["a"]).endswith("0.00 h, group subject")


class Rows(ValueReader):
    """Rows of one number each, two at a time, from one file per recording."""

    def chunks(self, info: RecordingInfo) -> Iterator[Values]:
        for first in range(0, info.samples, 2):
            yield np.arange(first, min(first + 2, info.samples), dtype=np.float32)[:, None]

    def files(self, info: RecordingInfo) -> tuple[Path, ...]:
        return (Path(f"{info.id}.rows"),)


def test_every_adapter_keeps_chunks_and_files() -> None:
    infos = (RecordingInfo("a", 5, ("x",), 1.0), RecordingInfo("b", 2, ("x",), 1.0))
    rows = Recordings(infos, Rows())
    renamed = [replace(info, channels=("y",)) for info in infos]
    adapters = {
        "plain": rows,
        "selected": rows.select(["b", "a"]),
        "changed": rows.change(lambda info, values: values + 1, renamed),
        "joined": Recordings.concat([rows.select("a"), rows.select("b")]),
        "both": Recordings.concat([rows.select("b"), rows.select("a")]).change(
            lambda info, values: values * 2
        ),
    }
    for name, adapter in adapters.items():
        assert [len(chunk) for chunk in adapter.chunks("a")] == [2, 2, 1], name
        together = np.concatenate([*adapter.chunks("a")])
        np.testing.assert_array_equal(together, adapter["a"].values)
        assert adapter.files("a") == (Path("a.rows"),), name
    assert adapters["changed"]["b"].values.ravel().tolist() == [1.0, 2.0]
    assert adapters["changed"].infos[0].channels == ("y",)


def test_recordings_from_no_file_say_so_and_come_in_slices() -> None:
    whole = Recordings.of([Recording.of(np.zeros((CHUNK, 3)), id="a", period=1.0)])
    assert whole.files("a") == ()
    assert sum(len(chunk) for chunk in whole.chunks("a")) == CHUNK
    assert len([*whole.chunks("a")]) == 4
    stamped = Recordings.of(whole, files=[Path("table.csv")])
    assert stamped.files("a") == (Path("table.csv"),)


def test_a_reader_that_gives_the_wrong_number_of_rows_is_an_error() -> None:
    class Short(Rows):
        def chunks(self, info: RecordingInfo) -> Iterator[Values]:
            yield np.zeros((self.rows, 1), np.float32)

        rows = 3

    with pytest.raises(InputError, match="5 samples expected, got 3"):
        Recordings((RecordingInfo("a", 5, ("x",), 1.0),), Short())["a"]
    Short.rows = 6
    with pytest.raises(InputError, match="5 samples expected, got more"):
        Recordings((RecordingInfo("a", 5, ("x",), 1.0),), Short())["a"]


def test_ids_are_unique_after_joining() -> None:
    recordings = Recordings.of([Recording.of(np.zeros(3), id="a", period=1.0)])
    with pytest.raises(InputError, match="two recordings have the id 'a'"):
        Recordings.concat([recordings, recordings])
