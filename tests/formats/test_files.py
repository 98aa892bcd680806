"""Whole-or-nothing writing, safe names, finding files."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bdl.errors import BdlError, InputError, OutputError
from bdl.formats.atomic_files import atomic
from bdl.formats.files import content_hash, existing, matching, reading, safe_name
from bdl.formats.outputs import remove_leftovers


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fail() -> None:
        with atomic(target) as temporary:
            temporary.write_text("half")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert target.read_text() == "old"
    assert [file.name for file in tmp_path.iterdir()] == ["a.txt"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_no_space_left_is_our_error_and_the_target_stays(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")

    def fill() -> None:
        with atomic(target), open("/dev/full", "w") as full:
            full.write("x")

    with pytest.raises(OutputError, match=r"a\.txt: cannot be written: No space left"):
        fill()
    assert target.read_text() == "old"


def test_a_folder_that_is_a_file_cannot_be_written_into(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(OutputError, match="cannot be written"), atomic(tmp_path / "x" / "a.txt"):
        pass


@pytest.mark.parametrize(
    "id", ["../../x", "a/b", "a\\b", "..", ".", "", "/etc/passwd", "a\0b", ".hidden", "x" * 300]
)
def test_ids_that_leave_the_folder_are_refused(id: str) -> None:
    with pytest.raises(InputError, match="cannot be a file name"):
        safe_name(id)


@given(st.text())
def test_a_safe_name_stays_in_its_folder(id: str) -> None:
    try:
        name = safe_name(id)
    except BdlError:
        return
    assert (Path("/folder") / name).resolve().parent == Path("/folder")


def test_missing_empty_and_unmatched_files_are_named(tmp_path: Path) -> None:
    (tmp_path / "zero.csv").touch()
    with pytest.raises(InputError, match="zero bytes"):
        existing(tmp_path / "zero.csv")
    with pytest.raises(InputError, match="no such file"):
        existing(tmp_path / "none.csv")
    with pytest.raises(InputError, match="no file matching"):
        matching(tmp_path, (".parquet",))
    with pytest.raises(InputError, match="no file matches this pattern"):
        matching(str(tmp_path / "*.npz"), (".npz",))


def test_folders_globs_and_patterns_find_sorted_files(tmp_path: Path) -> None:
    for name in ("b.csv", "a.csv", "c.txt", ".d.csv", "deep/e.csv"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x")
    assert [f.name for f in matching(tmp_path, (".csv",))] == ["a.csv", "b.csv"]
    assert [f.name for f in matching(str(tmp_path / "?.csv"), ())] == ["a.csv", "b.csv"]
    assert [f.name for f in matching(tmp_path, (), "**/*.csv")] == ["a.csv", "b.csv", "e.csv"]


def test_the_hash_follows_names_and_contents(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    first.write_text("x")
    second.write_text("y")
    before = content_hash([first, second])
    assert content_hash([second, first]) == before
    second.write_text("z")
    assert content_hash([first, second]) != before


def test_what_a_library_raises_names_the_file() -> None:
    message = r"a\.edf: cannot be read as an EDF file: ZeroDiv"
    with pytest.raises(InputError, match=message), reading("a.edf", "an EDF file"):
        _ = 1 // 0


def test_a_folder_whose_replacement_was_interrupted_has_its_name_again(tmp_path: Path) -> None:
    code = (
        "import os, signal, sys; from bdl.formats import atomic_files\n"
        "replace, calls = os.replace, []\n"
        "def interrupted(*paths):\n"
        "    calls.append(paths)\n"
        "    if len(calls) == 3: os.kill(os.getpid(), signal.SIGKILL)\n"
        "    replace(*paths)\n"
        "atomic_files.os.replace = interrupted\n"
        "for name in ('old', 'new'):\n"
        "    with atomic_files.atomic(sys.argv[1], folder=True) as many: (many / name).touch()\n"
    )
    target = tmp_path / "many"
    subprocess.run([sys.executable, "-c", code, str(target)], check=False)
    assert not target.exists()
    remove_leftovers(tmp_path)
    assert [file.name for file in tmp_path.iterdir()] == ["many"]
    assert [file.name for file in target.iterdir()] == ["old"]
