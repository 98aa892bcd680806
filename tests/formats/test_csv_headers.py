"""CSV files of any logger: lines before the table, units below the names, no names, texts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bdl.errors import InputError
from bdl.formats import read_events, read_recordings

LOGGER = "# logger v3\n# hall 4, row 2\n\n"


@pytest.mark.parametrize(
    "text",
    [
        "time,x,y\n{rows}",
        "# time,x,y\n{rows}",
        LOGGER + "Time;x;y\n{semicolons}",
        "MotionWatch 8\nSerial,123\nMode,1,2\n\nTIME,x,y\n{rows}",
        "\n\nTime,x,y\n{rows}",
        "time,x,y\ns,mg,-\n{rows}",
        "time [s],x [mg],y\n{rows}",
        "time,state,x,y,\n{texts}",
    ],
)
def test_the_table_is_found(tmp_path: Path, text: str) -> None:
    rows = [(i * 0.5, i + 0.25, -i) for i in range(30)]
    filled = text.format(
        rows="".join(f"{t},{x},{y}\n" for t, x, y in rows),
        semicolons="".join(f"{t};{x};{y}\n".replace(".", ",") for t, x, y in rows),
        texts="".join(f"{t},{'asleep' if x > 9 else 'awake'},{x},{y},\n" for t, x, y in rows),
    )
    (tmp_path / "a.csv").write_text(filled)
    recordings = read_recordings(tmp_path)
    assert (recordings.infos[0].channels, recordings.infos[0].period) == (("x", "y"), 0.5)
    np.testing.assert_array_equal(recordings["a"].values, np.array(rows, np.float32)[:, 1:])
    if "mg" in text:
        assert recordings.infos[0].units == ("mg", "")
    notes = "\n".join(recordings.notes)
    assert ("lines skipped before the rows" in notes) == (
        text[:4] not in ("time", "# ti") or "\ns," in text
    )
    assert ("state left out, which holds text" in notes) == ("state" in text)


def test_a_table_without_names(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("0.5,1\n1.5,2\n2.5,3\n")
    recordings = read_recordings(file, period=1.0)
    assert recordings["a"].values.tolist() == [[0.5, 1.0], [1.5, 2.0], [2.5, 3.0]]
    assert recordings.notes == (f"{file}: no line of names; columns are column_1, column_2",)
    file.write_text("2024-05-06 00:00:00,7\n2024-05-06 00:00:05,8\n")
    dated = read_recordings(file, zone="UTC")
    assert (dated.infos[0].period, dated.infos[0].channels) == (5.0, ("column_2",))
    file.write_text("0,1\n0.5,7\n1.5,8\n")  # as a data frame numbers its columns
    assert read_recordings(file, period=1.0).infos[0].channels == ("0", "1")
    file.write_text("0.5,1\n1.5,2\n")
    with pytest.raises(InputError, match=r"no time column.*--period.*--time"):
        read_recordings(file)


def test_the_times_of_a_table_may_have_any_unit(tmp_path: Path) -> None:
    for head, step in (("Time (ms)", 500), ("time_us", 500_000), ("t [min]", 0.5 / 60), ("T", 0.5)):
        rows = "".join(f"{i * step!r},{i}\n" for i in range(9))
        (tmp_path / "a.csv").write_text(f"{head},x\n{rows}")
        assert read_recordings(tmp_path).infos[0].period == pytest.approx(0.5)
    (tmp_path / "a.csv").write_text("Time (ms),x\n0,1\n5,2\n10,3\n")
    assert read_recordings(tmp_path, unit="s").infos[0].period == 5.0


def test_a_diary_below_a_title(tmp_path: Path) -> None:
    file = tmp_path / "diary.csv"
    file.write_text("Diary of the study\nexported 2024\n\nrecording;event;time\na;beep;1,5\n")
    assert read_events(file).time.tolist() == [1.5]


def test_raw_values_of_an_actigraph(tmp_path: Path) -> None:
    """Raw exports have an epoch of zero seconds, and tell their rate elsewhere."""
    head = (
        "------------ Data File Created By ActiGraph GT3X+ ActiLife v6.13.4 Firmware v3.2.1 date "
        "format dd.MM.yyyy at 30 Hz  Filter Normal -----------\nSerial Number: CLE2A21130055\n"
        "Start Time 12:00:00\nStart Date 30.03.2024\nEpoch Period (hh:mm:ss) 00:00:00\n"
        "--------------------------------------------------\n"
        "Accelerometer X;Accelerometer Y;Accelerometer Z\n"
    )
    (tmp_path / "a.csv").write_text(head + "0,012;-0,5;1\n" * 60)
    info = read_recordings(tmp_path, zone="Europe/Berlin").infos[0]
    assert (info.period, info.samples) == (1 / 30, 60)
    assert info.start is not None
    assert info.start.isoformat() == "2024-03-30T12:00:00+01:00"


@pytest.mark.parametrize(("unit", "scale"), [("s", 1), ("ms", 1000), ("us", 10**6)])
def test_numbers_since_1970_are_recognised(tmp_path: Path, unit: str, scale: int) -> None:
    begin = 1_700_000_000
    rows = "".join(f"{(begin + 5 * i) * scale},{i}\n" for i in range(9))
    (tmp_path / "a.csv").write_text(f"timestamp,x\n{rows}")
    recordings = read_recordings(tmp_path, zone="Asia/Kolkata")
    info = recordings.infos[0]
    assert info.start is not None
    assert (info.period, info.start.timestamp()) == (5.0, begin)
    assert info.start.isoformat() == "2023-11-15T03:43:20+05:30"
    assert any(
        f"taken as {unit} since 1970 (otherwise --clock" in note for note in recordings.notes
    )
    events = tmp_path / "faults.csv"
    events.write_text(f"recording,event,time\na,leak,{(begin + 12) * scale}\n")
    placed = read_events(events, recordings=recordings)
    assert placed.time.tolist() == [12.0]
    assert placed.notes == (f"{events}: times are taken as {unit} since 1970",)
    assert read_events(events).time.tolist() == [(begin + 12) * scale]  # nothing to place it on


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "utf-16"])
def test_names_and_texts_are_read_in_the_encoding_of_the_file(tmp_path: Path, encoding: str):
    rows = "".join(f"{i};{i},5\n" for i in range(9))
    (tmp_path / "a.csv").write_text("Time;Aktivität (°C)\n" + rows, encoding=encoding)
    recordings = read_recordings(tmp_path / "a.csv")
    assert recordings.infos[0].channels == ("Aktivität",)
    assert recordings["a"].values[:3, 0].tolist() == [0.5, 1.5, 2.5]
    assert any("Latin-1" in note for note in recordings.notes) == (encoding == "latin-1")
    (tmp_path / "events.csv").write_text("recording;event;time\na;Anfälle;1,5\n", encoding)
    assert read_events(tmp_path / "events.csv").types == ("Anfälle",)


def test_text_that_stops_being_utf_8_names_the_line(tmp_path: Path):
    rows = b"a,ok,1\n" * 200_000
    (tmp_path / "events.csv").write_bytes(b"recording,event,time\n" + rows + b"a,\xe4,1\n")
    with pytest.raises(InputError, match=r"events\.csv: line 200002: UTF-8.* save the table as"):
        read_events(tmp_path / "events.csv")
