"""Event tables: every format there and back, and what is wrong with them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import BdlError, ConfigError, InputError
from bdl.events import Events
from bdl.formats import inspect, read_events, write_events
from bdl.formats.events import EventFormat
from bdl.intervals import IntervalType
from bdl.recording import Recording, Recordings
from event_tables import ids, interval_events, point_events, scores, times
from naive.ordering import in_order


class Silent(EventFormat):
    """A format that cannot be written."""

    kind: str = "silent"
    suffixes = (".silent",)

    def read(self, path: Path) -> Events:
        return Events.empty()


@settings(max_examples=60, deadline=None)
@given(events=point_events(), suffix=st.sampled_from([".csv", ".tsv", ".parquet", ".feather"]))
def test_our_own_table_there_and_back(
    events: Events, suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("own") / f"events{suffix}"
    write_events(events, file)
    assert read_events(file) == events


@settings(max_examples=40, deadline=None)
@given(events=point_events(unit=5.0), suffix=st.sampled_from([".csv", ".parquet"]))
def test_kaggle_there_and_back(
    events: Events, suffix: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("kaggle") / f"events{suffix}"
    write_events(events, file, format="kaggle", period=5.0)
    assert read_events(file, period=5.0) == events


@settings(max_examples=60, deadline=None)
@given(events=interval_events())
def test_bids_there_and_back(events: Events, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("bids")
    write_events(events, folder, format="bids")
    assert in_order(read_events(folder)) == in_order(events)


@settings(max_examples=60, deadline=None)
@given(events=interval_events())
def test_dcase_there_and_back(events: Events, tmp_path_factory: pytest.TempPathFactory) -> None:
    file = tmp_path_factory.mktemp("dcase") / "events.tsv"
    if events.score is not None:
        with pytest.raises(InputError, match="has no scores"):
            write_events(events, file, format="dcase")
        events = Events.of(events.recording, events.event, events.time)
    write_events(events, file, format="dcase")
    assert in_order(read_events(file)) == in_order(events)


@settings(max_examples=40, deadline=None)
@given(
    rows=st.lists(st.tuples(ids, times, st.floats(0.5, 1e4), scores), min_size=1, max_size=8),
    scored=st.booleans(),
)
def test_seizures_there_and_back(
    rows: list[tuple[str, float, float, float]],
    scored: bool,
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    # Intervals that follow each other: with one confidence each, pairing must not mix them up.
    at: dict[str, float] = {}
    parts = []
    for id, gap, length, score in rows:
        start = at.get(id, 0.0) + gap + 1.0
        at[id] = start + length
        names = ["seizure:onset", "seizure:offset"]
        parts.append(Events.of(id, names, [start, at[id]], [score] * 2 if scored else None))
    events = Events.concat(parts)
    folder = tmp_path_factory.mktemp("seizures")
    write_events(events, folder, format="seizures")
    assert in_order(read_events(folder)) == in_order(events)


def test_szcore_files_read_as_seizures(tmp_path: Path) -> None:
    head = "onset\tduration\teventType\tconfidence\tchannels\tdateTime\trecordingDuration\n"
    file = tmp_path / "sub-01" / "sub-01_run-00_events.tsv"
    file.parent.mkdir()
    file.write_text(head + "10.5\t20\tsz_foc_ia\tn/a\tn/a\t2016-11-06 13:43:04\t3600\n")
    (tmp_path / "sub-02_run-00_events.tsv").write_text(
        head + "0.0\t3600\tbckg\tn/a\tn/a\t2016-11-06 13:43:04\t3600\n"
    )
    events = read_events(tmp_path)
    assert events.recordings == ("sub-01_run-00",)
    assert events.times("sub-01_run-00", "seizure:onset").tolist() == [10.5]
    assert events.times("sub-01_run-00", "seizure:offset").tolist() == [30.5]


def test_event_free_recordings_are_listed_where_a_format_can(tmp_path: Path) -> None:
    two = Recordings.of([Recording.of(np.zeros(9), id=id, period=1.0) for id in ("a", "b")])
    events = Events.of("a", ["seizure:onset", "seizure:offset"], [1.0, 2.0])
    write_events(events, tmp_path, format="seizures", recordings=two)
    assert "bckg" in (tmp_path / "b_events.tsv").read_text()
    write_events(events, tmp_path / "d.tsv", format="dcase", recordings=two)
    assert (tmp_path / "d.tsv").read_text().splitlines()[-1].split("\t") == ["b", "", "", ""]
    assert len(read_events(tmp_path / "d.tsv")) == 2


def test_named_intervals_and_renamed_columns(tmp_path: Path) -> None:
    sleep = [IntervalType("sleep", "onset", "wakeup")]
    events = Events.of("n1", ["onset", "wakeup"], [10.0, 20.0])
    write_events(events, tmp_path / "d.tsv", format="dcase", intervals=sleep)
    assert read_events(tmp_path / "d.tsv", intervals=sleep) == events
    (tmp_path / "own.csv").write_text("id,kind,at,p\n1,x,2.5,0.5\n")
    columns = {"recording": "id", "event": "kind", "time": "at", "score": "p"}
    renamed = read_events(tmp_path / "own.csv", columns=columns)
    assert renamed == Events.of("1", "x", [2.5], [0.5])
    with pytest.raises(ConfigError, match="'when'"):
        read_events(tmp_path / "own.csv", columns={"when": "at"})


def test_kaggle_needs_its_period_and_counts_what_it_drops(tmp_path: Path) -> None:
    file = tmp_path / "k.csv"
    file.write_text("series_id,night,event,step,timestamp\nx,1,onset,,\nx,2,onset,12.0,t\n")
    with pytest.raises(ConfigError, match="give the period"):
        read_events(file)
    events = read_events(file, period=5.0)
    assert (events.time.tolist(), events.dropped) == ([60.0], 1)
    with pytest.raises(InputError, match="row 0 has no finite time"):
        read_events(file, period=5.0, incomplete="error")
    with pytest.raises(InputError, match="not a whole number of steps"):
        write_events(Events.of("a", "x", [7.0]), tmp_path / "o.csv", format="kaggle", period=5.0)
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("a.csv", "recording,event\na,x\n", "which no event format has"),
        ("a.csv", "recording,event,time\na,x,soon\n", r"a\.csv: column 'time', row 0: a number"),
        ("a.csv", "recording,event,time\na,x,inf\n", "row 0 has no finite time"),
        ("a.csv", "recording,event,time\n,x,1\n", "column 'recording', row 0: a name expected"),
        ("a.csv", "recording,event,time,score\na,x,1,\n", "row 0 has no finite time or no score"),
        ("a.tsv", "onset\tduration\ttrial_type\n1\t-2\tx\n", "column 'duration', row 0"),
        ("a.tsv", "onset\tduration\ttrial_type\nn/a\t2\tx\n", "column 'onset', row 0"),
        ("a.tsv", "onset\tduration\ttrial_type\n1\t2\n", "row 0: 3 fields expected, got 2"),
        ("a.tsv", "onset\tduration\tother\n1\t2\t3\n", "column 'trial_type' is missing"),
        ("a.tsv", "onset\tduration\ttrial_type\n1\t2\tx\n2\tn/a\tx\n", "has no end or duration"),
        ("a.tsv", "onset\tduration\ttrial_type\n1e999999\t2\tx\n", "a number expected"),
        ("a.tsv", "filename\tonset\toffset\tevent_label\nf\t3\t2\tx\n", "before its start"),
        ("a.tsv", "filename\tonset\toffset\tevent_label\nf\t3\t\tx\n", "row 0: onset, offset and"),
        ("a.tsv", "filename\tonset\toffset\tevent_label\n\t3\t4\tx\n", "column 'filename', row 0"),
    ],
)
def test_bad_event_tables_name_file_and_row(
    tmp_path: Path, name: str, text: str, message: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_events(file)


def test_what_a_format_cannot_keep_is_refused(tmp_path: Path) -> None:
    lone = Events.of("a", ["x:onset", "x:onset", "x:offset"], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="2 'x:onset' but 1 'x:offset'"):
        write_events(lone, tmp_path, format="bids")
    both = Events.of("a", ["x", "x:onset", "x:offset"], [1.0, 2.0, 3.0])
    with pytest.raises(InputError, match="both an interval and a point"):
        write_events(both, tmp_path, format="bids")
    back = Events.of("a", ["x:onset", "x:offset"], [3.0, 1.0])
    with pytest.raises(InputError, match="before its start"):
        write_events(back, tmp_path, format="bids")
    escaping = Events.of("../../x", "beep", [1.0])
    with pytest.raises(InputError, match="cannot be a file name"):
        write_events(escaping, tmp_path / "deep/er", format="bids")
    two = Events.of(["a", "b"], "beep", [1.0, 1.0])
    with pytest.raises(InputError, match="holds one recording"):
        write_events(two, tmp_path / "x.tsv", format="bids")
    with pytest.raises(ConfigError, match="a suffix among"):
        write_events(two, tmp_path / "x.xlsx")
    with pytest.raises(InputError, match="only intervals 'seizure'"):
        write_events(two, tmp_path, format="seizures")
    assert not [*tmp_path.rglob("*.tsv")]


def test_an_event_is_outside_by_its_nearest_sample() -> None:
    ten = Recordings.of([Recording.of(np.zeros(10), id="a", period=0.5)])
    for time, outside in ((0.0, 0), (4.5, 0), (4.7, 0), (-0.2, 0), (4.75, 1), (5.0, 1), (-0.3, 1)):
        summary = inspect(ten, Events.of("a", "x", [time])).events
        assert summary is not None
        assert summary.outside == outside, time
    other = inspect(ten, Events.of("b", "x", [99.0])).events
    assert other is not None
    assert (other.unknown_recordings, other.outside) == (["b"], 0)


def test_only_our_error_comes_from_an_unknown_format(tmp_path: Path) -> None:
    with pytest.raises(BdlError):
        read_events(tmp_path)
    with pytest.raises(ConfigError):
        read_events(tmp_path, format="word")  # type: ignore[arg-type]


def test_a_format_that_can_only_be_read_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="can only be read; audacity, bdl, bids"):
        write_events(Events.empty(), tmp_path / "x.silent", format=Silent())
