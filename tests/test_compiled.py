"""Compiled functions: loaded late, equal to plain Python, cached where a folder can be written."""

import os
import pickle
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bdl import compiled as module
from bdl.compiled import Compiled, compiled
from bdl.scaling.quartiles import _count_high

SOURCE = """
import numpy as np
from bdl.compiled import announce_compilation, compiled

@compiled
def double(values, i):
    return 2 * values[i]

@compiled
def total(values):
    result = 0.0
    for i in range(len(values)):
        result += double(values, i)
    return result

if __name__ == "__main__":
    announce_compilation(lambda: print("compiling"))
    print(total(np.arange(4.0)))
"""


@compiled
def double(values, i):
    return 2 * values[i]


@compiled(small_in_python=True)
def total(values):
    result = 0.0
    for i in range(len(values)):
        result += double(values, i)
    return result


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A program of compiled functions, in a folder of its own."""
    path = tmp_path / "bdl" / "example.py"
    path.parent.mkdir()
    path.write_text(SOURCE)
    return path


def run(program: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "HOME": str(program.parent), **environment}
    environment.pop("NUMBA_CACHE_DIR", None)
    return subprocess.run(
        [sys.executable, str(program)], env=environment, capture_output=True, text=True, check=True
    )


def test_small_inputs_are_processed_in_python_until_patience_ends(monkeypatch):
    fresh, called = Compiled(total.py_func, small_in_python=True), []
    monkeypatch.setattr(Compiled, "dispatcher", property(lambda _: called.append))
    monkeypatch.setattr(module, "PATIENCE", 10)
    monkeypatch.setattr(module, "_processed", 0)
    assert fresh(np.arange(4.0)) == 12.0
    assert fresh(np.arange(4.0)) == 12.0
    assert not called
    fresh(np.arange(4.0))
    assert len(called) == 1


def test_both_ways_give_the_same(monkeypatch):
    values = np.random.default_rng(0).normal(size=100)
    assert total.dispatcher(values) == total.py_func(values)


def test_other_processes_find_a_function_by_name():
    assert pickle.loads(pickle.dumps(_count_high)) is _count_high


def test_a_second_process_reads_the_cache(program):
    assert run(program).stdout == "compiling\n12.0\n"
    cached = [*program.parent.rglob("*.nbc")]
    assert len(cached) == 2
    assert run(program).stdout == "12.0\n"
    assert [*program.parent.rglob("*.nbc")] == cached


def test_the_cache_of_a_folder_that_cannot_be_written_is_the_user_s(program, tmp_path):
    shutil.rmtree(program.parent / "__pycache__", ignore_errors=True)
    (program.parent / "__pycache__").write_text("a file where a folder is needed")
    assert run(program, XDG_CACHE_HOME=str(tmp_path / "user")).stderr == ""
    assert len([*(tmp_path / "user").rglob("*.nbc")]) == 2


def test_a_disk_that_is_full_is_no_error(program):
    """The folder could be written when it was chosen, and cannot afterwards."""
    full = """if __name__ == "__main__":
    from numba.core import caching
    def full(*_):
        raise OSError(28, "No space left on device")
    caching.IndexDataCacheFile._save_data = full
"""
    program.write_text(SOURCE.replace('if __name__ == "__main__":', full))
    done = run(program)
    assert done.stdout == "compiling\n12.0\n"
    assert done.stderr.count("compiled again each time; set NUMBA_CACHE_DIR") == 1


def test_where_nothing_can_be_written_one_line_says_so(program):
    (program.parent / "__pycache__").write_text("a file where a folder is needed")
    done = run(program, XDG_CACHE_HOME="/dev/null/nowhere")
    assert done.stdout == "compiling\n12.0\n"
    assert done.stderr.count("compiled again each time; set NUMBA_CACHE_DIR") == 1


@pytest.mark.parametrize("rest", [b"cbdl.events\n_NoSuchClass\n.", b"\x80\x04 damaged"])
def test_a_cache_that_cannot_be_read_is_written_anew(program, rest):
    run(program)
    for index in program.parent.rglob("*.nbi"):
        with index.open("rb") as file:
            version = pickle.load(file)
        index.write_bytes(pickle.dumps(version) + rest)
    assert run(program).stdout == "compiling\n12.0\n"
    assert run(program).stdout == "12.0\n"
