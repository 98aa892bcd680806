"""Recordings, stores, events, models and tables at addresses, through a bounded cache."""

from __future__ import annotations

import pickle
import socket
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from bdl import read_events, read_recordings
from bdl.errors import ConfigError, InputError, MissingExtraError
from bdl.formats import open_store, prepare, write_events
from bdl.formats.local_copies import fetch
from buckets import Unreliable, bucket
from calling import call, call_json
from full_disk import full_disk
from learning import spikes
from recording_tables import write_tables


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch) -> Path:
    monkeypatch.setenv("BDL_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def memory() -> Iterator[fsspec.AbstractFileSystem]:
    system = fsspec.filesystem("memory")
    system.store.clear()
    yield system
    system.store.clear()


def test_tables_and_stores_at_an_address(memory, tmp_path: Path):
    data, _ = spikes(4)
    write_tables(data, tmp_path / "r")
    memory.put(f"{tmp_path}/r/", "/nights/", recursive=True)
    remote = read_recordings("memory://nights")
    assert remote.ids == data.ids
    np.testing.assert_array_equal(remote["r2"].values, data["r2"].values)
    assert read_recordings("memory://nights/r[01].parquet").ids == ("r0", "r1")
    assert read_recordings("memory://nights", pattern="r[01]*").ids == ("r0", "r1")
    for place in ("memory://nights/r[01].parquet", "memory://nights/r2.parquet"):
        with pytest.raises(ConfigError, match=r"--pattern .* no effect with memory:"):
            read_recordings(place, pattern="r1*")
    store = prepare(remote, "memory://store")
    for recording in open_store("memory://store"):
        np.testing.assert_array_equal(recording.values, data[recording.id].values)
    local = prepare(read_recordings(tmp_path / "r"), tmp_path / "s")
    assert memory.cat("/store/r1.npy") == (tmp_path / "s/r1.npy").read_bytes()
    assert store.infos == local.infos
    memory.pipe("/store/r1.npy", memory.cat("/store/r1.npy")[:-4])
    with pytest.raises(InputError, match=r"r1\.npy.*truncated or was changed"):
        open_store("memory://store")["r1"]


def test_the_cache_is_bounded_and_notices_changes(memory, cache: Path, monkeypatch):
    monkeypatch.setenv("BDL_CACHE_BYTES", "2500")
    for number in range(5):
        memory.pipe(f"/n/{number}.bin", bytes([number]) * 1000)
        assert fetch(Path(f"memory://n/{number}.bin")).read_bytes() == bytes([number]) * 1000
        sizes = [file.stat().st_size for file in cache.rglob("*.bin")]
        assert sum(sizes) <= 2500
    memory.pipe("/n/4.bin", b"new")
    assert fetch(Path("memory://n/4.bin")).read_bytes() == b"new"


def test_edf_files_and_wfdb_records_come_through_the_cache(memory, cache: Path, tmp_path: Path):
    edfio, wfdb = pytest.importorskip("edfio"), pytest.importorskip("wfdb")
    values = np.random.default_rng(0).normal(size=(1000, 2))
    signals = [edfio.EdfSignal(values[:, i], 100, label=name) for i, name in enumerate("xy")]
    edfio.Edf(signals).write(tmp_path / "night.edf")
    wfdb.wrsamp(
        "beats",
        fs=100,
        units=["mV"] * 2,
        sig_name=["x", "y"],
        p_signal=values,
        fmt=["16"] * 2,
        write_dir=str(tmp_path),
    )
    for file in tmp_path.glob("*.*"):
        memory.put_file(str(file), f"/ward/{file.name}")
    for name in ("night.edf", "beats.hea"):
        remote, local = read_recordings(f"memory://ward/{name}"), read_recordings(tmp_path / name)
        assert remote.infos == local.infos
        again = pickle.loads(pickle.dumps(remote))  # as workers get them
        id = local.ids[0]
        np.testing.assert_array_equal(again[id].values, local[id].values)
        assert again.files(id) == (Path(f"memory://ward/{name}"),)
    names = {file.name for file in cache.rglob("*.*")}
    assert names == {"night.edf", "beats.hea", "beats.dat"}


def test_a_cache_disk_that_is_full_is_told(memory, cache: Path):
    memory.pipe("/n/a.npz", bytes(100_000))
    with full_disk(20_000), pytest.raises(InputError, match=r"cache cannot be written.*BDL_CACHE"):
        read_recordings("memory://n/a.npz")
    assert not [*cache.iterdir()]  # nothing half is left
    assert fetch(Path("memory://n/a.npz")).stat().st_size == 100_000


def test_events_in_a_folder_and_by_a_glob_here_and_at_an_address(memory, tmp_path: Path):
    _, events = spikes(4)
    whole = tmp_path / "all.csv"
    write_events(events, whole)
    for number, id in enumerate(events.recordings):
        part = events.select(recordings=[id])
        suffix = ("csv", "parquet")[number % 2]
        write_events(part, tmp_path / f"tables/{id}.{suffix}")
    write_events(events, tmp_path / "bids", format="bids")
    (tmp_path / "bids/r0_eeg.edf").write_bytes(b"large")
    for name in ("tables", "bids"):
        memory.put(f"{tmp_path}/{name}/", f"/{name}/", recursive=True)
    expected = read_events(whole)
    for place in (
        f"{tmp_path}/tables",
        "memory://tables",
        f"{tmp_path}/tables/*",
        "memory://tables/*",
    ):
        assert read_events(place) == expected
    assert read_events("memory://tables/*.csv") == expected.select(recordings=["r0", "r2"])
    assert read_events("memory://bids") == read_events(tmp_path / "bids")
    assert read_events("memory://bids", format="bids") == read_events(tmp_path / "bids")
    assert not [*tmp_path.glob("cache/**/*.edf")]  # only what holds events is fetched
    call("convert", "memory://bids", "--out", tmp_path / "converted.csv")
    assert len(read_events(tmp_path / "converted.csv")) == len(events)
    with pytest.raises(InputError, match=r"memory://tables/\*\.tsv: no file there"):
        read_events("memory://tables/*.tsv")
    memory.pipe("/other/a.png", b"x")
    with pytest.raises(InputError, match=r"memory://other: no file there has a suffix among"):
        read_events("memory://other")


def test_wrong_addresses(memory):
    with pytest.raises(ConfigError, match="credentials do not belong") as raised:
        read_recordings("s3://name:secret@bucket/a.edf")
    assert "secret" not in str(raised.value)
    with pytest.raises(InputError, match="memory://nowhere"):
        read_recordings("memory://nowhere")
    with pytest.raises((InputError, MissingExtraError), match="carrier://pigeon"):
        read_recordings("carrier://pigeon/a.edf")


@pytest.fixture
def website(tmp_path: Path) -> Iterator[tuple[Path, str]]:
    """A folder and its address, of a web server that knows no ranges."""
    folder = tmp_path / "site"
    folder.mkdir()
    handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield folder, f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_tables_and_stores_of_a_web_server(website):
    pytest.importorskip("aiohttp")
    folder, address = website
    data, events = spikes(3)
    write_tables(data, folder / "tables")
    prepare(data, folder / "store")
    write_events(events, folder / "events.csv")
    assert read_events(f"{address}/events.csv") == events
    table = read_recordings(f"{address}/tables/{data.ids[1]}.parquet")
    store = open_store(f"{address}/store")
    for id in data.ids:
        np.testing.assert_array_equal(store[id].values, data[id].values)
    np.testing.assert_array_equal(table[data.ids[1]].values, data[data.ids[1]].values)


def test_nothing_answers(monkeypatch):
    pytest.importorskip("s3fs")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setattr("s3fs.core.S3FileSystem.retries", 1)
    with pytest.raises(InputError, match=r"s3://nights/a\.edf: cannot be reached") as raised:
        read_recordings("s3://nights/a.edf")
    assert "secret-of-the-test" not in str(raised.value)


def test_a_bucket_that_never_answers_is_told(monkeypatch):
    s3fs = pytest.importorskip("s3fs")
    monkeypatch.setattr("s3fs.core.S3FileSystem.retries", 1)
    monkeypatch.setattr("s3fs.core.S3FileSystem.read_timeout", 1)
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret-of-the-test")
    s3fs.S3FileSystem.clear_instance_cache()
    with socket.create_server(("127.0.0.1", 0)) as silent:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://127.0.0.1:{silent.getsockname()[1]}")
        with pytest.raises(InputError, match=r"s3://quiet/a\.edf: cannot be reached: .*[Tt]imeout"):
            read_recordings("s3://quiet/a.edf")
    s3fs.S3FileSystem.clear_instance_cache()


@pytest.fixture
def nights(monkeypatch) -> Iterator[Unreliable]:
    pytest.importorskip("moto")
    pytest.importorskip("s3fs")
    with bucket(monkeypatch) as application:
        yield application


@pytest.mark.slow
def test_of_a_parquet_table_only_the_needed_ranges_are_fetched(nights, cache: Path, tmp_path: Path):
    import s3fs

    rng = np.random.default_rng(0)
    rows = 20_000
    values = {f"c{i}": rng.normal(size=20 * rows).astype(np.float32) for i in range(6)}
    ids = pa.array(np.repeat([f"night{i:02d}" for i in range(20)], rows)).dictionary_encode()
    pq.write_table(
        pa.table({"recording": ids, **values}), tmp_path / "all.parquet", row_group_size=rows
    )
    size = (tmp_path / "all.parquet").stat().st_size
    s3fs.S3FileSystem().put_file(str(tmp_path / "all.parquet"), "nights/all.parquet")
    nights.sent = 0
    remote = read_recordings("s3://nights/all.parquet", period=1.0, channels=["c1", "c4"])
    assert len(remote) == 20
    assert nights.sent < size / 20  # the footer and the ids
    night = remote["night07"].values
    np.testing.assert_array_equal(night[:, 1], values["c4"][7 * rows : 8 * rows])
    assert nights.sent < size / 10  # and two columns of a row group
    again = pickle.loads(pickle.dumps(remote))  # as workers get them
    np.testing.assert_array_equal(again["night07"].values, night)
    assert not cache.exists()
    s3fs.S3FileSystem().pipe_file(
        "nights/all.parquet", (tmp_path / "all.parquet").read_bytes()[:-1]
    )
    with pytest.raises(InputError, match="changed after it was opened"):
        remote["night01"]
    with pytest.raises(InputError, match="cannot be read as a Parquet file"):
        read_recordings("s3://nights/all.parquet", period=1.0)


@pytest.mark.slow
def test_everything_once_against_a_bucket_that_is_late_and_fails(nights, tmp_path: Path):
    import s3fs

    data, events = spikes(6)
    write_tables(data, tmp_path / "r")
    for id in events.recordings:
        write_events(events.select(recordings=[id]), tmp_path / f"e/{id}.csv")
    system = s3fs.S3FileSystem()
    for name in ("r", "e"):
        system.put(f"{tmp_path}/{name}/", f"nights/{name}/", recursive=True)
    source, store, labels = "s3://nights/r", "s3://nights/store", "s3://nights/e/*.csv"
    inspected = call_json("inspect", source, "--events", "s3://nights/e", "--jobs", 2)
    assert inspected["recordings"]["recordings"] == 6
    assert inspected["events"]["outside"] == 0
    call("prepare", source, "--out", store, "--jobs", 2)
    assert read_events(labels) == read_events(tmp_path / "e")
    call(
        *("fit", "--recordings", store, "--events", labels, "--out", "s3://nights/m.bdl"),
        *("--encoder", "{kind: recurrent, width: 8, blocks: 1}", "--stride", 4, "--window", 400),
        *("--epochs", 1, "--selection-folds", 0, "--quiet"),
    )
    assert "spike" in call("show", "s3://nights/m.bdl")
    command = ("detect", "s3://nights/m.bdl", store, "--unpaired", "--out")
    call(*command, "s3://nights/d.csv", "--jobs", 2)
    call(*command, tmp_path / "d.csv")
    assert system.cat_file("nights/d.csv") == (tmp_path / "d.csv").read_bytes()
    call(*command, "s3://nights/parts", "--partition", 4)
    names = [name.rpartition("/")[2] for name in system.ls("nights/parts", detail=False)]
    assert sorted(names) == ["part-000000.parquet", "part-000001.parquet"]
    call(*command, "s3://nights/bids", "--to", "bids")
    call("convert", "s3://nights/bids", "--out", "s3://nights/again.csv")
    times = [read_events(f"s3://nights/{name}").time for name in ("again.csv", "d.csv")]
    np.testing.assert_array_equal(*map(np.sort, times))
    assert not system.exists("nights/d.csv.run")
    call("simulate", "fraud", "--out", tmp_path / "fraud", "--recordings", 8)
    study = ("study", "run", "fraud", "--scale", "tiny", "--data", tmp_path / "fraud", "--out")
    call(*study, tmp_path / "run")
    call(*study, "s3://nights/run")
    assert system.cat_file("nights/run/tables.csv") == (tmp_path / "run/tables.csv").read_bytes()
    call("study", "verify", "s3://nights/run")
    assert nights.errors > 10
