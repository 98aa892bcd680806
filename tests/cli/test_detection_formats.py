"""Detections in the formats of other fields, and the container of the seizure community."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from datetime import date
from datetime import time as daytime
from pathlib import Path

import numpy as np
import pytest

from bdl import Detector
from bdl.errors import ConfigError, InputError
from bdl.formats import read_events, read_recordings
from bdl.intervals import IntervalType
from calling import call
from learning import quick, spikes

edfio = pytest.importorskip("edfio")
ROOT = Path(__file__).parents[2]
SZCORE = ["onset", "duration", "eventType", "confidence", "channels", "dateTime"]
SZCORE += ["recordingDuration"]


def write_eeg(folder: Path, count: int, *, seizures: bool = True) -> list[tuple[str, float, float]]:
    """EDF files of 400 s with one loud stretch each, and where it is."""
    rng, rows = np.random.default_rng(0), []
    folder.mkdir()
    for number in range(count):
        begin, length = int(rng.integers(50, 150)), int(rng.integers(80, 200))
        values = rng.normal(size=1600)
        if seizures:
            values[4 * begin : 4 * (begin + length)] *= 8
        name = f"sub-{number:02d}_eeg"
        edfio.Edf(
            [edfio.EdfSignal(values, 4, label="Fp1-Avg")],
            recording=edfio.Recording(startdate=date(2020, 5, 6)),
            starttime=daytime(22, 30, 15),
        ).write(folder / f"{name}.edf")
        rows.append((name, float(begin), float(begin + length)))
    return rows


@pytest.fixture(scope="module")
def eeg(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Recordings in EDF, their seizures, and a model of a few updates."""
    folder = tmp_path_factory.mktemp("eeg")
    rows = write_eeg(folder / "data", 6)
    (folder / "seizures.csv").write_text(
        "recording,event,start,end\n"
        + "".join(f"{name},seizure,{start},{end}\n" for name, start, end in rows)
    )
    recordings = read_recordings(folder / "data")
    events = read_events(folder / "seizures.csv")
    settings = quick(stride=8, epochs=6, tolerances=(20.0,))
    detector = Detector(**settings).fit(
        recordings, events, intervals=(IntervalType.named("seizure"),)
    )
    detector.save(folder / "model.safetensors")
    return folder


def detect(eeg: Path, out: Path, *words: object) -> None:
    call("detect", eeg / "model.safetensors", eeg / "data", "--out", out, "--quiet", *words)


def test_intervals_are_intervals_in_every_format(eeg: Path, tmp_path: Path) -> None:
    detect(eeg, tmp_path / "found.csv")
    table = read_events(tmp_path / "found.csv")
    assert len(table) >= 8
    for kind, out in (
        ("bids", "bids"),
        ("seizures", "szcore"),
        ("label-studio", "tasks.json"),
        ("audacity", "labels"),
        ("edf", "edf"),
        ("dcase", "found.tsv"),
    ):
        detect(eeg, tmp_path / out, "--to", kind)
        recordings = read_recordings(eeg / "data")
        written = read_events(tmp_path / out, recordings=recordings)
        for name in table.types:
            for id in recordings.ids:
                np.testing.assert_allclose(
                    written.times(id, name),
                    table.times(id, name),
                    atol=1e-9,
                    err_msg=f"{kind} {id}",
                )
    annotations = edfio.read_edf(tmp_path / "edf" / "sub-00_eeg.edf").annotations
    assert {row.text for row in annotations} == {"seizure"}
    assert all(row.duration > 0 for row in annotations)
    [task, *_] = json.loads((tmp_path / "tasks.json").read_text())
    assert task["predictions"][0]["result"][0]["score"] > 0


def test_annotation_files_are_on_the_clock_of_the_samples(eeg: Path, tmp_path: Path) -> None:
    wfdb = pytest.importorskip("wfdb")
    detect(eeg, tmp_path / "found.csv", "--unpaired")
    detect(eeg, tmp_path / "wfdb", "--to", "wfdb", "--extension", "det")
    events = read_events(tmp_path / "found.csv")
    annotations = wfdb.rdann(str(tmp_path / "wfdb" / "sub-00_eeg"), "det")
    assert annotations.fs == 4
    times = events.select(recordings=["sub-00_eeg"]).time
    away = np.abs(annotations.sample[:, None] / 4 - times).min(axis=1)
    assert len(away) >= 2
    assert (away <= 0.125).all()  # half a sample


def test_points_are_points(tmp_path: Path) -> None:
    recordings, events = spikes(4)
    Detector(**quick()).fit(recordings, events).save(tmp_path / "model.safetensors")
    (tmp_path / "data").mkdir()
    for recording in recordings:
        rows = "\n".join(",".join(f"{value}" for value in row) for row in recording.values.tolist())
        (tmp_path / "data" / f"{recording.id}.csv").write_text(f"channel_0,channel_1\n{rows}\n")
    words = ("detect", tmp_path / "model.safetensors", tmp_path / "data", "--period", 1)
    call(*words, "--out", tmp_path / "found.csv", "--quiet")
    call(*words, "--out", tmp_path / "found", "--to", "audacity", "--quiet")
    table, written = (read_events(tmp_path / name) for name in ("found.csv", "found"))
    for id in recordings.ids:
        assert written.times(id, "spike").tolist() == table.times(id, "spike").tolist()
    assert len(written) == len(table) > 0
    call(*words, "--out", tmp_path / "kaggle.csv", "--to", "kaggle", "--quiet")
    steps = read_events(tmp_path / "kaggle.csv", period=1.0)
    np.testing.assert_allclose(steps.time, table.time, atol=0.5)
    assert steps.score is not None


