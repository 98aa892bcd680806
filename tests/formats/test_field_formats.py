"""Formats of other fields: WFDB, EDF+, Label Studio and Audacity, there and back."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.formats import read_events, write_events
from bdl.recording import Recording, Recordings
from calling import call
from event_tables import ids, interval_events
from naive.ordering import in_order

RATE = 360
plain_labels = st.sampled_from(["sleep", "a,b", 'quo"te', "ütf", "wake up", "n/a", "0", "50 %"])
micros = st.integers(0, 10**12).map(lambda n: n / 1e6)  # what a time of EDF+ or Audacity is
wfdb_names = st.sampled_from(
    ["N", "V", "[", '"', "~", "beat", "wake up", "ü", "a%20b", "%", "#42", "%41"]
)
mitdb = Path(__file__).parents[2] / "../shared/data/mitdb"


def same(events: Events, expected: Events) -> None:
    if not len(expected):
        assert not len(events)
        return
    assert in_order(events) == in_order(expected)


@settings(max_examples=60, deadline=None)
@given(events=interval_events(scored=False))
def test_audacity_there_and_back(events: Events, tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("audacity")
    write_events(events, folder, format="audacity")
    same(read_events(folder), events)


@settings(max_examples=60, deadline=None)
@given(events=interval_events())
def test_label_studio_there_and_back(
    events: Events, tmp_path_factory: pytest.TempPathFactory
) -> None:
    file = tmp_path_factory.mktemp("tasks") / "tasks.json"
    write_events(events, file, format="label-studio")
    same(read_events(file), events)


@settings(max_examples=60, deadline=None)
@given(events=interval_events(labels=plain_labels, times=micros, digits=6, scored=False))
def test_edf_there_and_back(events: Events, tmp_path_factory: pytest.TempPathFactory) -> None:
    pytest.importorskip("edfio")
    folder = tmp_path_factory.mktemp("edf")
    write_events(events, folder, format="edf")
    same(read_events(folder), events)


@settings(max_examples=60, deadline=None)
@given(
    rows=st.lists(
        st.tuples(
            ids,
            wfdb_names,
            st.integers(0, 2000) | st.integers(0, 10**10),
        ),
        max_size=12,
    )
)
def test_wfdb_there_and_back(
    rows: list[tuple[str, str, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("wfdb")
    events = Events.empty()
    if rows:
        names, types, samples = zip(*rows, strict=True)
        events = Events.of(names, types, np.array(samples) / RATE)
    write_events(events, folder, format="wfdb", period=1 / RATE)
    same(read_events(folder, format="wfdb") if rows else Events.empty(), events)


def test_wfdb_reads_our_annotations(tmp_path: Path) -> None:
    wfdb = pytest.importorskip("wfdb")
    types = ["N", "V", "wake up", "+", "ü", "on", "[", "]"]
    samples = [0, 10, 1033, 1034, 3000, 90_000, 10**8, 3 * 10**9]
    events = Events.of("100", types, np.array(samples) / RATE)
    write_events(events, tmp_path, format="wfdb", period=1 / RATE)
    annotations = wfdb.rdann(str(tmp_path / "100"), "bdl")
    assert annotations.sample.tolist() == samples
    names = dict(
        zip(
            annotations.custom_labels["symbol"],
            annotations.custom_labels["description"],
            strict=True,
        )
    )
    assert [unquote(names.get(symbol, symbol)) for symbol in annotations.symbol] == types
    assert annotations.fs == RATE
    plain = Events.of("101", ["N", "/"], [1.0, 2.0])
    write_events(plain, tmp_path / "101.qrs", format="wfdb", period=1 / RATE, extension="qrs")
    assert wfdb.rdann(str(tmp_path / "101"), "qrs").symbol == ["N", "/"]


@pytest.mark.skipif(not mitdb.exists(), reason="the MIT-BIH records are not here")
def test_annotations_go_beside_records_and_keep_theirs(tmp_path: Path) -> None:
    wfdb = pytest.importorskip("wfdb")
    for suffix in ("hea", "dat", "atr"):
        shutil.copy(mitdb / f"106.{suffix}", tmp_path)
    read = read_events(tmp_path)
    call("convert", tmp_path, "--events-format", "wfdb", "--to", "wfdb", "--out", tmp_path,
         "--recordings", tmp_path)  # fmt: skip
    assert (tmp_path / "106.atr").read_bytes() == (mitdb / "106.atr").read_bytes()
    same(read_events(tmp_path, extension="bdl"), read)
    theirs = [wfdb.rdann(str(tmp_path / "106"), extension) for extension in ("atr", "bdl")]
    assert theirs[0].sample.tolist() == theirs[1].sample.tolist()
    assert theirs[0].symbol == theirs[1].symbol


def test_edfio_reads_our_annotations(tmp_path: Path) -> None:
    edfio = pytest.importorskip("edfio")
    start = datetime(2020, 5, 6, 22, 30, 15, tzinfo=UTC)
    recording = Recording.of(np.zeros(100), id="night", period=1.0, start=start)
    events = Events.of("night", ["sleep:onset", "sleep:offset", "über"], [10.25, 40.5, 3.0])
    write_events(events, tmp_path, format="edf", recordings=Recordings.of([recording]))
    edf = edfio.read_edf(tmp_path / "night.edf")
    assert [tuple(row) for row in edf.annotations] == [
        (3.0, None, "über"),
        (10.25, 30.25, "sleep"),
    ]
    assert edf.startdatetime == start.replace(tzinfo=None)
    assert edf.num_signals == 0


def test_recordings_without_events_have_files_too(tmp_path: Path) -> None:
    pytest.importorskip("edfio")
    two = Recordings.of([Recording.of(np.zeros(90), id=id, period=0.5) for id in ("a", "b")])
    events = Events.of("a", "N", [1.5])
    for kind, name in (("audacity", "b.txt"), ("edf", "b.edf"), ("wfdb", "b.bdl")):
        folder = tmp_path / kind
        write_events(events, folder, format=kind, recordings=two)
        assert (folder / name).exists()
        same(read_events(folder), events)
        write_events(Events.empty(), folder, format=kind, recordings=two)
        assert len(read_events(folder, format=kind)) == 0
    write_events(events, tmp_path / "t.json", format="label-studio", recordings=two)
    tasks = json.loads((tmp_path / "t.json").read_text())
    assert [len(task["predictions"][0]["result"]) for task in tasks] == [1, 0]
    wfdb = pytest.importorskip("wfdb")
    assert wfdb.rdann(str(tmp_path / "wfdb" / "b"), "bdl").sample.tolist() == []


def test_bids_names_go_without_the_modality(tmp_path: Path) -> None:
    id = "sub-01_task-szMonitoring_run-00_eeg"
    recordings = Recordings.of([Recording.of(np.zeros(90), id=id, period=0.5)])
    events = Events.of(id, ["seizure:onset", "seizure:offset"], [1.0, 4.0])
    write_events(events, tmp_path, format="seizures", recordings=recordings)
    assert [file.name for file in tmp_path.iterdir()] == [f"{id[:-4]}_events.tsv"]
    same(read_events(tmp_path, recordings=recordings), events)
    both = Events.of(["sub-1_eeg", "sub-1_ieeg"], "x", [1.0, 1.0])
    with pytest.raises(InputError, match="would both be written to"):
        write_events(both, tmp_path, format="bids")


def test_an_export_of_label_studio_is_read(tmp_path: Path) -> None:
    """Annotations before predictions, skipped ones never; labels of sound, choices passed over."""

    def region(kind: str, label: str, start: float, end: float) -> dict[str, object]:
        return {"type": kind, "value": {"start": start, "end": end, kind: [label]}}

    choice = {"type": "choices", "value": {"choices": ["bad"]}}
    tasks = [
        {
            "data": {"csv": "/data/upload/3/night1.csv"},
            "annotations": [
                {"was_cancelled": True, "result": [region("timeserieslabels", "no", 0, 1)]},
                {"result": [region("timeserieslabels", "Run", 1.5, 4), choice]},
            ],
            "predictions": [{"result": [region("timeserieslabels", "guess", 7, 8)]}],
        },
        {
            "data": {"audio": "s3://bucket/b.wav"},
            "predictions": [{"result": [region("labels", "cough", 2, 2)]}],
        },
        {"data": {"recording": "quiet"}, "annotations": []},
    ]
    file = tmp_path / "export.json"
    file.write_text(json.dumps(tasks))
    expected = Events.of(
        ["night1", "night1", "b"], ["Run:onset", "Run:offset", "cough"], [1.5, 4.0, 2.0]
    )
    same(read_events(file), expected)


def test_a_label_track_of_audacity_is_read(tmp_path: Path) -> None:
    (tmp_path / "call.txt").write_text(
        "2.150000\t2.150000\tpoint\r\n\\\t6928.4\t6928.4\r\n3.400000\t6.100000\tsong\r\n7.0\t7.0\t\r\n"
    )
    events = read_events(tmp_path / "call.txt")
    types = ["point", "song:onset", "song:offset", "event"]
    same(events, Events.of("call", types, [2.15, 3.4, 6.1, 7.0]))


@pytest.mark.parametrize(
    ("kind", "name", "text", "message"),
    [
        ("audacity", "a.txt", "1.0\n", "line 1: start, end and text"),
        ("audacity", "a.txt", "1.0\t2.0\tx\nsoon\t2\tx\n", "column 'start', row 1"),
        ("audacity", "a.txt", "1.0\t\tx\n", "a start and an end expected"),
        ("audacity", "a.txt", "3.0\t2.0\tx\n", "before its start"),
        ("label-studio", "a.json", "{}", "a list of tasks expected, got dict"),
        ("label-studio", "a.json", "[3]", "task 0: a task with 'data'"),
        ("label-studio", "a.json", '[{"data": {}}]', "'recording' or the name of one file"),
        ("label-studio", "a.json", '[{"data": {"recording": "a"}, "annotations": [4]}]',
         "annotations with a list 'result'"),
        ("label-studio", "a.json", '[{"data": {"recording": "a"}, "annotations": [{"result": '
         '[{"type": "labels", "value": {"labels": ["x"], "start": "1"}}]}]}]',
         "task 0, region 0: 'start'"),
        ("label-studio", "a.json", '[{"data": {"recording": "a"}, "annotations": [{"result": '
         '[{"type": "labels", "value": {"labels": "x"}}]}]}]', "a list 'labels' expected"),
    ],
)  # fmt: skip
def test_bad_files_name_file_and_place(
    tmp_path: Path, kind: str, name: str, text: str, message: str
) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(InputError, match=message):
        read_events(tmp_path / name, format=kind)


def test_what_a_format_cannot_keep_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("edfio")
    scored = Events.of("a", "N", [1.0], [0.5])
    for kind in ("audacity", "edf", "wfdb"):
        with pytest.raises(InputError, match=r"no scores.*--drop-scores"):
            write_events(scored, tmp_path / "out", format=kind)
    points = Events.of("a", "x", [1.0])
    with pytest.raises(ConfigError, match=r"--recordings.*--period"):
        write_events(points, tmp_path / "out", format="wfdb")
    for time in (-1.0, 1e15):
        with pytest.raises(InputError, match="samples 0 to"):
            write_events(Events.of("a", "x", [time]), tmp_path / "o", format="wfdb", period=1e-3)
    many = Events.of("a", [f"type{i}" for i in range(11)], np.arange(11.0))
    with pytest.raises(InputError, match="room for 10 names"):
        write_events(many, tmp_path / "out", format="wfdb", period=1.0)
    with pytest.raises(InputError, match="at most 255 bytes"):
        write_events(Events.of("a", "x" * 300, [1.0]), tmp_path / "o", format="wfdb", period=1.0)
    with pytest.raises(InputError, match="one line of text"):
        write_events(Events.of("a", "x\ny", [1.0]), tmp_path / "out", format="audacity")
    with pytest.raises(InputError, match="no control characters"):
        write_events(Events.of("a", "tab\there", [1.0]), tmp_path / "out", format="edf")
    two = Events.of(["a", "b"], "x", [1.0, 2.0])
    with pytest.raises(InputError, match="holds one recording and there are 2"):
        write_events(two, tmp_path / "both.txt", format="audacity")
    assert not [*tmp_path.rglob("*.*")]


def test_a_recording_is_never_replaced_by_annotations(tmp_path: Path) -> None:
    edfio = pytest.importorskip("edfio")
    edfio.Edf([edfio.EdfSignal(np.arange(64.0), 32, label="x")]).write(tmp_path / "a.edf")
    before = (tmp_path / "a.edf").read_bytes()
    with pytest.raises(InputError, match="holds signals; write annotations to another folder"):
        write_events(Events.of("a", "x", [1.0]), tmp_path, format="edf")
    recordings = Recordings.of([Recording.of(np.zeros(9), id="a", period=1.0)],
                               files=[tmp_path / "a.txt"])  # fmt: skip
    with pytest.raises(InputError, match="holds a recording; write to another folder"):
        write_events(Events.of("a", "x", [1.0]), tmp_path, format="audacity", recordings=recordings)
    assert (tmp_path / "a.edf").read_bytes() == before
