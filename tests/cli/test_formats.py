"""convert, inspect and prepare as a user calls them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bdl.errors import BdlError
from bdl.events import Events
from bdl.formats import open_store, read_events, write_events
from bdl.formats.events import LabelStudioTasks
from bdl.recording import Recording, Recordings
from bdl.registry import field_help
from calling import call, call_json
from naive.ordering import in_order
from recording_tables import write_tables

MITDB = Path(__file__).parents[2] / "../shared/data/mitdb"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    many = [
        Recording.of(rng.normal(size=(100, 2)), id=id, period=0.5, channels=["x", "y"])
        for id in ("s1_a", "s1_b", "s2_a")
    ]
    write_tables(Recordings.of(many), tmp_path / "data", "csv")
    write_events(
        Events.of("s1_a", ["walk:onset", "walk:offset", "beep"], [5.0, 9.0, 60.0]),
        tmp_path / "events.csv",
    )
    return tmp_path


def test_inspect_tells_what_is_there(folder: Path) -> None:
    words = ("inspect", folder / "data", "--events", folder / "events.csv")
    output = call_json(*words, "--group-pattern", "(s[0-9])")
    assert output["recordings"]["recordings"] == 3
    assert output["recordings"]["groups"] == 2
    assert output["recordings"]["missing"] == 0.0
    assert output["events"]["outside"] == 1
    assert output["events"]["closest_seconds"] == 4.0
    text = call(*words)
    for part in ("recordings", "every 0.5 s (2 Hz) x 3", "x, y", "walk:onset", "closest pair"):
        assert part in text
    assert "not read" in call("inspect", folder / "data", "--quick")


def test_convert_there_and_back(folder: Path) -> None:
    events = folder / "events.csv"
    call("convert", events, "--out", folder / "bids", "--to", "bids")
    call("convert", folder / "bids", "--out", folder / "d.tsv", "--to", "dcase")
    output = call_json("convert", folder / "d.tsv", "--out", folder / "again.parquet")
    assert output["events"] == 3
    assert in_order(read_events(folder / "again.parquet")) == in_order(read_events(events))
    call("convert", events, "--out", folder / "k.csv", "--to", "kaggle", "--period", "0.5")
    assert (folder / "k.csv").read_text().splitlines()[1].split(",")[1] == "10"


def test_convert_names_intervals(folder: Path) -> None:
    write_events(Events.of("n", ["onset", "wakeup"], [1.0, 2.0]), folder / "n.csv")
    call(
        "convert", folder / "n.csv", "--out", folder / "n.tsv", "--to", "dcase",
        "--interval", "sleep=onset,wakeup",
    )  # fmt: skip
    assert (folder / "n.tsv").read_text().splitlines()[1].split("\t")[-1] == "sleep"
    with pytest.raises(BdlError, match="NAME=ONSET,OFFSET or NAME expected"):
        call("convert", folder / "n.csv", "--out", folder, "--to", "bids", "--interval", "a=b")


def test_prepare_makes_a_store(folder: Path) -> None:
    words = ("prepare", folder / "data", "--out", folder / "store", "--group-pattern", "(s[0-9])")
    output = call_json(*words)
    assert (output["recordings"], output["samples"]) == (3, 300)
    store = open_store(folder / "store")
    assert store.groups["s1_b"] == "s1"
    assert "3 recordings, 300 samples" in call(*words)
    assert call_json("inspect", folder / "store")["recordings"]["hours"] > 0


@pytest.mark.skipif(not MITDB.exists(), reason="the MIT-BIH records are not here")
def test_inspect_a_data_set_by_name() -> None:
    output = call_json("inspect", MITDB, "--dataset", "mitdb", "--quick")
    assert output["recordings"]["recordings"] == 22
    assert output["notes"]


def test_a_bad_call_is_one_line_and_exit_code_2(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from bdl.cli import main; main()"]
    for words, message in (
        (["inspect", str(tmp_path / "[none]")], "no file matches this pattern"),
        (["inspect"], "recordings, --events, or both expected"),
        (["inspect", "--dataset", "sleep"], "needs the folder"),
    ):
        done = subprocess.run(command + words, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith("error: ")
        assert message in done.stderr
        assert done.stderr.count("\n") == 1
        assert not done.stdout


@pytest.mark.parametrize("command", ["convert", "inspect", "prepare"])
def test_help_has_an_example(command: str) -> None:
    assert f"bdl {command}" in " ".join(call(command, "--help").split())


def test_each_option_of_a_format_has_its_own_help() -> None:
    shown = " ".join(call("convert", "--help").replace("│", " ").split())
    assert "(audacity, bids, edf, seizures, wfdb)" in shown
    helps = field_help(LabelStudioTasks)
    assert helps["from_name"] != helps["to_name"]
    assert "model.safetensors" in call("live", "--help")
