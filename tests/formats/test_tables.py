"""Tables of recordings: layouts, clocks, and what is wrong with them."""

from __future__ import annotations

import pickle
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from zoneinfo import ZoneInfo

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv as pacsv
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import BdlError, ConfigError, InputError
from bdl.formats import read_recordings
from bdl.formats.recordings.parquet import ParquetFile
from naive import tables as naive

HAPT = Path(__file__).parents[2] / "../shared/data/hapt"
SLEEP = {"recording": "series_id", "sample": "step", "time": "timestamp", "period": 5.0}


def save(table: pa.Table, file: Path) -> Path:
    if file.suffix == ".parquet":
        pq.write_table(table, file, row_group_size=7)
    elif file.suffix == ".npz":
        np.savez(file, **{n: np.array(table[n].to_pylist()) for n in table.column_names})
    elif file.suffix == ".feather":
        feather.write_feather(table, str(file), chunksize=5)
    else:
        tab = pacsv.WriteOptions(delimiter="\t" if file.suffix == ".tsv" else ",")
        pacsv.write_csv(table, file, tab)
    return file


def sleep_table(ids: list[str], rows: int, change: int | None = None) -> pa.Table:
    start = datetime(2018, 11, 3, 23, 0, tzinfo=UTC)
    zones = (timezone(timedelta(hours=-4)), timezone(timedelta(hours=-5)))
    stamps = [
        (start + timedelta(seconds=5 * i))
        .astimezone(zones[change is not None and i >= change])
        .strftime("%Y-%m-%dT%H:%M:%S%z")
        for i in range(rows)
    ]
    count = len(ids)
    return pa.table(
        {
            "series_id": [id for id in ids for _ in range(rows)],
            "step": pa.array(list(range(rows)) * count, pa.uint32()),
            "timestamp": stamps * count,
            "anglez": pa.array(np.arange(rows * count) / 8, pa.float32()),
            "enmo": pa.array(np.arange(rows * count) % 7, pa.float32()),
        }
    )


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".parquet", ".feather", ".npz"])
def test_the_sleep_layout_in_every_format(tmp_path: Path, suffix: str) -> None:
    file = save(sleep_table(["x", "y"], 20, change=9), tmp_path / f"long{suffix}")
    recordings = read_recordings(file, **SLEEP)
    assert recordings.ids == ("x", "y")
    info = recordings.info("y")
    assert (info.samples, info.period, info.channels) == (20, 5.0, ("anglez", "enmo"))
    assert info.start == datetime(2018, 11, 3, 19, 0, tzinfo=timezone(timedelta(hours=-4)))
    assert info.offset_changes == ((9, -5 * 3600),)
    np.testing.assert_array_equal(recordings["y"].values[:, 0], np.arange(20, 40) / 8)
    np.testing.assert_array_equal(recordings["x"].values[:, 1], np.arange(20) % 7)
    assert not recordings.notes


