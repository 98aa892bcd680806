"""Preparing and inspecting with several workers: same bytes, damage reported, deaths survived."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest

from bdl.errors import InputError
from bdl.formats import inspect, open_store, prepare, read_recordings
from bdl.recording import Recording, Recordings
from bdl.workers import Workers
from calling import call, call_json
from naive.workers import Deadly
from recording_tables import write_tables

TWO = Workers(jobs=2)


def many(count: int = 90) -> Recordings:
    """Short recordings, more than one batch, and a long one among them."""
    rng = np.random.default_rng(0)
    lengths = [int(rng.integers(2, 200)) for _ in range(count)]
    lengths[3] = 600_000
    made = []
    for number, length in enumerate(lengths):
        values = rng.normal(size=(length, 2)).astype(np.float32)
        values[rng.random(length) < 0.1] = np.nan
        made.append(Recording.of(values, id=f"r{number:03d}", period=0.5))
    return Recordings.of(made)


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in sorted(folder.iterdir())}


def test_two_workers_prepare_and_count_the_same(tmp_path: Path):
    data = many()
    seen: list[tuple[int, int]] = []
    prepare(data, tmp_path / "one")
    prepare(data, tmp_path / "two", workers=TWO, progress=lambda *at: seen.append(at))
    assert contents(tmp_path / "two") == contents(tmp_path / "one")
    total = sum(info.samples for info in data.infos)
    assert seen[-1] == (total, total)
    assert seen == sorted(seen)
    assert inspect(data, workers=TWO) == inspect(data)


def test_two_workers_open_the_same_files(tmp_path: Path):
    write_tables(many(12), tmp_path)
    (tmp_path / "r007.parquet").write_bytes(b"cut")
    alone = read_recordings(tmp_path, invalid="skip")
    opened = read_recordings(tmp_path, invalid="skip", workers=TWO)
    assert len(opened) == 11
    assert (opened.infos, opened.notes) == (alone.infos, alone.notes)
    np.testing.assert_array_equal(opened["r009"].values, alone["r009"].values)
    with pytest.raises(InputError, match=r"r007\.parquet.*--pattern"):
        read_recordings(tmp_path, workers=TWO)


def test_two_runs_that_write_one_store_at_a_time_leave_it_whole(tmp_path: Path):
    write_tables(many(12), tmp_path / "source")
    data = read_recordings(tmp_path / "source")
    prepare(data, tmp_path / "one")
    with ThreadPoolExecutor(2) as both:
        made = [both.submit(prepare, data, tmp_path / "two") for _ in range(2)]
        assert [len(future.result()) for future in made] == [12, 12]
    assert contents(tmp_path / "two") == contents(tmp_path / "one")


def test_runs_that_begin_and_end_at_any_moment_of_another_leave_a_store_whole(tmp_path: Path):
    data = Recordings.of([Recording.of(np.arange(9.0), id=id, period=1.0) for id in "abc"])
    prepare(data, tmp_path / "alone")
    with ThreadPoolExecutor(3) as all_at_once:
        for number in range(150):
            made = [all_at_once.submit(prepare, data, tmp_path / str(number)) for _ in range(3)]
            assert [future.result().ids for future in made] == [data.ids] * 3
            assert contents(tmp_path / str(number)) == contents(tmp_path / "alone")


def damaged(folder: Path) -> str:
    """Tables of which one has a footer that is whole and values that are not; its name."""
    write_tables(many(6), folder)
    file = sorted(folder.glob("*.parquet"))[2]
    place = pq.read_metadata(file).row_group(0).column(2).data_page_offset + 40
    content = bytearray(file.read_bytes())
    content[place] ^= 255
    file.write_bytes(content)
    return file.stem


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_damaged_recording_is_told_and_the_rest_prepared(tmp_path: Path, jobs: int):
    bad = damaged(tmp_path / "source")
    prepared = ("prepare", tmp_path / "source", "--jobs", jobs, "--out")
    output = call_json(*prepared, tmp_path / "s", code=3)
    assert output["recordings"] == 5
    assert any(f"left out: recording '{bad}'" in note for note in output["notes"])
    assert bad not in open_store(tmp_path / "s")
    with pytest.raises(InputError, match=f"{bad}.parquet"):
        call(*prepared, tmp_path / "strict", "--strict")
    with pytest.raises(InputError, match="it was interrupted, prepare again"):
        open_store(tmp_path / "strict")
    notes = call_json("inspect", tmp_path / "source", "--jobs", jobs)["recordings"]["notes"]
    assert any(f"values of '{bad}' cannot be read" in note for note in notes)


def test_a_recording_that_kills_its_worker_is_set_aside(tmp_path: Path):
    data = prepare(many(8), tmp_path / "source")
    deadly = Recordings(data.infos, Deadly(data, "r005", tmp_path / "source"))
    store = prepare(deadly, tmp_path / "s", workers=TWO, invalid="skip")
    assert store.ids == tuple(id for id in data.ids if id != "r005")
    assert "left out: recording 'r005': its worker died" in store.notes[0]
    assert store.left_out == store.notes
    np.testing.assert_array_equal(store["r003"].values, data["r003"].values)
    # With a source that can be read, the same store is completed.
    assert prepare(data, tmp_path / "s", workers=TWO).ids == data.ids


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["dask", "ray"])
def test_every_back_end_prepares_the_same_bytes(tmp_path: Path, backend: str):
    pytest.importorskip("distributed" if backend == "dask" else "ray")
    write_tables(many(70), tmp_path / "source")
    data = read_recordings(tmp_path / "source")
    prepare(data, tmp_path / "one")
    try:
        prepare(data, tmp_path / backend, workers=Workers(backend=backend, jobs=2))
    finally:
        if backend == "ray":
            import ray

            ray.shutdown()
    assert contents(tmp_path / backend) == contents(tmp_path / "one")
