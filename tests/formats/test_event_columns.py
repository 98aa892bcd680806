"""Event tables as people have them: other headers, dates and times, intervals, codes."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats import read_events
from bdl.formats.time_zones import start_in_zone
from bdl.recording import Recording, Recordings


def night(zone: str, start: datetime, hours: int = 48, id: str = "a") -> Recordings:
    begin, changes, _ = start_in_zone(start, zone, 60.0, 60 * hours)
    values = np.zeros(60 * hours)
    return Recordings.of(
        [Recording.of(values, id=id, period=60.0, start=begin, offset_changes=changes)]
    )


BERLIN = night("Europe/Berlin", datetime(2024, 10, 26, 10, tzinfo=UTC))


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("recording,event,time\na,beep,90000.5\n", {}),
        ("Recording;Event;Time (s)\na;beep;90000,5\n", {}),
        (" File , TYPE , TIME \na,beep,90000.5\n", {}),
        ("Subject;Label;Timestamp\na;beep;27.10.2024 12:00:00,5\n", {}),
        ("id,what,When\na,beep,2024-10-27T13:00:00.5+02:00\n",
         {"columns": {"recording": "id", "event": "what", "time": "when"}}),
        ("recording,event,date,time\na,2,27.10.2024,12:00:00.5\n", {"codes": {"2": "beep"}}),
        ("recording,event,time\na,beep,10/27/2024 12:00:00.5 PM\n", {}),
        ("event,time\nbeep,2024-10-27 12:00:00.5\n", {}),
        ("recording,event,time\na,beep,27-Oct-2024 12:00:00.5\n", {}),
        ("recording,event,time\na,beep,27OCT2024:12:00:00.5\n", {}),
        ("recording;event;time\na;beep;Sun, October 27, 2024 12:00:00.5\n", {}),
        ("file,kind,t (ms)\na.csv,beep,90000500\n", {}),
        ("who,kind,Onset [min]\na,beep,1500.0083333333333\n",
         {"columns": {"recording": "who", "time": "Onset [min]"}}),
    ],
)  # fmt: skip
def test_the_same_event_in_many_tables(tmp_path: Path, text: str, options: dict[str, Any]) -> None:
    file = tmp_path / "events.csv"
    file.write_text(text)
    events = read_events(file, recordings=BERLIN, **options)
    assert events == Events.of("a", "beep", [90000.5])


def test_what_was_guessed_is_said(tmp_path: Path) -> None:
    file = tmp_path / "events.csv"
    file.write_text("File,event,Time\na,beep,1\n")
    assert read_events(file).notes == (
        f"{file}: column 'File' is read as recording, 'Time' is read as time",
    )
    file.write_text("recording,event,time\na,beep,1\n")
    assert read_events(file).notes == ()


def test_a_diary_of_intervals_over_the_change_of_clocks(tmp_path: Path) -> None:
    file = tmp_path / "diary.csv"
    rows = ["26.10.2024 23:00;27.10.2024 07:00", "27.10.2024 22:30;28.10.2024 06:00"]
    file.write_text("Participant;Bedtime;Wake time\n" + "".join(f"a;{row}\n" for row in rows))
    events = read_events(file, recordings=BERLIN)
    assert events.event.tolist() == ["onset", "offset"] * 2
    # From 12:00 to 23:00 are 11 hours; that night has one hour more.
    assert (events.time / 3600).tolist() == [11.0, 20.0, 35.5, 43.0]
    named = read_events(file, recordings=BERLIN, intervals=("sleep=onset,wakeup",))
    assert named.types == ("onset", "wakeup")
    file.write_text("recording,label,start,end\na,sleep,10,20\na,nap,30,40\n")
    assert read_events(file).types == ("nap:offset", "nap:onset", "sleep:offset", "sleep:onset")
    file.write_text("recording,start,end\na,10,20\na,30,\n")
    with pytest.raises(InputError, match=r"row 1 has no start or no end.*--incomplete drop"):
        read_events(file)
    assert read_events(file, incomplete="drop").dropped == 1


@pytest.mark.parametrize(
    "text",
    [
        "subject,date,bedtime,waketime\na,10/26/2024,11:00 PM,7:00 AM\n"
        "a,10/27/2024,10:30 PM,6:00 AM\n",
        "Participant;Bedtime;Wake time\na;26.10.2024 23:00;07:00\na;27.10.2024 22:30;6:00\n",
        "File,Lights off,Lights on\na,26 Oct 2024 23:00,27 Oct 2024 07:00\n"
        "a,27 Oct 2024 22:30,28 Oct 2024 06:00\n",
        "recording,start,duration\na,2024-10-26 23:00,9:00\na,2024-10-27 22:30,07:30:00\n",
        "recording,start,Duration (min)\na,2024-10-26T23:00,540\na,2024-10-27T22:30,450\n",
        "recording,start (h),end (h)\na,11,20\na,35.5,43\n",
    ],
)
def test_the_same_nights_in_many_diaries(tmp_path: Path, text: str) -> None:
    """The first night has an hour more; an end without date may be on the day after its start."""
    file = tmp_path / "diary.csv"
    file.write_text(text)
    events = read_events(file, recordings=BERLIN)
    assert (events.time / 3600).tolist() == [11.0, 20.0, 35.5, 43.0]
    assert not any("begin before" in note for note in events.notes)


def test_a_date_that_may_be_that_of_the_evening_is_told(tmp_path: Path) -> None:
    file = tmp_path / "diary.csv"
    rows = "a,26.10.2024,23:10,06:45\na,27.10.2024,00:20,07:00\n"
    file.write_text(f"recording,date,start,end\n{rows}")
    [note] = read_events(file, recordings=BERLIN).notes
    assert "1 intervals begin before the one before has ended" in note
    assert "that of the evening" in note


def test_rows_of_recordings_that_are_not_there(tmp_path: Path) -> None:
    file = tmp_path / "diary.csv"
    file.write_text(
        "Participant;Bedtime;Wake time\nb;26.10.2024 23:00;27.10.2024 07:00\n"
        "a;26.10.2024 23:00;27.10.2024 07:00\na;;\n"
    )
    with pytest.raises(InputError, match=r"1 of its recordings .*\(a\): b;.*--incomplete drop"):
        read_events(file, recordings=BERLIN)
    events = read_events(file, recordings=BERLIN, incomplete="drop")
    assert events.recordings == ("a",)
    assert len(events) == 2
    assert [note.removeprefix(f"{file}: ") for note in events.notes[1:]] == [
        "1 of its recordings are not among the 1 given and are left out: b",
        "1 rows without a time or score are left out",
    ]


def test_an_end_in_the_repeated_hour_follows_its_start(tmp_path: Path) -> None:
    file = tmp_path / "diary.csv"
    file.write_text("recording,start,end\na,2024-10-27 02:40,2024-10-27 02:10\n")
    events = read_events(file, recordings=BERLIN)
    assert np.diff(events.time).tolist() == [1800.0]


@settings(max_examples=100, deadline=None)
@given(
    place=st.sampled_from(
        [
            ("Europe/Berlin", datetime(2024, 3, 30, 10, tzinfo=UTC)),
            ("America/New_York", datetime(2024, 11, 2, 10, tzinfo=UTC)),
            ("Australia/Lord_Howe", datetime(2024, 4, 6, 3, tzinfo=UTC)),
            ("Asia/Kolkata", datetime(2024, 3, 30, 10, tzinfo=UTC)),
        ]
    ),
    seconds=st.integers(0, 48 * 3600 - 60),
)
def test_local_times_agree_with_the_standard_library(
    place: tuple[str, datetime], seconds: int
) -> None:
    zone, start = place
    local = (start + timedelta(seconds=seconds)).astimezone(ZoneInfo(zone))
    frame = pl.DataFrame(
        {"recording": ["a"], "event": ["x"], "time": [local.strftime("%Y-%m-%d %H:%M:%S")]}
    )
    expected = local.replace(fold=0).astimezone(UTC) - start
    since_start = read_events(frame, recordings=night(zone, start)).time[0]
    assert timedelta(seconds=since_start) == expected


def test_data_frames_of_any_kind() -> None:
    times = ["2024-10-26 13:00", "2024-10-26 14:00"]
    for frame in (
        pd.DataFrame({"recording": "a", "event": "x", "time": times}),
        pl.DataFrame({"recording": ["a", "a"], "event": ["x", "x"], "time": times}),
        pl.DataFrame({"recording": ["a", "a"], "event": ["x", "x"], "time": times}).to_arrow(),
        pd.DataFrame({"recording": "a", "event": "x", "time": pd.to_datetime(times)}),
        pd.DataFrame(
            {"recording": "a", "event": "x",
             "time": pd.to_datetime(times).tz_localize("Europe/Berlin")}
        ),
    ):  # fmt: skip
        events = read_events(frame, recordings=BERLIN)
        assert events.time.tolist() == [3600.0, 7200.0]
        assert type(events.to_frame()) is type(frame)
    renamed = pl.DataFrame({"Subject": ["a"], "Label": ["x"], "Seconds": [5.0]})
    assert Events.from_frame(renamed) == Events.of("a", "x", [5.0])
    table = pd.DataFrame({"File": ["a"], "kind": ["x"], "t (ms)": [5000], "Confidence": [0.7]})
    assert Events.from_frame(table) == Events.of("a", "x", [5.0], [0.7])
    assert Events.from_frame(table, score=None) == Events.of("a", "x", [5.0])
    odd = pl.DataFrame({"who": ["a"], "what": ["x"], "when": [5.0]})
    assert Events.from_frame(odd, recording="who", event="what", time="when").time.tolist() == [5.0]
    with pytest.raises(InputError, match=r"column 'recording' is missing; it has who.*recording="):
        Events.from_frame(odd)


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("recording,event,time\na,x,2024-10-26 13:00\n", {"recordings": None}, "--recordings"),
        ("recording,event,time\na,x,2024-03-31 02:30\n",
         {"recordings": night("Europe/Berlin", datetime(2024, 3, 30, 10, tzinfo=UTC))},
         r"row 0: .*2024-03-31T02:30:00.*clocks were set forward"),
        ("recording,event,time\na,x,2024-10-26 13:00\n",
         {"recordings": Recordings.of([Recording.of(np.zeros(9), id="a", period=1.0)])},
         "has no start time.*--zone Europe/Berlin"),
        ("recording,event,time\na,x,2024-10-26 13:00\na,x,soon\n", {}, "row 1: .*got 'soon'"),
        ("recording,event,time\na,x,\na,x,2024-10-26 13:00\na,x,\na,x,soon\n", {},
         "row 3: .*got 'soon'"),
        ("recording,event,time\na,x,1/2/2024 13:00\n", {}, "--date-order day-first"),
        ("who,what,when\na,x,1\n", {}, "--column time=NAME"),
        ("who,what,when\na,x,1\n", {"columns": {"time": "moment"}},
         "'moment' is missing; it has who"),
        ("x,time\n1,2\n", {"recordings": None}, "--column recording=NAME"),
        ("recording,start,end\na,20,10\n", {}, "before its start.* swapped"),
        ("recording,event,time\na,x,23:10\n", {}, "got '23:10'; .*--column date=NAME"),
        ("recording,start,duration\na,20,soon:1:2\n", {}, "a duration such as 7:35"),
        ("recording,start,duration\na,20,\n", {}, "no start or no end.*--incomplete drop"),
    ],
)  # fmt: skip
def test_a_bad_table_names_the_row_and_the_option(
    tmp_path: Path, text: str, options: dict[str, Any], message: str
) -> None:
    file = tmp_path / "events.csv"
    file.write_text(text)
    with pytest.raises(InputError, match=message):
        read_events(file, **{"recordings": BERLIN, **options})


def test_an_unknown_role_lists_those_there_are() -> None:
    with pytest.raises(ConfigError, match=r"recording, event, date, time, .*got 'onset'"):
        read_events(pl.DataFrame({"time": [1.0]}), columns={"onset": "time"})


def test_a_fixed_offset_serves_too(tmp_path: Path) -> None:
    start = datetime(2024, 10, 26, 12, tzinfo=timezone(timedelta(hours=2)))
    recordings = Recordings.of([Recording.of(np.zeros(60), id="a", period=60.0, start=start)])
    file = tmp_path / "events.csv"
    file.write_text("recording,event,time\na,x,2024-10-26 12:30\n")
    assert read_events(file, recordings=recordings).time.tolist() == [1800.0]


def test_sample_numbers_take_the_periods_of_their_recordings(tmp_path: Path) -> None:
    recordings = Recordings.of(
        [
            Recording.of(np.zeros(1000), id="a", period=0.004),
            Recording.of(np.zeros(1000), id="b", period=0.01),
        ]
    )
    file = tmp_path / "beats.csv"
    file.write_text("recording,sample\na,250\nb,250\n")
    events = read_events(file, recordings=recordings)
    assert events == Events.of(["a", "b"], "event", [1.0, 2.5])
    assert any("sample numbers, counted from 0" in note for note in events.notes)
    with pytest.raises(InputError, match=r"bdl convert .* --recordings"):
        read_events(file)
    file.write_text("recording,R peak,kind\na,250,N\nb,250,N\n")
    named = read_events(file, recordings=recordings, columns={"sample": "R peak"})
    assert named == Events.of(["a", "b"], "N", [1.0, 2.5])
    file.write_text("recording,sample\na,250\nc,250\n")
    with pytest.raises(InputError, match="1 of its recordings are not among the 2 given"):
        read_events(file, recordings=recordings)


@pytest.mark.parametrize("ends", [False, True])
def test_spaces_and_case_of_names(tmp_path: Path, ends: bool) -> None:
    walks = Recordings.of([Recording.of(np.zeros(100), id="Subject 1", period=1.0)])
    file = tmp_path / "labels.csv"
    head = "subject,label,start,end" if ends else "subject,label,time"
    rows = ["Subject 1, WALK", " subject 1,walk ", "SUBJECT 1 ,Walk"]
    times = [(10, 20), (30, 40), (50, 60)]
    lines = [
        f"{row},{','.join(map(str, time[: 1 + ends]))}"
        for row, time in zip(rows, times, strict=True)
    ]
    file.write_text("\n".join([head, *lines]))
    events = read_events(file, recordings=walks)
    assert events.recordings == ("Subject 1",)
    assert {name.split(":")[0] for name in events.types} == {"WALK", "Walk", "walk"}
    assert any("--code WALK=walk --code Walk=walk" in note for note in events.notes)
    merged = read_events(file, recordings=walks, codes={"WALK": "walk", "Walk": "walk"})
    assert merged.types == (("walk:offset", "walk:onset") if ends else ("walk",))
    assert not any("--code" in note for note in merged.notes)
    assert {*read_events(file).recordings} == {"Subject 1", "subject 1", "SUBJECT 1"}


def test_recordings_that_differ_in_case_are_not_confused(tmp_path: Path) -> None:
    both = Recordings.of([Recording.of(np.zeros(9), id=id, period=1.0) for id in ("a", "A")])
    file = tmp_path / "events.csv"
    file.write_text("recording,event,time\nA,beep,1\na,beep,2\n")
    assert read_events(file, recordings=both).recording.tolist() == ["A", "a"]
