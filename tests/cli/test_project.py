"""`bdl new` writes a configuration that `bdl fit` runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from bdl.errors import ConfigError
from calling import call


def _files(folder: Path) -> tuple[Path, Path]:
    rng = np.random.default_rng(0)
    rows = []
    for name in "abcdef":
        values = rng.normal(size=3000)
        times = np.sort(rng.choice(np.arange(50, 2950, 40), 12, replace=False))
        values[times] += 15
        pl.DataFrame({"x": values}).write_csv(folder / f"{name}.csv")
        rows += [{"recording": name, "event": "spike", "time": t / 10} for t in times]
    events = folder.parent / "events.csv"
    pl.DataFrame(rows).write_csv(events)
    return folder, events


@pytest.fixture
def project(tmp_path: Path) -> Path:
    data = tmp_path / "data"
    data.mkdir()
    recordings, events = _files(data)
    call(
        *("new", tmp_path / "mine", "--recordings", recordings),
        *("--events", events, "--period", 0.1),
    )
    return tmp_path / "mine"


def test_every_setting_stands_with_its_reason(project: Path) -> None:
    text = (project / "bdl.yaml").read_text()
    config = yaml.safe_load(text)
    assert config["layout"] == {"period": 0.1}
    assert config["preset"] == "fast"
    assert set(config["detector"]) == {"features", "tolerances", "window"}
    assert config["detector"]["features"].keys() == {"stride", "calendar"}
    lines = text.splitlines()
    at = next(i for i, line in enumerate(lines) if "stride:" in line)
    assert lines[at - 1].lstrip().startswith("#")


def test_an_existing_project_is_not_overwritten(project: Path) -> None:
    with pytest.raises(ConfigError, match="exists already"):
        call("new", project, "--recordings", "x", "--events", "y")


@pytest.mark.slow
def test_fit_runs_the_configuration(project: Path) -> None:
    model, found = project / "model.safetensors", project / "found.csv"
    call("fit", "--config", project / "bdl.yaml", "--out", model, "--epochs", 2)
    call("detect", model, "--config", project / "bdl.yaml", "--out", found)
    assert pl.read_csv(found).columns == ["recording", "event", "time", "score"]