@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_scattered_rows_and_offset_changes_agree_with_a_row_by_row_reader(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """Any interleaving of recordings, any change of offset, any batch size."""
    folder = tmp_path_factory.mktemp("scattered")
    lengths = data.draw(st.lists(st.integers(2, 12), min_size=1, max_size=4))
    period = data.draw(st.sampled_from([5, 1, 0.25]))
    turns = data.draw(st.permutations([i for i, n in enumerate(lengths) for _ in range(n)]))
    if data.draw(st.booleans()):
        turns = sorted(turns)
    seen = [0] * len(lengths)
    rows = ["id,t,x,y"]
    for turn in turns:
        hours = data.draw(st.sampled_from([-5, -4, 0]))
        at = datetime(2020, 1, 1, turn, tzinfo=UTC) + timedelta(seconds=period * seen[turn])
        seen[turn] += 1
        stamp = at.astimezone(timezone(timedelta(hours=hours))).isoformat()
        missing = data.draw(st.booleans())
        rows.append(f"r{turn},{stamp},{seen[turn] + turn / 4},{'' if missing else turn}")
    csv = folder / "long.csv"
    csv.write_text("\n".join(rows) + "\n")
    parquet = folder / "long.parquet"
    stored = pacsv.read_csv(
        csv, convert_options=pacsv.ConvertOptions(column_types={"t": pa.string()})
    )
    pq.write_table(stored, parquet, row_group_size=data.draw(st.integers(1, 9)))
    expected = naive.read_long(csv, "id", "t", ["x", "y"])
    for file in (csv, parquet):
        recordings = read_recordings(file, recording="id", time="t")
        assert set(recordings.ids) == set(expected)
        for id, plain in expected.items():
            info = recordings.info(id)
            assert info.start == plain.start
            assert info.start.utcoffset() == plain.start.utcoffset()  # type: ignore[union-attr]
            assert [*info.offset_changes] == plain.offset_changes
            assert info.period == period
            np.testing.assert_array_equal(
                recordings[id].values, np.array(plain.values, dtype=np.float32)
            )


@pytest.mark.skipif(not HAPT.exists(), reason="the HAPT recordings are not here")
def test_hapt_recordings_and_segments() -> None:
    recordings = read_recordings(HAPT / "recordings", period=0.02, group_pattern="_(user[0-9]+)")
    assert len(recordings) == 45
    assert len(set(recordings.groups.values())) == 22
    recording = recordings["exp01_user01"]
    stored = pq.read_table(HAPT / "recordings/exp01_user01.parquet").to_pandas()
    np.testing.assert_array_equal(recording.values, stored.to_numpy(np.float32))
    assert recording.info.channels == tuple(stored.columns)
    segments = pacsv.read_csv(HAPT / "segments.csv")
    assert len(segments) == 894
    for row in segments.to_pylist():
        assert 1 <= row["start_sample"] < row["end_sample"]
        assert row["end_sample"] <= recordings.info(row["recording"]).samples


def test_values_stream_once_when_asked_for_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = save(sleep_table(["a", "b", "c"], 50), tmp_path / "long.parquet")
    recordings = read_recordings(file, **SLEEP)
    opened = []
    plain = ParquetFile.batches

    def counted(self, columns, first=0):  # type: ignore[no-untyped-def]
        opened.append(first)
        return plain(self, columns, first)

    monkeypatch.setattr(ParquetFile, "batches", counted)
    in_order = [recording.values.copy() for recording in recordings]
    assert opened == [0]
    for id, values in zip("cab", [in_order[2], in_order[0], in_order[1]], strict=True):
        np.testing.assert_array_equal(recordings[id].values, values)


def test_a_collection_can_be_sent_to_another_process(tmp_path: Path) -> None:
    file = save(sleep_table(["a", "b"], 20), tmp_path / "long.parquet")
    recordings = read_recordings(file, **SLEEP)
    again = pickle.loads(pickle.dumps(recordings))
    np.testing.assert_array_equal(again["b"].values, recordings["b"].values)


def test_two_readers_of_one_file_do_not_disturb_each_other(tmp_path: Path) -> None:
    file = save(sleep_table(["a", "b"], 40), tmp_path / "long.parquet")
    recordings = read_recordings(file, **SLEEP)
    chunks = [recordings.chunks(id) for id in "ab"]
    mixed: list[list[np.ndarray]] = [[], []]  # type: ignore[type-arg]
    alive = [True, True]
    while any(alive):
        for i in (1, 0):
            part = next(chunks[i], None)
            alive[i] = part is not None
            if part is not None:
                mixed[i].append(part)
    for i, id in enumerate("ab"):
        np.testing.assert_array_equal(np.concatenate(mixed[i]), recordings[id].values)


# --- clocks ---------------------------------------------------------------------------------


def csv(tmp_path: Path, text: str, name: str = "walk.csv") -> Path:
    file = tmp_path / name
    file.write_text(text)
    return file


def test_a_gap_is_an_error_and_filled_only_when_asked(tmp_path: Path) -> None:
    file = csv(tmp_path, "time,x\n0,1\n0.5,2\n2.0,5\n2.5,6\n")
    with pytest.raises(InputError, match=r"2 missing samples in 1 gaps, first 2 missing before"):
        read_recordings(file)
    recordings = read_recordings(file, regular=True)
    expected = [1, 2, np.nan, np.nan, 5, 6]
    np.testing.assert_array_equal(recordings["walk"].values[:, 0], expected)
    assert "2 missing samples" in recordings.notes[0]


def test_missing_steps_are_an_error_and_filled_only_when_asked(tmp_path: Path) -> None:
    table = sleep_table(["a", "b"], 20).filter(pa.array([i not in (3, 4, 30) for i in range(40)]))
    file = save(table, tmp_path / "long.parquet")
    with pytest.raises(InputError, match=r"recording 'a'.*2 missing samples in 1 gaps.*row 3"):
        read_recordings(file, **SLEEP)
    recordings = read_recordings(file, **SLEEP, regular=True)
    lost = np.flatnonzero(np.isnan(recordings["a"].values[:, 0])).tolist()
    assert lost == [3, 4]
    assert np.flatnonzero(np.isnan(recordings["b"].values[:, 1])).tolist() == [10]
    assert recordings["b"].values[11, 0] == 31 / 8
    assert len(recordings.notes) == 2


def test_a_time_that_disagrees_with_its_step_is_found(tmp_path: Path) -> None:
    table = sleep_table(["a"], 20)
    stamps = table["timestamp"].to_pylist()
    stamps[7] = stamps[8]
    file = save(table.set_column(2, "timestamp", pa.array(stamps)), tmp_path / "long.parquet")
    with pytest.raises(InputError, match="1 times off the regular clock, first row 7 is 5 s off"):
        read_recordings(file, **SLEEP)


@pytest.mark.parametrize(
    ("times", "message"),
    [
        ("0 0.5 0.5 1", r"row 2: duplicated time: 0\.5 s after 0\.5 s"),
        ("0 1 0.5 1.5", r"row 2: unsorted time: 0\.5 s after 1 s"),
        ("0 1 2.4 3", r"1 times off the regular clock, first row 2 is 0\.4 s off sample 2"),
        ("0 1 inf 3", r"column 'time', row 2: a finite time expected, got inf"),
        ("0 1 x 3", r"column 'time', row 2: a number expected, got 'x'"),
        ("-4 -3 -2 -1", r"row 0: -4 s is before the start"),
        ("0 1 NaN 3", r"column 'time', row 2: a finite time expected"),
        ("7 8 9 10", r"7 missing samples in 1 gaps"),
        ("0 0 0 0", r"the period cannot be inferred"),
    ],
)
def test_bad_times_name_row_and_cause(tmp_path: Path, times: str, message: str) -> None:
    rows = "".join(f"{time},1\n" for time in times.split())
    with pytest.raises(InputError, match=message):
        read_recordings(csv(tmp_path, "time,x\n" + rows))


def test_steps_that_repeat_or_run_backwards(tmp_path: Path) -> None:
    for steps, message in (
        ("0 1 1 2", "row 2: duplicated time: 1 s after 1 s"),
        ("0 2 1 3", "row 2: unsorted time: 1 s after 2 s"),
        ("-1 0 1 2", "row 0: -1 s is before the start"),
        ("0 1 2.5 3", "column 'sample', row 2: a whole number below 2.53 expected, got 2.5"),
    ):
        rows = "".join(f"{step},1\n" for step in steps.split())
        with pytest.raises(InputError, match=message):
            read_recordings(csv(tmp_path, "sample,x\n" + rows), period=1.0)
    one_based = csv(tmp_path, "sample,x\n1,5\n2,6\n")
    assert read_recordings(one_based, period=1.0, first_sample=1)["walk"].values[0, 0] == 5


def test_a_regular_clock_does_not_explode(tmp_path: Path) -> None:
    file = csv(tmp_path, "time,x\n0,1\n1,2\n2,2\n1000000000,3\n")
    with pytest.raises(InputError, match="is the period or the time's unit right"):
        read_recordings(file, regular=True)


def test_epochs_in_every_unit_and_arrow_timestamps(tmp_path: Path) -> None:
    begin = 1_541_307_600  # 2018-11-04T05:00:00Z, an hour before New York leaves summer time
    seconds = begin + np.arange(5) * 1800
    for unit, scale in (("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9)):
        table = pa.table({"t": pa.array(seconds * scale), "x": np.zeros(5)})
        file = save(table, tmp_path / f"{unit}.parquet")
        info = read_recordings(file, time="t", clock="epoch", unit=unit).infos[0]
        assert info.start == datetime.fromtimestamp(begin, UTC)
        assert info.period == 1800
    stamps = pa.array(seconds, pa.timestamp("s", "America/New_York"))
    file = save(pa.table({"t": stamps, "x": np.zeros(5)}), tmp_path / "zone.parquet")
    info = read_recordings(file, time="t").infos[0]
    assert info.start is not None
    assert info.start.astimezone(ZoneInfo("America/New_York")).hour == 1
    assert info.offset_changes == ((2, -5 * 3600),)
    assert info.local_time(np.arange(5))[0].tolist() == [1, 1, 1, 1, 2]
    naive_stamps = pa.array(seconds, pa.timestamp("s"))
    file = save(pa.table({"t": naive_stamps, "x": np.zeros(5)}), tmp_path / "naive.parquet")
    with pytest.raises(InputError, match="the time has no UTC offset; give the zone"):
        read_recordings(file, time="t")
    info = read_recordings(file, time="t", zone="+01:00").infos[0]
    assert info.start == datetime.fromtimestamp(begin - 3600, UTC)


@pytest.mark.parametrize("date", ["15.01.2024", "1/15/2024", "15-Jan-2024", "2024-01-15"])
@pytest.mark.parametrize("offset", ["-04:00", "-0400", "-04"])
def test_one_decimal_before_a_utc_offset(tmp_path: Path, date: str, offset: str) -> None:
    texts = [f"{date} 12:00:0{i // 2}.{i % 2 * 5}{offset}" for i in range(1, 6)]
    file = csv(tmp_path, "time;x\n" + "".join(f"{text};1\n" for text in texts))
    info = read_recordings(file).infos[0]
    assert info.start == datetime(2024, 1, 15, 16, 0, 0, 500_000, UTC)
    assert (info.period, info.samples) == (0.5, 5)


def test_text_without_offset_needs_a_zone(tmp_path: Path) -> None:
    file = csv(tmp_path, "time,x\n2020-01-01 00:00:00,1\n2020-01-01 00:00:04,2\n")
    with pytest.raises(InputError, match=r"row 0: the time has no UTC offset; give the zone"):
        read_recordings(file)
    with pytest.raises(InputError, match="zone 'Mars/Base'"):
        read_recordings(file, zone="Mars/Base")
    for zone in ("+01:00", "Europe/Zurich"):
        info = read_recordings(file, zone=zone).infos[0]
        assert info.start == datetime(2019, 12, 31, 23, tzinfo=UTC)
        assert info.period == 4


def test_times_of_two_kinds_in_scattered_rows(tmp_path: Path) -> None:
    """Rows of a recording that are read apart, one with a UTC offset and one without."""
    stamps = ("a,2020-01-01T00:00:00Z", "b,2020-01-01T00:00:00Z", "a,2020-01-01T00:00:01")
    file = csv(tmp_path, "recording,time,x\n" + "".join(f"{stamp},1\n" for stamp in stamps))
    for options in ({}, {"period": 1.0, "zone": "UTC"}):
        with pytest.raises(InputError, match=r"'a': row 2: .*a UTC offset and others none"):
            read_recordings(file, **options)


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("after", [0, 1, 3])
def test_an_empty_line_of_one_column_is_a_missing_sample(tmp_path: Path, end: str, after: int):
    """Otherwise all later samples would move; empty lines after the table belong to no sample."""
    lines = ["x", "0", "", "2", *map(str, range(3, 700_000)), *[""] * after]
    (tmp_path / "a.csv").write_bytes("".join(line + end for line in lines).encode())
    values = read_recordings(tmp_path / "a.csv", period=1.0)["a"].values[:, 0]
    np.testing.assert_array_equal(values, [0, np.nan, *range(2, 700_000)])
    pl.DataFrame({"x": [0.0, None, 2.0]}).write_csv(tmp_path / "b.csv")
    values = read_recordings(tmp_path / "b.csv", period=1.0)["b"].values[:, 0]
    np.testing.assert_array_equal(values, [0, np.nan, 2])


def test_a_missing_timestamp_is_named(tmp_path: Path) -> None:
    stamps = pa.array([0, 10**9, None], pa.timestamp("ns", "UTC"))
    file = save(pa.table({"time": stamps, "x": np.zeros(3)}), tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"column 'time', row 2: a finite time expected"):
        read_recordings(file)


@pytest.mark.parametrize(
    ("rule", "expected"), [("first", [1, 2, 5]), ("last", [1, 4, 5]), ("mean", [1, 3, 5])]
)
def test_rows_of_one_time_follow_the_stated_rule(
    tmp_path: Path, rule: str, expected: list[float]
) -> None:
    file = csv(tmp_path, "time,x,y\n0,1,1\n1,2,\n1,3,6\n1,4,8\n2,5,1\n")
    with pytest.raises(InputError, match=r"row 2: duplicated time.*--duplicates first"):
        read_recordings(file)
    recordings = read_recordings(file, duplicates=rule)
    np.testing.assert_array_equal(recordings["walk"].values[:, 0], expected)
    assert recordings["walk"].values[1, 1] == {"last": 8, "mean": 7}.get(
        rule, pytest.approx(np.nan, nan_ok=True)
    )
    assert "2 rows share a sample with the row before, first row 2" in recordings.notes[0]
    unsorted = csv(tmp_path, "time,x\n0,1\n2,2\n1,3\n", "unsorted.csv")
    # Sorting a table of several recordings would mix them: the message asks first.
    with pytest.raises(InputError, match=r"unsorted time.*several.*--recording NAME; it has time"):
        read_recordings(unsorted, duplicates=rule, period=1.0)


def test_a_rate_is_inferred_exactly(tmp_path: Path) -> None:
    for rate in (360, 256, 44100, 0.2, 50):
        times = np.round(np.arange(400) / rate, 9)
        file = csv(tmp_path, "time,x\n" + "".join(f"{t!r},0\n" for t in times.tolist()))
        assert read_recordings(file).infos[0].period == pytest.approx(1 / rate, rel=1e-12)


# --- what is wrong with a table -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("a,b\n1,2\n", {"channels": ("c",)}, r"walk\.csv: column 'c' is missing; it has a, b"),
        ("a,b\n1,2\n", {"recording": "id"}, r"column 'id' is missing"),
        ("a,b\n1,2\n3,four\n", {"period": 1.0}, r"column 'b', row 1: a number exp.*got 'four'"),
        ("a\n1\ninf\n", {"period": 1.0}, r"column 'a', row 1: a finite number expected, got inf"),
        ("a\n1\n1e300\n", {"period": 1.0}, r"column 'a', row 1: a finite number expected"),
        ("a,b\n1,2\n", {}, r"no period and no time column"),
        ("a,b\n", {"period": 1.0}, r"columns but no rows"),
        ("a,a\n1,2\n", {"period": 1.0}, r"two columns are called 'a'"),
        ("recording\nx\n", {"period": 1.0}, r"no column is left for the values"),
        ("recording,x\nr,1\n,2\n", {"period": 1.0}, r"column 'recording', row 1: a name expected"),
        ("group,x\na,1\nb,2\n", {"period": 1.0}, r"has two groups, a and b"),
        ("x\n1\n1,2\n", {"period": 1.0}, r"line 3: 1 fields expected, as in its header, got 2"),
    ],
)
def test_bad_tables_name_file_column_and_row(
    tmp_path: Path, text: str, options: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        [*read_recordings(csv(tmp_path, text), **options)]


def test_a_text_deep_in_a_column_is_named_by_its_row(tmp_path: Path) -> None:
    rows = ["1.5"] * 300_000
    rows[290_001] = "oops"
    file = csv(tmp_path, "x\n" + "\n".join(rows) + "\n")
    recordings = read_recordings(file, period=1.0)
    with pytest.raises(InputError, match="column 'x', row 290001: a number expected, got 'oops'"):
        recordings["walk"]


def test_two_recordings_with_one_id(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        csv(tmp_path / folder, "x\n1\n")
    with pytest.raises(InputError, match=r"two recordings have the id 'walk': one in .*one/walk"):
        read_recordings(tmp_path, pattern="*/walk.csv", period=1.0)


def test_mixed_and_unknown_kinds_ask_for_a_pattern(tmp_path: Path) -> None:
    csv(tmp_path, "x\n1\n")
    (tmp_path / "b.edf").write_bytes(b"x")
    with pytest.raises(InputError, match="files of one format expected"):
        read_recordings(tmp_path, period=1.0)
    (tmp_path / "c.docx").write_bytes(b"x")
    with pytest.raises(InputError, match="files of one format expected"):
        read_recordings(tmp_path / "c.docx")


@pytest.mark.parametrize("suffix", [".parquet", ".feather", ".npz"])
def test_a_truncated_file_is_our_error_at_every_length(tmp_path: Path, suffix: str) -> None:
    whole = save(sleep_table(["a"], 30), tmp_path / f"whole{suffix}").read_bytes()
    for length in range(1, len(whole), max(1, len(whole) // 40)):
        file = tmp_path / f"cut{suffix}"
        file.write_bytes(whole[:length])
        with pytest.raises(BdlError):
            [*read_recordings(file, **SLEEP)]


def test_options_that_contradict_are_refused(tmp_path: Path) -> None:
    file = csv(tmp_path, "x\n1\n")
    with pytest.raises(ConfigError, match="perod"):
        read_recordings(file, perod=1.0)
    with pytest.raises(ConfigError, match="one column has two parts"):
        read_recordings(file, time="x", sample="x")
    with pytest.raises(ConfigError, match="channels repeat"):
        read_recordings(file, channels=("x", "x"))
    with pytest.raises(ConfigError, match="regular expression"):
        read_recordings(file, group_pattern="(")
    with pytest.raises(ConfigError, match="period"):
        read_recordings(file, period=-1.0)


def test_a_pickle_inside_an_npz_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "a.npz"
    np.savez(file, x=np.array([{"a": 1}], dtype=object), allow_pickle=True)
    with pytest.raises(InputError, match="could run code"):
        read_recordings(file, period=1.0)


@settings(max_examples=100, deadline=None)
@given(
    steps=st.lists(st.integers(1, 5), min_size=1, max_size=12),
    period=st.sampled_from([0.02, 1.0, 60.0]),
)
def test_any_gaps_give_a_regular_clock_or_our_error(
    steps: list[int], period: float, tmp_path_factory: pytest.TempPathFactory
) -> None:
    """With the period given every row lands on its sample; without it, on some regular clock."""
    places = np.cumsum([0, *steps])
    rows = "".join(f"{place * period!r},{i}\n" for i, place in enumerate(places.tolist()))
    file = csv(tmp_path_factory.mktemp("gaps"), "time,x\n" + rows)
    values = read_recordings(file, period=period, regular=True)["walk"].values[:, 0]
    np.testing.assert_array_equal(np.flatnonzero(~np.isnan(values)), places)
    np.testing.assert_array_equal(values[places], np.arange(len(places)))
    recordings = read_recordings(file, regular=True)
    assert len(recordings["walk"].values) == recordings.infos[0].samples


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_columns_of_text_are_left_out_of_every_table(tmp_path: Path, suffix: str) -> None:
    file = tmp_path / f"a.{suffix}"
    columns = {"x": [1.5, 2.0, 2.5], "status": ["ok", None, "ok"], "y": ["1", "2", "3"]}
    frame = pl.DataFrame(columns)
    {"csv": frame.write_csv, "parquet": frame.write_parquet, "arrow": frame.write_ipc}[suffix](file)
    recordings = read_recordings(file, period=1.0)
    assert recordings.info("a").channels == ("x", "y")
    assert recordings["a"].values.tolist() == [[1.5, 1.0], [2.0, 2.0], [2.5, 3.0]]
    assert any("status left out, which holds text" in note for note in recordings.notes)
