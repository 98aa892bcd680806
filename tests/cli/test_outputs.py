"""Outputs are checked before the work, and what killed writers left is removed by the next run."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bdl.errors import ConfigError, OutputError
from bdl.formats import prepare
from bdl.formats.outputs import check_output, temporary_path
from bdl.recording import Recording, Recordings
from calling import call

NOWHERE = "/dev/null/folder/a.csv"  # no user can write there
COMMANDS = {
    "fit": "fit --recordings gone.csv --events gone.csv --out",
    "log": "fit --recordings gone.csv --events gone.csv --out a.model --log",
    "detect": "detect gone.model --recordings gone.csv --out",
    "densities": "detect gone.model --recordings gone.csv --out a.csv --densities",
    "prepare": "prepare gone.csv --out",
    "decode": "decode gone --decoder peaks --out",
    "pairs": "decode gone --decoder peaks --out a.csv --pairs",
    "calibrate": "calibrate gone --events gone.csv --tolerance 5 --out",
    "report": "report gone.csv --out",
    "figures": "figures --out",
    "simulate": "simulate sleep --recordings 1 --out",
    "study": "study run fraud --scale tiny --out",
    "demo": "demo --out",
    "export": "export gone.model --out",
    "curve": "curve --recordings gone.csv --events gone.csv --out",
    "review": "review --recordings gone.csv --events gone.csv --tolerance 1 --out",
    "live": "live gone.model --state",
}


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_asks_first(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("torch")
    """None of the inputs exists: a command that looked at them first would complain of those."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(OutputError, match=r"--\S+ /dev/null/folder.* cannot be written: Not a dir"):
        call(*COMMANDS[command].split(), NOWHERE)
    assert not [*tmp_path.iterdir()]


def test_a_file_is_no_folder_and_a_table_has_a_suffix(tmp_path: Path):
    with pytest.raises(OutputError, match="a folder; the name of a file expected"):
        check_output(tmp_path)
    (tmp_path / "a").write_text("")
    with pytest.raises(OutputError, match="a file; the name of a folder expected"):
        check_output(tmp_path / "a", folder=True)
    with pytest.raises(OutputError, match="File name too long"):
        check_output(tmp_path / ("a" * 5000))
    with pytest.raises(ConfigError, match="a suffix among"):
        call("detect", "gone.model", "--recordings", "gone.csv", "--out", tmp_path / "a.doc")


def one(samples: int = 50) -> Recordings:
    return Recordings.of([Recording.of(np.zeros(samples), id="a", period=1.0)])


KILLED = """
import os, sys
from pathlib import Path
from bdl.formats.atomic_files import atomic
with atomic(Path(sys.argv[1]) / "a.npy") as temporary:
    temporary.write_bytes(b"half")
    os.kill(os.getpid(), 9)
"""


def test_the_next_run_removes_what_a_killed_one_left(tmp_path: Path):
    store = tmp_path / "store"
    store.mkdir()
    assert subprocess.run([sys.executable, "-c", KILLED, str(store)], check=False).returncode == -9
    [left] = store.iterdir()
    assert left.name.startswith(".a.npy.")
    prepare(one(), store)
    assert sorted(file.name for file in store.iterdir()) == ["a.npy", "manifest.json"]


def test_what_a_living_process_writes_is_left_alone(tmp_path: Path):
    mine = temporary_path(tmp_path / "a.csv")
    mine.write_text("")
    parent = tmp_path / mine.name.replace(f"-{os.getpid()}-", f"-{os.getppid()}-")
    parent.write_text("")
    elsewhere = tmp_path / ".a.csv.00000000-1-00000000-00000000.tmp"  # on another machine
    elsewhere.write_text("")
    check_output(tmp_path / "a.csv")
    assert sorted(tmp_path.iterdir()) == sorted([mine, parent, elsewhere])
