"""The command line starts fast: commands are imported when they are called."""

import json
import os
import pkgutil
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
import typer

import bdl
from bdl import cli, compiled
from calling import call


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "bdl", *words], capture_output=True, text=True)


def test_the_table_of_commands_is_in_step_with_the_commands():
    own = {}
    for module in pkgutil.iter_modules(cli.__path__):
        family = getattr(import_module(f"bdl.cli.{module.name}"), "commands", None)
        if isinstance(family, typer.Typer):
            joined = typer.Typer()
            joined.add_typer(family)
            for name, command in typer.main.get_group(joined).commands.items():
                summary = " ".join(command.help.split("\n\n")[0].split())
                own[name] = (summary, module.name)
    assert own == cli.COMMANDS


def test_the_version_is_printed():
    assert bdl.__version__[0].isdigit()
    assert call("--version") == run("--version").stdout == f"bdl {bdl.__version__}\n"


def test_a_mistyped_command_is_named_with_the_likely_one():
    done = run("scor")
    assert done.returncode == 2
    assert "No such command 'scor'. Did you mean 'score'" in done.stderr


def imported(*words: object) -> tuple[str, set[str]]:
    """What a command prints, and the modules it imports."""
    script = (
        "import atexit, json, sys\n"
        "atexit.register(lambda: print('\\n' + json.dumps([*sys.modules])))\n"
        "from bdl.cli import main\n"
        "main()"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *map(str, words)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout, {*json.loads(done.stdout.splitlines()[-1])}


def test_help_imports_no_command():
    printed, modules = imported("--help")
    assert "Score a table of detections" in printed
    assert not {"numpy", "pydantic", "rich", "bdl.cli.scoring"} & modules


@pytest.fixture
def tables(tmp_path: Path) -> Path:
    """A folder with tables of truths, detections and samples."""
    (tmp_path / "truth.csv").write_text("recording,event,time\na,onset,10\nb,onset,50\n")
    (tmp_path / "detections.csv").write_text("recording,event,time,score\na,onset,11,0.9\n")
    (tmp_path / "samples.csv").write_text("time,x\n0,1\n1,2\n2,4\n")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        "score --truth truth.csv --detections detections.csv --tolerance 3",
        "convert truth.csv --out truth.parquet",
        "inspect samples.csv",
        "fit --help",
    ],
)
def test_small_work_needs_no_large_library(tables, monkeypatch, words):
    monkeypatch.chdir(tables)
    _, modules = imported(*words.split())
    heavy = {"pandas", "numba", "scipy", "sklearn", "torch", "polars", "fsspec", "pyarrow.dataset"}
    assert not heavy & modules


@pytest.mark.slow
def test_commands_work_where_nothing_can_be_written(tmp_path):
    """A package and a home that are read-only, for an input that needs compiled functions."""
    package = shutil.copytree(
        Path(bdl.__file__).parent, tmp_path / "bdl", ignore=shutil.ignore_patterns("__pycache__")
    )
    for folder in [package, *(place for place in package.rglob("*") if place.is_dir())]:
        (folder / "__pycache__").write_text("a file where a folder is needed")
    rows = [f"r{i},onset,{10 * i}" for i in range(compiled.PATIENCE or 20_000)]
    (tmp_path / "truth.csv").write_text("\n".join(["recording,event,time", *rows]))
    scored = [f"{row},{i % 97}" for i, row in enumerate(rows)]
    (tmp_path / "found.csv").write_text("\n".join(["recording,event,time,score", *scored]))
    done = subprocess.run(
        [sys.executable, "-m", "bdl", "score", "--truth", "truth.csv", "--detections", "found.csv",
         "--tolerance", "3"],
        cwd=tmp_path, capture_output=True, text=True, check=False,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "XDG_CACHE_HOME": "/dev/null/nowhere"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "mAP 1.0000" in done.stdout
    assert done.stderr.count("warning:") == 1
    assert "compiled again each time; set NUMBA_CACHE_DIR" in " ".join(done.stderr.split())
