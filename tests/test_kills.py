"""Commands killed at random moments: run again, they end with the bytes of an undisturbed run."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pytest

from calling import call
from learning import spikes
from processes import started
from recording_tables import write_tables

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc"),
]
SIGNALS = (signal.SIGKILL, signal.SIGTERM, signal.SIGINT)
PROTOCOL = """
name: killed
data: sleep
split: {kind: folds, folds: 2, seed: 0, calibration: 0.3, calibration_seed: 5}
rows: [{name: BDL, objective: bdl-hard, encoder: {kind: recurrent, width: 4, blocks: 1}}]
training: {epochs: 1, batch: 2, accelerator: cpu}
learning_rates: [3.0e-3]
window: 43200.0
seeds: [0]
metrics: [mAP]
bootstrap: {replicates: 10}
"""


def run(*words: object) -> float:
    """Run a command to its end; how long it took."""
    began = time.monotonic()
    with started("-m", "bdl", *words) as family:
        assert family.process.wait(300) == 0
    return time.monotonic() - began


def kill(*words: object, moment: float, number: signal.Signals) -> None:
    """Run a command and end it by a signal after a while; nothing of it stays alive."""
    with started("-m", "bdl", *words) as family:
        time.sleep(moment)
        assert family.end(number) == []


def contents(path: Path) -> dict[str, bytes]:
    """Every file of a folder, or a single one, but for what holds times, places and locks."""
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    others = ("ledger", "lock", "lock.json", "files.json", "outputs.json")
    names = {file: file.relative_to(path).parts or (file.name,) for file in files}
    return {"/".join(names[f]): f.read_bytes() for f in files if names[f][0] not in others}


def check(
    command: Callable[[Path], tuple[object, ...]],
    tmp_path: Path,
    name: str,
    signals: Sequence[signal.Signals] = SIGNALS,
) -> None:
    """End a command by several signals, let it end, and compare what it wrote."""
    whole, broken = tmp_path / "whole" / name, tmp_path / "broken" / name
    took = run(*command(whole))
    rng = np.random.default_rng(0)
    for number in signals:
        kill(*command(broken), moment=float(rng.uniform(0.4, 1.0)) * took, number=number)
    run(*command(broken))
    assert contents(broken) == contents(whole)
    places = (whole.parent, broken.parent)
    assert len({tuple(sorted(file.name for file in place.iterdir())) for place in places}) == 1


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    recordings, events = spikes(6, samples=4_000)
    write_tables(recordings, folder / "recordings")
    from bdl.formats import write_events

    write_events(events, folder / "events.csv")
    return folder


@pytest.fixture(scope="module")
def model(data: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("model") / "model.bdl"
    call(*fit(data, file))
    return file


def fit(data: Path, out: Path) -> tuple[object, ...]:
    return (
        *(
            "fit",
            "--recordings",
            data / "recordings",
            "--events",
            data / "events.csv",
            "--out",
            out,
        ),
        *("--encoder", "{kind: recurrent, width: 8, blocks: 1}", "--stride", 4),
        *("--epochs", 2, "--selection-folds", 0, "--window", 2000, "--quiet"),
    )


def test_prepare(data: Path, tmp_path: Path):
    source = data / "recordings"
    check(lambda out: ("prepare", source, "--out", out), tmp_path, "store")


def test_fit(data: Path, tmp_path: Path):
    check(lambda out: fit(data, out), tmp_path, "model.bdl")


def test_detect(data: Path, model: Path, tmp_path: Path):
    check(
        lambda out: ("detect", model, data / "recordings", "--out", out, "--quiet"),
        tmp_path,
        "detections.csv",
    )


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """A command for a small study, but for the run directory and the back end."""
    from bdl.datasets import Sleep

    folder = tmp_path_factory.mktemp("study")
    Sleep().simulate(folder / "sleep", recordings=4, days=1, seed=3)
    (folder / "protocol.yaml").write_text(PROTOCOL)
    words = ("study", "run", folder / "protocol.yaml", "--data", folder / "sleep")
    return (*words, "--jobs", 2, "--threads", 1)


@pytest.mark.parametrize(
    ("backend", "signals"),
    [("loky", SIGNALS), ("ray", [signal.SIGKILL]), ("dask", [signal.SIGINT])],
    ids=["loky", "ray", "dask"],
)
def test_study(
    backend: str, signals: Sequence[signal.Signals], study: tuple[object, ...], tmp_path: Path
):
    if backend != "loky":
        pytest.importorskip({"ray": "ray", "dask": "distributed"}[backend])
    check(lambda out: (*study, "--backend", backend, "--out", out), tmp_path, "run", signals)
