"""The prepared store: resuming, changed sources, damage, memory maps, full disks."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from bdl.errors import InputError, OutputError
from bdl.events import Events
from bdl.formats import open_store, prepare, read_recordings, write_events
from bdl.recording import Recording, RecordingInfo, Recordings, Values
from full_disk import full_disk
from recording_tables import write_tables


def three(seed: int = 0) -> Recordings:
    rng = np.random.default_rng(seed)
    return Recordings.of(
        [
            Recording.of(rng.normal(size=(5000, 2)), id=id, period=0.5, group=f"g{id}")
            for id in "abc"
        ]
    )


def test_an_interrupted_preparation_goes_on_where_it_stopped(tmp_path: Path) -> None:
    data = three()
    read: list[str] = []

    def interrupted(info: RecordingInfo) -> Values:
        if info.id == "b" and "b" not in read:
            read.append("b")
            raise KeyboardInterrupt
        read.append(info.id)
        return data[info.id].values

    with pytest.raises(KeyboardInterrupt):
        prepare(Recordings(data.infos, interrupted), tmp_path / "s")
    assert sorted(f.name for f in (tmp_path / "s").iterdir()) == ["a.npy", "manifest.partial.json"]
    with pytest.raises(InputError, match="it was interrupted, prepare again"):
        open_store(tmp_path / "s")
    read.clear()
    read.append("b")
    seen: list[tuple[int, int]] = []
    store = prepare(
        Recordings(data.infos, interrupted), tmp_path / "s", progress=lambda *at: seen.append(at)
    )
    assert read == ["b", "b", "c"]
    assert seen == [(10_000, 15_000), (15_000, 15_000)]
    whole = prepare(data, tmp_path / "at once")
    for id in "abc":
        first, second = ((tmp_path / d / f"{id}.npy").read_bytes() for d in ("s", "at once"))
        assert first == second
    assert store.infos == whole.infos == data.infos
    manifests = [(tmp_path / d / "manifest.json").read_bytes() for d in ("s", "at once")]
    assert manifests[0] == manifests[1]


def test_a_finished_store_is_not_read_again(tmp_path: Path) -> None:
    data = three()
    prepare(data, tmp_path / "s")

    def never(info: RecordingInfo) -> Values:
        raise AssertionError(info.id)

    assert prepare(Recordings(data.infos, never), tmp_path / "s").infos == data.infos


def test_another_or_changed_source_is_refused(tmp_path: Path) -> None:
    write_tables(three(), tmp_path / "source")
    store = prepare(read_recordings(tmp_path / "source"), tmp_path / "s")
    assert json.loads((tmp_path / "s/manifest.json").read_text())["source"]
    np.testing.assert_array_equal(store["a"].values, three()["a"].values)
    write_tables(three(seed=1), tmp_path / "source")
    with pytest.raises(OutputError, match="another source, or of one that has changed"):
        prepare(read_recordings(tmp_path / "source"), tmp_path / "s")
    other = Recordings.of([Recording.of(np.zeros(3), id="z", period=1.0)])
    with pytest.raises(OutputError, match="another source"):
        prepare(other, tmp_path / "s")
    (tmp_path / "full").mkdir()
    (tmp_path / "full/letter.txt").write_text("dear")
    with pytest.raises(OutputError, match="not empty and is not a store"):
        prepare(other, tmp_path / "full")


def test_notes_on_filled_gaps_stay_with_the_store(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("time,x\n0,1\n1,2\n3,4\n")
    recordings = read_recordings(tmp_path / "a.csv", regular=True)
    store = prepare(recordings, tmp_path / "s")
    assert store.notes == recordings.notes != ()
    np.testing.assert_array_equal(store["a"].values[:, 0], [1, 2, np.nan, 4])


def test_a_source_that_changed_while_it_was_open_is_found(tmp_path: Path) -> None:
    file = tmp_path / "a.csv"
    file.write_text("time,x\n0,1\n1,2\n3,4\n")
    gaps = read_recordings(file, regular=True)
    file.write_text("time,x\n0,1\n1,2\n9,4\n")
    with pytest.raises(InputError, match="changed after it was opened"):
        gaps["a"]
    file.write_text("x\n1\n2\n3\n")
    whole = read_recordings(file, period=1.0)
    file.write_text("x\n1\n2\n")
    with pytest.raises(InputError, match="changed after it was opened"):
        whole["a"]


def test_values_are_memory_mapped_and_read_only(tmp_path: Path) -> None:
    values = prepare(three(), tmp_path / "s")["b"].values
    assert isinstance(values, np.memmap)
    with pytest.raises(ValueError, match="read-only"):
        values[0, 0] = 1


@pytest.mark.parametrize("cut", [0, 1, 60, 128, 5000])
def test_a_truncated_array_is_found(tmp_path: Path, cut: int) -> None:
    store = prepare(three(), tmp_path / "s")
    file = tmp_path / "s/b.npy"
    file.write_bytes(file.read_bytes()[:cut])
    with pytest.raises(InputError, match=r"b\.npy"):
        store["b"]
    assert len(store["a"].values) == 5000


def test_damaged_manifests(tmp_path: Path) -> None:
    prepare(three(), tmp_path / "s")
    file = tmp_path / "s/manifest.json"
    good = file.read_text()
    for bad in (good[:50], "[]", "{}", good.replace('"a"', '"../a"'), good.replace("0.5", '"x"')):
        file.write_text(bad)
        with pytest.raises(InputError):
            open_store(tmp_path / "s")
    file.write_text(good.replace('"version": 1', '"version": 9'))
    with pytest.raises(InputError, match="store version 1 expected, got 9"):
        open_store(tmp_path / "s")


def test_a_full_disk_is_our_error_and_space_lets_it_go_on(tmp_path: Path) -> None:
    data = three()
    with full_disk(20_000), pytest.raises(OutputError, match=r"a\.npy: cannot be written"):
        prepare(data, tmp_path / "s")
    assert [f.name for f in (tmp_path / "s").iterdir()] == ["manifest.partial.json"]
    assert prepare(data, tmp_path / "s").infos == data.infos


@pytest.mark.parametrize("name", ["e.csv", "e.tsv", "e.parquet", "e.feather"])
def test_a_full_disk_leaves_the_old_table(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    write_events(Events.of("a", "x", [1.0]), file)
    before = file.read_bytes()
    many = Events.of("a", "x", np.random.default_rng(0).uniform(0, 1e6, 50_000))
    with full_disk(20_000), pytest.raises(OutputError, match="cannot be written"):
        write_events(many, file)
    assert file.read_bytes() == before
    assert [f.name for f in tmp_path.iterdir()] == [name]
