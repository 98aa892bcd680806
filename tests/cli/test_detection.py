"""From a project to a model with its score, to detections night after night."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from bdl import Detector
from bdl.cli import INCOMPLETE, app
from bdl.errors import BdlError, ConfigError, InputError, StudyError
from calling import call, call_json
from projects import write_project

FEW = ("--folds", 3, "--bootstrap", 20, "--threads", 1, "--quiet")
MORE = ("--updates", 60, "--learning-rate", 0.03)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that was evaluated and fitted."""
    project = write_project(tmp_path_factory.mktemp("fitted"))
    call("evaluate", project, *FEW, *MORE)
    call("fit", project, *MORE, "--quiet")
    return project


@pytest.fixture
def project(fitted: Path, tmp_path: Path) -> Path:
    """A copy of it, with the same times of change."""
    return Path(shutil.copytree(fitted.parent, tmp_path / "copy")) / "mine"


def test_the_model_has_its_cross_validated_score(fitted: Path) -> None:
    model = Detector.load(fitted / "model.safetensors").model_
    told = call_json("evaluate", fitted, *FEW, *MORE)["rows"]["fast"]
    assert model.cross_validation is not None
    assert (model.cross_validation.folds, model.cross_validation.groups) == (3, 3)
    for part, name in (("scores", "tuned"), ("chosen", "operating point")):
        stored = getattr(model.cross_validation, part)
        assert stored.keys() == told[name].keys()
        for metric, score in stored.items():
            assert score.estimate.to_dict() == told[name][metric]
    card = call_json("show", fitted / "model.safetensors")
    assert card["cross_validation"]["scores"]["mAP"]["value"] == told["tuned"]["mAP"]["value"]
    assert sum(band["detections"] for band in card["reliability"]) > 0
    text = call("show", fitted / "model.safetensors")
    assert "3 folds of 3 groups" in text
    assert "were right within" in text


@pytest.mark.parametrize("change", ["settings", "events", "nothing evaluated"])
def test_a_score_of_anything_else_is_not_taken(project: Path, change: str) -> None:
    words: tuple[object, ...] = MORE
    if change == "settings":
        words = ("--updates", 10)
    elif change == "events":
        file = project.parent / "events.csv"
        table = pl.read_csv(file)
        table.with_columns(pl.col("time") + 1).write_csv(file)
    else:
        shutil.rmtree(project / "evaluation")
    model = project / "other.safetensors"
    told = call_json("fit", project, *words, "--quiet", "--out", model)
    assert "cross-validated" not in told
    assert Detector.load(model).model_.cross_validation is None
    if change != "nothing evaluated":
        with pytest.raises(StudyError, match=r"other (settings|data)"):
            call("fit", project, *words, "--out", model, "--evaluation", project / "evaluation")


def test_a_copy_of_the_same_files_has_the_same_score(project: Path) -> None:
    for file in (project.parent / "signals").iterdir():
        file.touch()
    assert "cross-validated" in call_json("fit", project, *MORE, "--quiet")


def test_a_row_is_an_interval_where_events_are_its_ends(fitted: Path, tmp_path: Path) -> None:
    model, signals = fitted / "model.safetensors", fitted.parent / "signals"
    found = tmp_path / "found.csv"
    told = call_json("detect", model, signals, "--out", found, "--quiet")
    table = pl.read_csv(found)
    assert table.columns == ["recording", "event", "start", "end", "duration", "score"]
    assert told["intervals"] == len(table) > 0
    assert set(table["event"]) == {"bout"}
    np.testing.assert_allclose(table["duration"], table["end"] - table["start"])
    longest = Detector.load(model).model_.durations["bout"][1]
    assert table["duration"].max() <= 2 * longest
    told = call_json("detect", model, signals, "--out", tmp_path / "e.csv", "--unpaired", "--quiet")
    events = pl.read_csv(tmp_path / "e.csv")
    assert told["detections"] == len(events) >= 2 * len(table)
    assert (events["score"] >= told["threshold"]).all()
    call("detect", model, signals, "--out", tmp_path / "all.csv", "--all", "--quiet")
    ranking = pl.read_csv(tmp_path / "all.csv")
    assert ranking.columns == ["recording", "event", "time", "score"]
    assert len(ranking) > len(events)


def test_operating_points_by_what_they_cost(fitted: Path, tmp_path: Path) -> None:
    words = ("detect", fitted / "model.safetensors", fitted.parent / "signals", "--quiet")
    out = ("--unpaired", "--out", tmp_path / "d.csv")
    strict = call_json(*words, *out, "--sensitivity", 0.01)
    loose = call_json(*words, *out, "--sensitivity", 1)
    assert strict["threshold"] > loose["threshold"]
    assert strict["detections"] < loose["detections"]
    assert loose["held-out sensitivity"] == 1
    rate = loose["held-out false alarms per day"]
    most = call_json(*words, *out, "--false-alarms-per-day", rate)
    assert most["held-out false alarms per day"] <= rate
    assert most["threshold"] <= loose["threshold"]
    with pytest.raises(ConfigError, match="--all and --sensitivity contradict"):
        call(*words, *out[1:], "--all", "--sensitivity", 0.5)


