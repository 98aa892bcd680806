"""A package outside of bdl adds a variant of each family by an entry point, and each works."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import bdl

HERE = Path(__file__).parent
OUTSIDE = HERE / "outside"


def test_a_variant_of_each_family_works_from_outside():
    pytest.importorskip("torch")
    path = [str(folder) for folder in (OUTSIDE, HERE, Path(bdl.__file__).parents[1])]
    command = [sys.executable, "-m", "pytest", "-q", "-n", "0", "-p", "no:cacheprovider"]
    command += ["-c", os.devnull, "--rootdir", str(OUTSIDE)]
    done = subprocess.run(
        [*command, str(OUTSIDE / "check_variants.py")],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_table_of_variants_names_the_packages_of_the_families():
    text = (HERE.parent / "CONTRIBUTING.md").read_text("utf-8")
    named = {path.replace("/", ".") for path in re.findall(r"\| `src/(\S+)/NAME\.py`", text)}
    offered = (OUTSIDE / "toy_bdl-1.0.dist-info" / "entry_points.txt").read_text("utf-8")
    groups = {*re.findall(r"^\[(.+)\]$", offered, re.MULTILINE)}
    assert groups == named
    assert all(f"`{group}`" in text for group in named)
    assert all(import_module(package) for package in named)
