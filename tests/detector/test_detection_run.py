"""Detections in many recordings: the same on every back end, resumed, damage told and set aside."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import numpy as np
import polars as pl
import psutil
import pytest

from bdl import Detector, read_events
from bdl.detector.detection_run import detect_many
from bdl.errors import InputError, StudyError
from bdl.events import Events
from bdl.formats import open_store, prepare, read_recordings
from bdl.recording import Recording, Recordings
from bdl.workers import Workers
from calling import call, call_json
from learning import quick, spikes
from naive.workers import Deadly
from recording_tables import write_tables

TWO = Workers(jobs=2, threads=1)


@pytest.fixture(scope="module")
def detector() -> Detector:
    recordings, events = spikes(4)
    return Detector(**quick()).fit(recordings, events)


def many(count: int, seed: int = 1) -> Recordings:
    """Recordings of different lengths, which pass the encoder in batches, and a long one."""
    rng = np.random.default_rng(seed)
    lengths = rng.integers(30, 300, count).tolist()
    lengths[count // 2] = 20_000
    made = []
    for number, length in enumerate(lengths):
        values = rng.normal(size=(length, 2)).astype(np.float32)
        values[rng.integers(0, length, 3), 0] += 25.0
        channels = ("channel_0", "channel_1")
        made.append(Recording.of(values, id=f"n{number:05d}", period=1.0, channels=channels))
    return Recordings.of(made)


@pytest.mark.slow
def test_workers_give_what_the_detector_gives(detector: Detector, tmp_path: Path):
    data = many(70)
    alone = detect_many(detector, data, tmp_path / "one", densities=True)
    assert alone.detections == detector.detect(data)
    assert [density.recording for density in alone.densities()] == [*data.ids]
    progress: list[tuple[int, int]] = []
    two = detect_many(
        detector, data, tmp_path / "two", workers=TWO, progress=lambda *at: progress.append(at)
    )
    assert two.detections == alone.detections
    assert two.refused == {}
    total = sum(info.samples for info in data.infos)
    assert progress[0] == (0, total)
    assert progress[-1] == (total, total)


def test_what_is_finished_is_not_done_again(detector: Detector, tmp_path: Path):
    write_tables(many(6), tmp_path / "source")
    data = read_recordings(tmp_path / "source")
    first = detect_many(detector, data, tmp_path / "run")

    progress: list[tuple[int, int]] = []
    again = detect_many(detector, data, tmp_path / "run", progress=lambda *at: progress.append(at))
    assert len(progress) == 1
    assert again.detections == first.detections
    write_tables(many(6, seed=2).select(["n00002"]), tmp_path / "source")
    changed = detect_many(detector, data := read_recordings(tmp_path / "source"), tmp_path / "run")
    assert changed.detections == detector.detect(data)
    assert changed.detections != first.detections


@pytest.mark.parametrize("workers", [Workers(), TWO], ids=["here", "two"])
def test_a_damaged_recording_is_told_and_the_rest_done(
    detector: Detector, tmp_path: Path, workers: Workers
):
    store = prepare(many(5), tmp_path / "store")
    (tmp_path / "store/n00003.npy").write_bytes(b"cut")
    run = detect_many(detector, store, tmp_path / "run", workers=workers)
    assert list(run.refused) == ["n00003"]
    assert "n00003.npy: an array" in run.refused["n00003"]
    assert set(run.detected) == set(store.ids) - {"n00003"}
    with pytest.raises(InputError, match=r"n00003\.npy"):
        detect_many(detector, store, tmp_path / "strict", workers=workers, strict=True)


@pytest.mark.slow
def test_a_recording_that_kills_its_worker_is_set_aside(detector: Detector, tmp_path: Path):
    store = prepare(many(5), tmp_path / "store")
    deadly = Recordings(store.infos, Deadly(store, "n00001", tmp_path / "store"))
    run = detect_many(detector, deadly, tmp_path / "run", workers=TWO)
    assert list(run.refused) == ["n00001"]
    assert "its worker died 2 times" in run.refused["n00001"]
    others = [id for id in store.ids if id != "n00001"]
    assert run.detections == detector.detect(store.select(others))


@pytest.mark.slow
def test_the_command_writes_the_same_bytes_with_two_workers(detector: Detector, tmp_path: Path):
    prepare(many(20), tmp_path / "store")
    detector.save(tmp_path / "m")
    command = ("detect", tmp_path / "m", tmp_path / "store", "--unpaired", "--out")
    for suffix in ("csv", "parquet"):
        call(*command, tmp_path / f"one.{suffix}")
        call(*command, tmp_path / f"two.{suffix}", "--jobs", 2)
        single, two = ((tmp_path / f"{name}.{suffix}").read_bytes() for name in ("one", "two"))
        assert single == two
    call(*command, tmp_path / "parts", "--jobs", 2, "--partition", 8)
    assert len([*(tmp_path / "parts").iterdir()]) == 3
    whole, parts = pl.read_parquet(tmp_path / "one.parquet"), pl.read_parquet(tmp_path / "parts")
    assert parts.equals(whole)
    assert not [*tmp_path.glob("*.run")]


def test_the_command_goes_on_past_damage_and_tries_it_again(detector: Detector, tmp_path: Path):
    prepare(many(5), tmp_path / "store")
    detector.save(tmp_path / "m")
    array = tmp_path / "store/n00003.npy"
    whole = array.read_bytes()
    array.write_bytes(b"cut")
    command = (
        "detect",
        tmp_path / "m",
        tmp_path / "store",
        "--unpaired",
        "--out",
        tmp_path / "d.csv",
    )
    output = call_json(*command, code=3)
    assert output["recordings"] == 4
    assert "n00003.npy" in output["left_out"][0]
    with pytest.raises(InputError, match=r"n00003\.npy"):
        call(*command, "--strict")
    array.write_bytes(whole)
    assert len([*(tmp_path / "d.csv.run").rglob("done.json")]) == 4
    assert call_json(*command)["recordings"] == 5
    detections = detector.detect(read_recordings(tmp_path / "store"))
    assert read_events(tmp_path / "d.csv") == detections
    assert not (tmp_path / "d.csv.run").exists()


def test_two_runs_cannot_use_one_directory(detector: Detector, tmp_path: Path):
    from bdl.runs.run_directory import RunDirectory

    with RunDirectory(tmp_path / "run").lock(), pytest.raises(StudyError, match="another runner"):
        detect_many(detector, many(2), tmp_path / "run")


SCRIPT = """
import sys
from pathlib import Path
from bdl import Detector, Workers, read_recordings
from bdl.detector.detection_run import detect_many
folder = Path(sys.argv[1])
data = read_recordings(folder / "store")
run = detect_many(
    Detector.load(folder / "model"), data, folder / "run", workers=Workers(jobs=2, threads=1)
)
print(len(run.detections))
"""


@pytest.mark.slow
def test_killed_at_three_moments_nothing_is_lost_or_done_twice(detector: Detector, tmp_path: Path):
    data = many(200)
    prepare(data, tmp_path / "store")
    detector.save(tmp_path / "model")
    choice = random.Random(0)
    for _ in range(3):
        process = subprocess.Popen(
            [sys.executable, "-c", SCRIPT, str(tmp_path)],
            start_new_session=True,
            stdout=subprocess.DEVNULL,
        )
        try:
            process.wait(choice.uniform(2.0, 5.0))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    time.sleep(0.5)
    store = read_recordings(tmp_path / "store")
    run = detect_many(Detector.load(tmp_path / "model"), store, tmp_path / "run", workers=TWO)
    assert run.detections == detector.detect(store)
    finished = [entry["step"] for entry in run.directory.ledger() if entry["event"] == "step"]
    assert len(run.directory.finished()) == 200
    assert len(finished) == len(set(finished)) == 200


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="looks for workers by their command")
def test_workers_killed_in_the_middle_lose_nothing_and_do_nothing_twice(
    detector: Detector, tmp_path: Path
):
    store = prepare(many(200), tmp_path / "store")
    left = [30, 100]  # finished recordings after which a worker is killed

    def kill(stop: threading.Event) -> None:
        while left and not stop.wait(0.005):
            if len([*(tmp_path / "run").glob("steps/*/*/done.json")]) < left[0]:
                continue
            for process in psutil.Process().children():
                with suppress(psutil.Error):  # it ends this moment
                    if "popen_loky" in str(process.cmdline()):
                        process.kill()
                        left.pop(0)
                        break

    with ThreadPoolExecutor(1) as beside:
        stop = threading.Event()
        killer = beside.submit(kill, stop)
        try:
            run = detect_many(detector, store, tmp_path / "run", workers=TWO)
        finally:
            stop.set()
        killer.result()
    assert not left
    assert run.detections == detector.detect(store)
    ledger = run.directory.ledger()
    finished = [entry["step"] for entry in ledger if entry["event"] == "step"]
    assert any(entry["event"] == "worker died" for entry in ledger)
    assert len(run.directory.finished()) == 200
    assert len(finished) == len(set(finished)) == 200


def test_an_entry_that_a_kill_prevented_is_added_when_the_run_goes_on(
    detector: Detector, tmp_path: Path
):
    data = many(3)
    run = detect_many(detector, data, tmp_path / "run").directory
    entries = [file for file in (tmp_path / "run/ledger").iterdir() if "-step-" in file.name]
    assert len(entries) == 3
    entries[0].unlink()  # as if killed between the mark and the entry
    detect_many(detector, data, tmp_path / "run")
    finished = [entry["step"] for entry in run.ledger() if entry["event"] == "step"]
    assert len(finished) == len(set(finished)) == 3


@pytest.fixture(scope="module")
def large(detector: Detector, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Events]:
    """A store of 500 short recordings and a long one, and what is detected in one process."""
    folder = tmp_path_factory.mktemp("large") / "store"
    values = np.random.default_rng(0).normal(size=(200_000, 2))
    long = Recordings.of([Recording.of(values, id="long", period=1.0)])
    store = prepare(Recordings.concat([many(500), long]), folder)
    return folder, detector.detect(store)


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["loky", "dask", "ray"])
def test_every_back_end_detects_the_same(
    detector: Detector, large: tuple[Path, Events], tmp_path: Path, backend: str
):
    if backend != "loky":
        pytest.importorskip("distributed" if backend == "dask" else "ray")
    folder, expected = large
    workers = Workers(backend=backend, jobs=2, threads=1)
    try:
        run = detect_many(detector, open_store(folder), tmp_path / "run", workers=workers)
    finally:
        if backend == "ray":
            import ray

            ray.shutdown()
    assert run.detections == expected
    assert len(run.detected) == 501