def test_only_new_and_changed_files_are_processed(fitted: Path, tmp_path: Path) -> None:
    new, found = tmp_path / "new", tmp_path / "found.csv"
    new.mkdir()
    files = sorted((fitted.parent / "signals").glob("*.csv"))
    words = ("detect", fitted / "model.safetensors", new, "--quiet")
    for file in files[:2]:
        shutil.copy(file, new)

    def update() -> int:
        return int(call_json(*words, "--out", found, "--update")["recordings"])

    def whole() -> pl.DataFrame:
        call(*words, "--out", tmp_path / "whole.csv")
        return pl.read_csv(tmp_path / "whole.csv").sort("recording", "start")

    assert update() == 2
    assert update() == 0
    assert pl.read_csv(found).sort("recording", "start").equals(whole())
    shutil.copy(files[2], new)
    assert update() == 1
    (new / files[0].name).write_bytes(files[3].read_bytes())
    assert update() == 1
    assert pl.read_csv(found).sort("recording", "start").equals(whole())
    (new / "damaged.csv").write_text("x\nnothing\n")
    shutil.copy(files[4], new)
    for number in (1, 0):  # the damaged file is tried each time, also where nothing else is new
        again = [*map(str, words), "--out", str(found), "--update", "--json"]
        done = CliRunner().invoke(app, again)
        assert done.exit_code == INCOMPLETE
        told = json.loads(done.stdout)
        assert told["recordings"] == number
        assert told["rows"] == len(pl.read_csv(found)) > 0
        assert "damaged.csv" in told["left_out"][0]
    (new / "damaged.csv").unlink()
    assert update() == 0
    strict = call_json(*words, "--out", found, "--update", "--sensitivity", 0.01)
    assert strict["recordings"] == 4  # another threshold makes another table
    found.unlink()
    assert update() == 4
    (tmp_path / "found.csv.done.json").write_text("{")
    with pytest.raises(InputError, match=r"done\.json"):
        update()


def test_every_command_of_the_way_speaks_json(tmp_path: Path) -> None:
    project = write_project(tmp_path)
    told = call_json(
        "new", tmp_path / "other", "--recordings", tmp_path / "signals", "--period", 1,
        "--events", tmp_path / "events.csv",
    )  # fmt: skip
    assert told["project"] == str(tmp_path / "other")
    assert told["config"]["detector"]["tolerances"]
    assert "apart on average" in told["reasons"]["tolerances"]
    assert told["notes"] == []
    assert call_json("inspect", tmp_path / "signals", "--period", 1)["recordings"]
    assert (
        json.loads(call("fit", project, "--quiet", "--json", "--selection-folds", 0))["recordings"]
        == 6
    )


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("signals", "--recordings", "signals"), "--recordings has no effect with"),
        (("signals", "--update", "--densities", "d"), "--densities cannot be written"),
        (("signals", "--sensitivity", 0.5), "has no operating point"),
        ((), "second argument, or --recordings, --dataset or --config"),
    ],
)
def test_what_detect_refuses(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[object, ...], message: str
) -> None:
    project = write_project(tmp_path)
    monkeypatch.chdir(tmp_path)
    call("fit", project, "--quiet", "--selection-folds", 0, "--updates", 1)
    with pytest.raises(BdlError, match=message):
        call("detect", project / "model.safetensors", *words, "--out", "d.csv", "--quiet")
    assert not (tmp_path / "d.csv").exists()


def test_the_pattern_of_a_model_is_for_folders(tmp_path: Path) -> None:
    project = write_project(tmp_path, pattern="g[01]*.csv")
    events = pl.read_csv(tmp_path / "events.csv")
    events.filter(~pl.col("recording").str.starts_with("g2")).write_csv(tmp_path / "events.csv")
    call("fit", project, "--quiet", "--selection-folds", 0, "--updates", 1)
    words = ("detect", project / "model.safetensors", "--quiet", "--out", tmp_path / "d.csv")
    signals = tmp_path / "signals"
    assert call_json(*words, signals)["recordings"] == 4
    assert call_json(*words, signals / "g2_r2.csv")["recordings"] == 1
    assert call_json(*words, signals / "g2*.csv")["recordings"] == 2
    with pytest.raises(ConfigError, match=r"--pattern .* no effect"):
        call(*words, signals / "g2_r2.csv", "--pattern", "g0*.csv")


def test_the_card_of_a_model_fits_a_terminal_and_tells_two_f1_apart() -> None:
    from bdl.cli.model_card import _text

    score = {"value": 0.5, "low": -0.0001, "high": 0.7}
    card = {
        "model": "m", "events": ["on"], "intervals": [], "channels": ["x"], "units": ["g"],
        "period": 5.0, "encoder": "gru", "objective": "bdl", "scaling": "robust", "reading": None,
        "provenance": None, "quality": None,
        "tolerances": [60.0, 300.0, 600.0, 1200.0, 3600.0],
        "cross_validation": {
            "folds": 2, "groups": 2, "recordings": 2, "scores": {"mF1": score, "F1@3600": score},
            "chosen": {"F1@3600>=0": score, "false_alarms_per_day@3600>=0": score},
        },
        "operating_point": None,
        "reliability": [
            {"low": 0.00101, "high": 0.93412, "detections": 123456, "right": [0.5] * 5}
        ],
    }  # fmt: skip
    lines = _text(card).splitlines()
    assert max(map(len, lines)) <= 80
    starts = [line.split("  ")[1] for line in lines if line.startswith("  ")]
    assert starts[:2] == ["mean best F1", "best F1@3600"]
    assert "F1@3600" in starts[2:]
    assert any("0.500 [0.000, 0.700]" in line for line in lines)
