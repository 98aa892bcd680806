"""`bdl doctor` tells what is installed and what is wrong with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import bdl
from bdl import doctor, installation
from calling import call, call_json


def test_it_tells_versions_extras_and_the_machine() -> None:
    output = call_json("doctor", "--sizes")
    assert output["version"] == bdl.__version__
    assert output["versions"]["numpy"] == installation.version("numpy")
    assert output["cores"] >= 1
    assert output["vector_bits"][-1] in (128, 256, 512)
    assert output["free_memory"] > 1e6
    assert output["free_disk"] > 0
    assert "train" in output["extras"]
    assert output["problems"] == []
    assert output["sizes"]["numpy"] > 1e7
    text = call("doctor")
    assert "no problems found" in text
    assert "extra train" in text
    assert max(map(len, text.splitlines())) <= 100


def test_a_missing_library_of_the_base_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "requirements", lambda: {"": ("no-such",), "x": ("nor-this",)})
    examination = doctor.examine()
    assert examination.extras == {"x": ["nor-this"]}
    assert examination.problems == ["no-such is not installed: pip install bdl-events"]


def test_torch_for_cuda_without_a_gpu_is_told_with_the_cure(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    package = tmp_path / "torch"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('not imported by the doctor')")
    (package / "version.py").write_text("cuda: Optional[str] = '12.8'\nhip = None\n")
    call_it = "from bdl.doctor import examine; print('\\n'.join(examine().advice))"
    done = subprocess.run(
        [sys.executable, "-c", call_it],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}:{Path(bdl.__file__).parents[1]}",
             "PATH": "/nowhere"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    if not Path("/proc/driver/nvidia/version").exists():
        assert "built for CUDA 12.8" in done.stdout
        assert "uv pip install --reinstall torch --index-url" in done.stdout


def test_caches_that_cannot_be_written_are_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("a file where a folder is needed")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file" / "below"))
    examination = doctor.examine()
    assert examination.caches == {str(tmp_path / "file" / "below"): False}
    assert "set NUMBA_CACHE_DIR" in examination.advice[0]


def test_a_missing_module_names_its_smallest_extra() -> None:
    assert installation.extra_of("polars") == "datasets"
    assert installation.extra_of("scipy.signal") == "signal"
    assert installation.extra_of("sklearn") == "train"
    assert installation.extra_of("no_such_module") is None


ABSENT = """
import sys
from importlib.abc import MetaPathFinder
class Absent(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition('.')[0] in ('polars', 'scipy', 'sklearn', 'pandas', 'torch'):
            raise ModuleNotFoundError(f'No module named {name!r}', name=name)
sys.meta_path.insert(0, Absent())
from bdl.cli import main
main()
"""


def base(*words: object) -> subprocess.CompletedProcess[str]:
    """A command where only the libraries of the base are installed."""
    return subprocess.run(
        [sys.executable, "-c", ABSENT, *map(str, words)], capture_output=True, text=True
    )


def test_the_base_scores_without_the_optional_libraries(tmp_path: Path) -> None:
    truth, detections = tmp_path / "truth.csv", tmp_path / "found.csv"
    truth.write_text("recording,event,time\na,on,10\na,off,20\nb,on,5\nb,off,9\n")
    detections.write_text(
        "recording,event,time,score\na,on,11,0.9\na,off,21,0.8\nb,on,5,1\nb,off,9,1\n"
    )
    tables = ("score", "--truth", truth, "--detections", detections)
    for words in (
        (*tables, "--tolerance", 3, "--bootstrap", 20, "--json"),
        (*tables, "--collar", 3, "--interval", "x=on,off"),
        ("convert", truth, "--out", tmp_path / "x.parquet"),
        ("inspect", "--events", truth),
    ):
        done = base(*words)
        assert done.returncode == 0, done.stderr
    done = base("simulate", "sleep", "--out", tmp_path / "sim")
    assert done.returncode == 2
    assert done.stderr == "error: polars is not installed: pip install 'bdl-events[datasets]'\n"
