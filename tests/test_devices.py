"""One model on two processes: the loss and the weights of one, up to rounding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from bdl import Detector

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not torch.distributed.is_available(), reason="torch without gloo"),
]
SCRIPTS = Path(__file__).parent / "naive"


def fit(script: str, *arguments: object, model: Path) -> dict[str, Any]:
    """What a fit in processes of its own tells: losses and the number of processes."""
    paths = os.pathsep.join([*sys.path, str(SCRIPTS.parent)])
    variables = {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "RAY_USAGE_STATS_ENABLED": "0"}
    done = subprocess.run(
        [sys.executable, SCRIPTS / script, *map(str, arguments)],
        env={**os.environ, **variables},
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    output: dict[str, Any] = json.loads(Path(f"{model}.json").read_text())
    return output


@pytest.fixture(scope="module")
def alone(tmp_path_factory) -> Path:
    model = tmp_path_factory.mktemp("alone") / "m"
    assert fit("fit_on_devices.py", 1, model, model=model)["processes"] == 1
    return model


def assert_same(alone: Path, output: dict[str, Any], model: Path) -> None:
    assert output["processes"] == 2
    losses = json.loads(Path(f"{alone}.json").read_text())["losses"]
    np.testing.assert_allclose(output["losses"], losses, rtol=1e-5)
    ours = Detector.load(model).module_.state_dict()
    for name, weight in Detector.load(alone).module_.state_dict().items():
        np.testing.assert_allclose(ours[name], weight, rtol=1e-3, atol=1e-5)


def test_two_processes_learn_what_one_does(alone: Path, tmp_path: Path):
    output = fit("fit_on_devices.py", 2, tmp_path / "m", model=tmp_path / "m")
    assert_same(alone, output, tmp_path / "m")


def test_two_workers_of_ray_learn_what_one_process_does(alone: Path, tmp_path: Path):
    pytest.importorskip("ray.train")
    output = fit("fit_through_ray.py", tmp_path / "m", tmp_path / "ray", model=tmp_path / "m")
    assert_same(alone, output, tmp_path / "m")
