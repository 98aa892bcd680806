"""`bdl new` writes a configuration that `bdl fit` runs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from bdl import read_events, read_recordings
from bdl.errors import ConfigError, InputError
from calling import call, call_json


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


def test_events_that_cannot_be_learned_from_are_named(project: Path) -> None:
    data, events = project.parent / "data", project.parent / "wrong.csv"
    words = ("--recordings", data, "--period", 0.1, "--events", events)
    table = pl.read_csv(project.parent / "events.csv")
    table.with_columns(pl.col("time") * 1000).write_csv(events)
    with pytest.raises(InputError, match=r"all 72 events are outside .* --column sample=NAME"):
        call("new", project.parent / "ms", *words)
    unlearnable = pl.DataFrame({"recording": ["a", "g"], "event": "spike", "time": [5000.0, 5.0]})
    pl.concat([table, unlearnable]).write_csv(events)
    notes = call_json("new", project.parent / "two", *words)["notes"]
    assert any("events of 1 recordings" in note and "(g)" in note for note in notes)
    assert any("1 of 74 events are outside" in note for note in notes)
    with pytest.raises(ConfigError, match="--event-period has no effect"):
        call("new", project.parent / "steps", *words, "--event-period", 0.1)


def test_sample_numbers_are_converted_with_the_period_of_the_recordings(project: Path) -> None:
    place = project.parent
    table = pl.read_csv(place / "events.csv")
    samples = table.with_columns(sample=(pl.col("time") * 10).round().cast(int)).drop("time")
    samples.write_csv(place / "samples.csv")
    words = ("--recordings", place / "data", "--period", 0.1)
    call("convert", place / "samples.csv", *words, "--out", place / "seconds.csv")
    assert pl.read_csv(place / "seconds.csv")["time"].to_list() == pytest.approx(table["time"])
    call("new", place / "numbers", *words, "--events", place / "samples.csv")
    config = yaml.safe_load((place / "numbers" / "bdl.yaml").read_text())
    assert config["detector"] == yaml.safe_load((project / "bdl.yaml").read_text())["detector"]


def test_an_existing_project_is_not_overwritten(project: Path) -> None:
    with pytest.raises(ConfigError, match="exists already"):
        call("new", project, "--recordings", "x", "--events", "y")


@pytest.mark.slow
def test_fit_runs_the_configuration(project: Path) -> None:
    model, out = project / "model.safetensors", project / "found.csv"
    call("fit", "--config", project / "bdl.yaml", "--out", model, "--epochs", 2)
    call("detect", model, "--config", project / "bdl.yaml", "--out", out)
    assert pl.read_csv(out).columns == ["recording", "event", "time", "score"]


def test_a_project_has_the_kernel_width_and_the_separation_of_the_defaults(tmp_path: Path) -> None:
    """They are no lines of the configuration, so that they are chosen when it is fitted."""
    pytest.importorskip("torch")
    from bdl import Detector

    rng, rows = np.random.default_rng(0), []
    (tmp_path / "data").mkdir()
    for name in "abc":
        pl.DataFrame({"x": rng.normal(size=7200)}).write_csv(tmp_path / "data" / f"{name}.csv")
        minutes = np.sort(rng.choice(np.arange(5, 115, 2), 12, replace=False))
        rows += [(name, ("on", "off")[i % 2], 60.0 * minute) for i, minute in enumerate(minutes)]
    table = pl.DataFrame(rows, schema=["recording", "event", "time"], orient="row")
    table.write_csv(tmp_path / "events.csv")
    words = ("--recordings", tmp_path / "data", "--events", tmp_path / "events.csv")
    output = call("new", tmp_path / "mine", *words, "--period", 1)
    assert f"bdl evaluate {tmp_path / 'mine'} --folds 3, then" in " ".join(output.split())
    config = yaml.safe_load((tmp_path / "mine" / "bdl.yaml").read_text())["detector"]
    recordings = read_recordings(tmp_path / "data", period=1.0)
    events = read_events(tmp_path / "events.csv")
    tiny = {
        "encoder": {"kind": "recurrent", "width": 4, "blocks": 1},
        "training": {"updates": 1, "batch": 1},
        "selection": {"folds": 0},
    }
    chosen = []
    for given in ({}, config):
        kernel = Detector(**tiny, **given).fit(recordings, events)
        classes = Detector(**tiny, **given, objective="seg-ce").fit(recordings, events)
        chosen.append((kernel.model_.objective, classes.model_.decoder))
    assert chosen[0] == chosen[1]
    assert chosen[0][0].kernel.sigma == 30.0
    assert chosen[0][1].separation > 0