def test_what_contradicts_is_refused_before_any_work(eeg: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    for words, message in (
        (("--to", "wfdb", "--update"), "--update has no effect with --to wfdb"),
        (("--to", "bids", "--partition", 2), "--partition has no effect"),
        (("--interval", "x"), "no effect without --to"),
        (("--to", "bids", "--extension", "x"), "unknown option extension"),
        (("--to", "word"), "is not known"),
        (("--to", "seizures", "--interval", "x=a,b"), "the model detects no such interval"),
    ):
        with pytest.raises(ConfigError, match=message):
            detect(eeg, out, *words)
    with pytest.raises(InputError, match="only intervals 'seizure', got 'fit'"):
        detect(eeg, out, "--to", "seizures", "--interval", "fit=seizure:onset,seizure:offset")
    with pytest.raises(InputError, match="holds a recording"):
        detect(eeg, eeg / "data", "--to", "edf")
    assert len(read_recordings(eeg / "data")) == 6


def test_the_format_of_the_recordings_can_be_named(eeg: Path, tmp_path: Path) -> None:
    detect(eeg, tmp_path / "found.csv", "--format", "edf")
    with pytest.raises(ConfigError, match="recording format 'word' is not known"):
        detect(eeg, tmp_path / "found.csv", "--format", "word")


def container(eeg: Path, folder: Path, name: str, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the entry point of the container as SzCORE does, the output file made beforehand."""
    commands = folder / "bin"
    commands.mkdir(exist_ok=True)
    (commands / "bdl").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m bdl "$@"\n')
    (commands / "bdl").chmod(0o755)
    output = folder / "output"
    output.mkdir(exist_ok=True)
    (output / "tmp.tsv").touch()
    output.chmod(0o555)
    environment = {
        **os.environ,
        "PATH": f"{commands}:{os.environ['PATH']}",
        "MODEL": str(eeg / "model.onnx" if (eeg / "model.onnx").exists() else "missing.onnx"),
        "DATA_FOLDER": str(folder / "data"),
        "OUTPUT_FOLDER": str(output),
        "INPUT": name,
        "OUTPUT": "tmp.tsv",
    }
    command = ["sh", str(ROOT / "docker" / "szcore" / "detect.sh"), *words]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_the_container_reads_edf_and_writes_seizures(eeg: Path, tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    call("export", eeg / "model.safetensors", "--out", eeg / "model.onnx", "--quiet")
    shutil.copytree(eeg / "data", tmp_path / "data")
    done = container(eeg, tmp_path, "sub-00_eeg.edf")
    assert done.returncode == 0, done.stderr
    lines = [line.split("\t") for line in (tmp_path / "output/tmp.tsv").read_text().splitlines()]
    assert lines[0] == SZCORE
    assert lines[1][2] == "sz"
    assert lines[1][4:] == ["n/a", "2020-05-06 22:30:15", "400.0"]
    detect(eeg, tmp_path / "same", "--to", "seizures")
    same = (tmp_path / "same" / "sub-00_events.tsv").read_text()
    theirs = [line.split("\t") for line in same.splitlines()]
    assert [line[:3] for line in lines] == [line[:3] for line in theirs]
    noise = np.random.default_rng(1).normal(size=120)
    short = edfio.EdfSignal(noise, 4, label="Fp1-Avg")  # too short for any seizure
    edfio.Edf([short]).write(tmp_path / "data" / "short.edf")
    assert container(eeg, tmp_path, "short.edf").returncode == 0
    rows = (tmp_path / "output/tmp.tsv").read_text().splitlines()
    assert rows[1].split("\t")[:3] == ["0.0", "30.0", "bckg"]
    before = (tmp_path / "output/tmp.tsv").read_bytes()
    broken = container(eeg, tmp_path, "none.edf")
    assert broken.returncode != 0
    assert "none.edf" in broken.stderr
    assert (tmp_path / "output/tmp.tsv").stat().st_size in (0, len(before))
    empty = container(eeg, tmp_path, "")
    assert "INPUT" in empty.stderr


def test_the_image_holds_what_the_entry_point_needs() -> None:
    """What the Dockerfile copies exists, and the paths are those of the convention."""
    text = (ROOT / "docker/szcore/Dockerfile").read_text()
    copied = [line.split()[1:-1] for line in text.splitlines() if line.startswith("COPY ")]
    for name in (name for names in copied for name in names):
        assert name == "${MODEL}" or (ROOT / name).exists(), name
    assert 'VOLUME ["/data", "/output"]' in text
    assert 'ENV INPUT="" OUTPUT=""' in text
