"""``import bdl``: what it offers, and what it leaves alone."""

import json
import subprocess
import sys

import pytest

import bdl

OFFERED = [
    "Detector",
    "compare",
    "decode",
    "load",
    "read_events",
    "read_recordings",
    "score",
    "write_events",
]


def fresh(script: str, **environment: str) -> str:
    """What a new process prints."""
    done = subprocess.run(
        [sys.executable, "-c", script], env=environment or None, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_dir_shows_what_people_do():
    assert dir(bdl) == OFFERED
    for name in OFFERED:
        assert callable(getattr(bdl, name))


def test_types_and_version_can_be_imported_but_are_not_listed():
    from bdl import BdlError, Density, Events, IntervalType, Recording, Recordings

    assert issubclass(BdlError, Exception)
    assert all(isinstance(kind, type) for kind in (Density, Events, IntervalType))
    assert Recordings is not Recording
    assert bdl.__version__[0].isdigit()
    with pytest.raises(AttributeError, match="module 'bdl' has no attribute 'nothing'"):
        bdl.nothing  # noqa: B018


def test_importing_loads_nothing_else():
    names = json.loads(fresh("import bdl, json, sys; print(json.dumps([*sys.modules]))"))
    assert not {"numpy", "polars", "pydantic", "numba", "torch", "pyarrow"}.intersection(names)


@pytest.mark.parametrize(
    ("before", "environment", "policy"),
    [
        ("", {}, "PASSIVE"),
        ("", {"OMP_WAIT_POLICY": "active"}, "active"),
        ("", {"GOMP_SPINCOUNT": "5"}, "None"),
        ("import sys; sys.modules['torch'] = sys", {}, "None"),
    ],
)
def test_waiting_threads_sleep_unless_the_user_has_chosen(monkeypatch, before, environment, policy):
    for name in bdl._WAITING:
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    script = f"{before}\nimport bdl, os; print(os.environ.get('OMP_WAIT_POLICY'))"
    assert fresh(script) == policy


def test_products_have_the_same_bits_for_any_threads_unless_the_user_has_chosen(monkeypatch):
    script = "import bdl, os; print(os.environ.get('MKL_CBWR'))"
    monkeypatch.delenv("MKL_CBWR", raising=False)
    assert fresh(script) == "AUTO,STRICT"
    monkeypatch.setenv("MKL_CBWR", "COMPATIBLE")
    assert fresh(script) == "COMPATIBLE"
