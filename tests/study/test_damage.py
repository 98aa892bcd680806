"""A run directory notices damage: of its JSON files, the files of its steps, and the data."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from bdl.cli import app
from bdl.errors import StudyError
from bdl.runs.run_directory import RunDirectory
from bdl.study import verify_study
from bdl.study.protocol import Protocol
from bdl.study.results import Results
from bdl.study.runner import run_study
from bdl.workers import Workers

ONE_THREAD = Workers(threads=1)
Contents = Callable[[Path], dict[str, bytes]]
Finished = tuple[Path, Results]


def digit(text: bytes, rng: np.random.Generator) -> bytes:
    """One digit changed, as one bit of a disk may."""
    places = [place for place, byte in enumerate(text) if chr(byte).isdigit()]
    place = int(rng.choice(places))
    other = (text[place] - ord("0") + int(rng.integers(1, 10))) % 10
    return text[:place] + str(other).encode() + text[place + 1 :]


DAMAGE: list[Callable[[bytes, np.random.Generator], bytes]] = [
    digit,
    lambda text, rng: text[: int(rng.integers(0, len(text) - 1))],
    lambda text, rng: b"[" + text + b"]",
    lambda text, rng: b"1e999",
    lambda text, rng: b"[" * 100_000,
    lambda text, rng: rng.bytes(len(text)),
    lambda text, rng: b'{"sha256": 1, "digest": "x"}',
]


def error_of(work: Callable[[], object]) -> str:
    """Our error of some work; empty if it ends well."""
    try:
        work()
    except StudyError as error:
        return str(error)
    return ""


@pytest.fixture
def copied(finished: Finished, tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished[0], tmp_path / "run"))


def test_damage_to_a_json_file_is_an_error_or_is_mended(
    copied: Path, sleep: Path, nested: Protocol, contents: Contents
):
    before = contents(copied)
    rng = np.random.default_rng(0)
    files = sorted(copied.rglob("*.json"))
    assert len(files) > 30
    noticed = set()
    for number, file in enumerate(files):
        name, good = str(file.relative_to(copied)), file.read_bytes()
        file.write_bytes(DAMAGE[number % len(DAMAGE)](good, rng))
        with pytest.raises(StudyError, match=f"{name}: damaged"):
            verify_study(str(copied))
        # The densities of final steps and the ledger are not needed to go on.
        if "densities" not in name and not name.startswith("ledger"):
            error = error_of(lambda: run_study(nested, copied, data=sleep, workers=ONE_THREAD))
            if error:
                noticed.add(name.split("/")[0])
                step = name.removesuffix("/done.json")
                what = f"the folder {copied}/{step}" if step != name else "it"
                assert f"{copied}/{name}: damaged" in error
                assert f"remove {what} and run the same command again" in error
            else:
                assert contents(copied) == before
        file.write_bytes(good)
    assert {"steps", "protocol.json", "data.json", "split.json", "frozen.json"} <= noticed


def test_a_changed_digit_is_noticed_wherever_it_is(copied: Path):
    rng = np.random.default_rng(1)
    run = RunDirectory(copied)
    marks = sorted(copied.rglob("done.json"))
    for file in (*marks, copied / "results.json", copied / "outputs.json"):
        name, good = str(file.relative_to(copied)), file.read_bytes()
        for _ in range(10):
            run.put(name, digit(good, rng))
            with pytest.raises(StudyError, match="damaged"):
                run.get_json(name)
        run.put(name, good)


def test_removing_what_the_message_names_gives_the_same_bytes(
    copied: Path, sleep: Path, nested: Protocol, contents: Contents
):
    before = contents(copied)
    for pattern in ("steps/select/*/*/*", "steps/final/*/*/*", "steps/score-*"):
        folder = sorted(copied.glob(pattern))[-1]
        file = folder / "done.json"
        file.write_bytes(file.read_bytes().replace(b"0", b"1", 1))
        with pytest.raises(StudyError, match=f"remove the folder {folder} and run the same"):
            run_study(nested, copied, data=sleep, workers=ONE_THREAD)
        shutil.rmtree(folder)
    for name in ("protocol", "environment", "files", "data", "split", "frozen"):
        (copied / f"{name}.json").write_text("{}")
        with pytest.raises(StudyError, match=rf"{name}\.json: damaged.*remove it and run the same"):
            run_study(nested, copied, data=sleep, workers=ONE_THREAD)
        (copied / f"{name}.json").unlink()
    run_study(nested, copied, data=sleep, workers=ONE_THREAD)
    assert contents(copied) == before


def test_a_finished_study_is_verified(copied: Path, sleep: Path, contents: Contents):
    before = contents(copied)
    verification = verify_study(str(copied))
    assert (verification.steps, verification.recordings) == (13, 6)
    assert verification.files == sum(
        file.name != "done.json" for file in (copied / "steps").rglob("*") if file.is_file()
    )
    assert verification.chain == json.loads((copied / "results.json").read_text())["chain"]
    assert contents(copied) == before
    printed = CliRunner().invoke(app, ["study", "verify", str(copied)]).stdout
    assert "6 recordings, scored again with equal scores" in " ".join(printed.split())
    output = json.loads(CliRunner().invoke(app, ["study", "verify", str(copied), "--json"]).stdout)
    assert output["chain"] == verification.chain


def test_every_file_of_a_step_and_the_tables_are_verified(copied: Path):
    files = [file for file in sorted((copied / "steps").rglob("*.*")) if file.suffix != ".json"]
    rng = np.random.default_rng(0)
    tables = sorted(copied.glob("tables.*"))
    assert len(tables) == 3
    for file in (*rng.choice(np.array(files, dtype=object), 6, replace=False), *tables):
        good = file.read_bytes()
        for bad in (good[:-1], good.replace(b"0", b"1", 1) if b"0" in good else good + b"x"):
            file.write_bytes(bad)
            with pytest.raises(StudyError, match=f"{file.name}: damaged"):
                verify_study(str(copied))
        file.unlink()
        with pytest.raises(StudyError, match=f"{file.name}: damaged"):
            verify_study(str(copied))
        file.write_bytes(good)
    verify_study(str(copied))


def test_a_forged_result_is_found_behind_its_hash(copied: Path):
    """Someone may compute the hashes of a step, of the chain and of the results again."""
    run = RunDirectory(copied)
    results = run.get_json("results.json")
    run.put_json("results.json", {**results, "failed": ["nothing"]})
    with pytest.raises(StudyError, match=r"results\.json: damaged"):
        verify_study(str(copied))
    run.put_json("results.json", results)
    score = next((copied / "steps").glob("score-*")).relative_to(copied)
    mark = run.get_json(f"{score}/done.json")
    mark["result"]["records"][0]["value"] = 0.99
    run.put_json(f"{score}/done.json", mark)
    with pytest.raises(StudyError, match=r"done\.json: damaged: chain\.json names another"):
        verify_study(str(copied))
    chain = run.get_json("chain.json")["files"]
    new = {name: _sha256(copied / name) for name in chain}
    run.put_json("chain.json", {"files": new})
    run.put_json("results.json", {**results, "chain": _sha256(copied / "chain.json")})
    with pytest.raises(StudyError, match="the detections give other scores than it says"):
        verify_study(str(copied))


def _sha256(file: Path) -> str:
    from bdl.runs.digest import sha256

    return sha256(file.read_bytes())


def test_an_unfinished_study_and_absent_data_are_said(copied: Path, tmp_path: Path, sleep: Path):
    outputs = RunDirectory(copied).get_json("outputs.json")
    RunDirectory(copied).put_json("outputs.json", {**outputs, "data": str(tmp_path / "gone")})
    assert verify_study(str(copied)).recordings is None
    printed = CliRunner().invoke(app, ["study", "verify", str(copied)]).stdout
    assert "data not found" in " ".join(printed.split())
    moved = Path(shutil.copytree(sleep, tmp_path / "moved"))
    assert verify_study(str(copied), data=moved).recordings == 6
    (copied / "results.json").unlink()
    with pytest.raises(StudyError, match="the study is not finished"):
        verify_study(str(copied))


def same_stamp(file: Path, change: Callable[[], None]) -> None:
    """Change a file and set its time back."""
    before = file.stat()
    change()
    assert file.stat().st_size == before.st_size
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def test_labels_and_recordings_are_bound_by_content(
    finished: Finished, sleep: Path, nested: Protocol, tmp_path: Path
):
    """A change that keeps size and time is seen, in labels and in recordings."""
    data = Path(shutil.copytree(sleep, tmp_path / "data"))
    run = Path(shutil.copytree(finished[0], tmp_path / "run"))
    run_study(nested, run, data=data, workers=ONE_THREAD)
    events, series = data / "train_events.csv", data / "train_series.parquet"
    good = events.read_bytes()
    steps = pl.read_csv(events)["step"].drop_nulls()
    old = str(steps[0])
    new = str(int(old) + 12).zfill(len(old))
    same_stamp(
        events,
        lambda: events.write_bytes(good.replace(f",{old},".encode(), f",{new},".encode(), 1)),
    )
    with pytest.raises(StudyError, match="the labels of recording"):
        run_study(nested, run, data=data, workers=ONE_THREAD)
    events.write_bytes(good)
    table = pl.read_parquet(series)
    changed = table.with_columns(anglez=pl.col("anglez") + 1)
    changed.write_parquet(series)
    with pytest.raises(StudyError, match="the values of recording"):
        run_study(nested, run, data=data, workers=ONE_THREAD)
    table.write_parquet(series)
    assert run_study(nested, run, data=data, workers=ONE_THREAD).records


def test_verify_reads_recordings_whose_stamps_are_known(
    finished: Finished, sleep: Path, nested: Protocol, tmp_path: Path
):
    """Stamps that lie, as those of a copied disk may, do not deceive ``--verify``."""
    data = Path(shutil.copytree(sleep, tmp_path / "data"))
    run = RunDirectory(shutil.copytree(finished[0], tmp_path / "run"))
    run_study(nested, run.url, data=data, workers=ONE_THREAD)
    pl.read_parquet(data / "train_series.parquet").with_columns(
        anglez=pl.col("anglez") + 1
    ).write_parquet(data / "train_series.parquet")
    stat = (data / "train_series.parquet").stat()
    stamp = [stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    run.put_json("files.json", {**run.get_json("files.json"), "train_series.parquet": stamp})
    run_study(nested, run.url, data=data, workers=ONE_THREAD)
    with pytest.raises(StudyError, match="the values of recording"):
        run_study(nested, run.url, data=data, workers=ONE_THREAD, verify=True)
    with pytest.raises(StudyError, match="the values of recording"):
        verify_study(run.url)
