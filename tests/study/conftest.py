"""A small simulated sleep data set and a small nested protocol on it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from bdl.datasets import Sleep
from bdl.study.protocol import BootstrapSettings, Protocol, Row
from bdl.study.results import Results
from bdl.study.runner import run_study
from bdl.study.splits import Folds
from bdl.training import Training
from bdl.workers import Workers

GRU = {"kind": "recurrent", "width": 8, "blocks": 1}


@pytest.fixture(scope="session")
def sleep(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sleep")
    Sleep().simulate(folder, recordings=6, days=2, seed=3)
    return folder


@pytest.fixture(scope="session")
def nested() -> Protocol:
    return Protocol(
        name="small-nested",
        data="sleep",
        split=Folds(folds=2, seed=0, calibration=0.3, calibration_seed=5),
        rows=(
            Row(name="BDL", objective="bdl-hard", encoder=GRU),
            Row(name="Segmentation", objective="seg-ce", encoder=GRU),
        ),
        training=Training(epochs=2, checkpoint_epochs=(1, 2), batch=2, accelerator="cpu"),
        learning_rates=(3e-3, 1e-2),
        window=43200.0,
        seeds=(0,),
        metrics=("mAP", "AP@60"),
        differences=(("BDL", "Segmentation"),),
        bootstrap=BootstrapSettings(replicates=20),
    )


@pytest.fixture(scope="session")
def finished(
    tmp_path_factory: pytest.TempPathFactory, sleep: Path, nested: Protocol
) -> tuple[Path, Results]:
    """The run directory and the results of the nested protocol."""
    folder = tmp_path_factory.mktemp("run")
    return folder, run_study(nested, folder, data=sleep, workers=Workers(threads=1))


@pytest.fixture(scope="session")
def contents() -> Callable[[Path], dict[str, bytes]]:
    """Every file of a run but for the ledger (times) and the lock (who holds it)."""

    def read(folder: Path) -> dict[str, bytes]:
        left_out = ("ledger", "lock", "lock.json", "data")
        return {
            str(file.relative_to(folder)): file.read_bytes()
            for file in sorted(folder.rglob("*"))
            if file.is_file() and file.relative_to(folder).parts[0] not in left_out
        }

    return read
