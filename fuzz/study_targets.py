"""The run directory of a finished study: whatever is damaged, `bdl study verify` says so."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bdl.datasets import Sleep
from bdl.report.study_content import study_content
from bdl.study import Protocol, Workers, run_study, verify_study
from bdl.study.status import status_of
from fuzz.target import Target, WrongError, contents

PROTOCOL: dict[str, Any] = {
    "name": "fuzz",
    "data": "sleep",
    "split": {"kind": "folds", "folds": 2, "seed": 0, "calibration": 0.3, "calibration_seed": 5},
    "rows": [{"name": "BDL", "objective": "bdl-hard", "encoder": {"kind": "recurrent"}}],
    "training": {"epochs": 1, "batch": 2, "accelerator": "cpu"},
    "learning_rates": [3e-3],
    "window": 43200.0,
    "seeds": [0],
    "metrics": ["mAP"],
    "bootstrap": {"replicates": 10},
}


def targets() -> Iterator[Target]:
    """All files but the ledger, which holds times, and the lock are verified; all are shown."""
    with TemporaryDirectory() as name, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        folder = Path(name)
        Sleep().simulate(folder / "sleep", recordings=4, days=1, seed=0)
        run = folder / "run"
        run_study(Protocol(**PROTOCOL), run, data=folder / "sleep", workers=Workers(threads=1))
        files = contents(folder)
    kept = tuple(file for file in files if file.startswith("run/"))
    damaged = tuple(file for file in kept if not file.startswith(("run/ledger", "run/lock")))

    def verify(folder: Path) -> None:
        verify_study(str(folder / "run"), data=folder / "sleep")
        changed = [file for file in damaged if (folder / file).read_bytes() != files[file]]
        if changed:
            raise WrongError(f"{changed[0]} was changed, and the study verified")

    yield Target("study", files, damaged, verify)

    def show(folder: Path) -> None:
        status_of(str(folder / "run"))
        study_content(folder / "run", data=folder / "sleep")

    yield Target("study report", files, kept, show)
