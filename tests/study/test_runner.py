"""The runner on a small nested study of simulated sleep."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from typer.testing import CliRunner

from bdl.cli import app
from bdl.detector.presets import PresetName
from bdl.errors import ConfigError, StudyError
from bdl.runs.run_directory import RunDirectory
from bdl.study import catalogue
from bdl.study.data_source import DataSource
from bdl.study.protocol import Protocol, Row
from bdl.study.results import Results
from bdl.study.row_models import RowModel
from bdl.study.runner import run_study
from bdl.study.scale import scale_of
from bdl.study.splits import Fold, ListedFolds
from bdl.study.status import status_of
from bdl.training import Training
from bdl.workers import Workers

ONE_THREAD = Workers(threads=1)

Contents = Callable[[Path], dict[str, bytes]]


@pytest.fixture
def copied(finished: tuple[Path, Results], tmp_path: Path) -> Path:
    return Path(shutil.copytree(finished[0], tmp_path / "run"))


def quick(nested: Protocol, **changes: object) -> Protocol:
    """One row, one rate, one epoch."""
    training = Training(epochs=1, batch=2, accelerator="cpu")
    quick = nested.replace(rows=nested.rows[:1], differences=(), training=training)
    return quick.replace(**{"learning_rates": (3e-3,), **changes})


def test_every_row_has_every_figure(finished: tuple[Path, Results], nested: Protocol):
    _, results = finished
    for row in nested.rows:
        for metric in nested.metrics:
            for fold in (None, 0, 1):
                values = results.values(row.name, "tuned", metric.name, seed=0, fold=fold)
                assert 0 <= values[0] <= 1
    [difference] = [d for d in results.differences if (d.stage, d.metric) == ("tuned", "mAP")]
    pair = [
        results.values(name, "tuned", "mAP", seed=0, fold=None)[0]
        for name in (difference.row, difference.minus)
    ]
    assert difference.estimate.value == pytest.approx(pair[0] - pair[1])
    assert difference.estimate.low <= difference.estimate.high


def test_a_pooled_score_is_that_of_the_detections_on_disk(
    finished: tuple[Path, Results], sleep: Path
):
    from bdl.datasets import load
    from bdl.evaluation import match
    from bdl.events import Events

    folder, results = finished
    dataset = load("sleep", sleep)
    files = sorted(folder.glob("steps/final/00-bdl/fold-*/seed-0-*/detections/tuned.csv"))
    assert len(files) == 2
    detections = Events.concat(Events.from_frame(pl.read_csv(file)) for file in files)
    matches = match(
        dataset.events, detections, dataset.settings.tolerances, recordings=dataset.recordings.ids
    )
    ours = results.values("BDL", "tuned", "mAP", seed=0, fold=None)[0]
    assert ours == pytest.approx(matches.mean_average_precision())


def test_the_test_part_is_opened_once_and_after_the_freeze(finished: tuple[Path, Results]):
    run = RunDirectory(finished[0])
    ledger = run.ledger()
    noted = [entry["event"] for entry in ledger if entry["event"] != "step"]
    assert noted == ["started", "frozen", "test opened", "finished"]
    opened = next(entry for entry in ledger if entry["event"] == "test opened")
    assert opened["frozen"] == run.get_json("frozen.json")["digest"]
    before = [e["kind"] for e in ledger if e["event"] == "step" and e["time"] < opened["time"]]
    assert "score" not in before


def test_a_finished_study_computes_nothing_again(
    copied: Path, sleep: Path, nested: Protocol, contents: Contents
):
    before, steps = contents(copied), len(list((copied / "ledger").glob("*-step-*")))
    run_study(nested, copied, data=sleep, workers=ONE_THREAD)
    assert contents(copied) == before
    assert len(list((copied / "ledger").glob("*-step-*"))) == steps


def test_lost_steps_come_back_with_the_same_bytes(
    copied: Path, sleep: Path, nested: Protocol, contents: Contents
):
    before = contents(copied)
    shutil.rmtree(copied / "steps/select/00-bdl/fold-0")
    (next(copied.glob("steps/final/01-*/fold-1/*")) / "done.json").unlink()
    shutil.rmtree(next(copied.glob("steps/score-*")))
    (copied / "tables.md").unlink()
    run_study(nested, copied, data=sleep, workers=ONE_THREAD)
    assert contents(copied) == before


def test_another_protocol_is_refused(copied: Path, sleep: Path, nested: Protocol):
    with pytest.raises(StudyError, match=r"another protocol \(differs in seeds\)"):
        run_study(nested.replace(seeds=(7,)), copied, data=sleep, workers=ONE_THREAD)


def test_changed_data_is_refused(copied: Path, sleep: Path, nested: Protocol, tmp_path: Path):
    other = Path(shutil.copytree(sleep, tmp_path / "other"))
    table = pl.read_csv(other / "train_events.csv")
    table.with_columns(step=pl.col("step") + 12).write_csv(other / "train_events.csv")
    with pytest.raises(StudyError, match="not the data with which the study"):
        run_study(nested, copied, data=other, workers=ONE_THREAD)


def test_a_copy_of_the_data_is_the_same_data(
    copied: Path, sleep: Path, nested: Protocol, tmp_path: Path
):
    other = Path(shutil.copytree(sleep, tmp_path / "other", copy_function=shutil.copyfile))
    assert run_study(nested, copied, data=other, workers=ONE_THREAD).records


@pytest.mark.parametrize("name", ["split.json", "frozen.json"])
def test_an_edited_file_is_refused(copied: Path, sleep: Path, nested: Protocol, name: str):
    data = json.loads((copied / name).read_text())
    first = data["parts" if name == "split.json" else "choices"][0]
    first["test" if name == "split.json" else "epoch"] = ["x"]
    (copied / name).write_text(json.dumps(data))
    with pytest.raises(StudyError, match=name):
        run_study(nested, copied, data=sleep, workers=ONE_THREAD)


def test_another_environment_is_refused(copied: Path, sleep: Path, nested: Protocol):
    run = RunDirectory(copied)
    run.put_json("environment.json", {**run.get_json("environment.json"), "torch": "1.0"})
    with pytest.raises(StudyError, match=r"torch 1\.0"):
        run_study(nested, copied, data=sleep)


def test_a_rate_that_diverges_is_recorded_and_the_rest_goes_on(
    sleep: Path, nested: Protocol, tmp_path: Path
):
    training = Training(epochs=4, batch=2, accelerator="cpu")
    protocol = quick(nested, training=training, learning_rates=(1e30, 3e-3))
    results = run_study(protocol, tmp_path, data=sleep, workers=ONE_THREAD)
    assert len(results.failed) == 2
    assert all("learning rate 1e+30: " in text for text in results.failed)
    assert results.values("BDL", "selection", "learning rate", seed=None, fold=0) == {None: 3e-3}
    assert results.values("BDL", "tuned", "mAP", seed=0, fold=None)
    assert "Failed: BDL, fold 0" in (tmp_path / "tables.md").read_text()


def test_a_fold_without_events_to_choose_on_is_refused(
    sleep: Path, nested: Protocol, tmp_path: Path
):
    folder = Path(shutil.copytree(sleep, tmp_path / "sleep"))
    table = pl.read_csv(folder / "train_events.csv")
    ids = sorted(table["series_id"].unique())
    table.filter(pl.col("series_id") != ids[2]).write_csv(folder / "train_events.csv")
    part = Fold(train=tuple(ids[:2]), calibration=(ids[2],), test=tuple(ids[3:]))
    protocol = nested.replace(split=ListedFolds(parts=(part,)))
    with pytest.raises(ConfigError, match="fold 0: no event 'onset' in the calibration part"):
        run_study(protocol, tmp_path / "run", data=folder, workers=ONE_THREAD)
    assert not (tmp_path / "run" / "protocol.json").exists()


@pytest.mark.parametrize("preset", [None, "fast", "best", "paper"])
def test_scaling_and_jitter_of_a_study_are_for_rows_without_a_preset(
    sleep: Path, nested: Protocol, preset: PresetName | None
):
    row = nested.rows[0] if preset is None else Row.of_preset("P", preset, {})
    scaled = nested.replace(
        settings={"scaling": "robust", "jitter": 3}, rows=(row,), differences=()
    )
    benchmark = DataSource.of(scaled, sleep, trust=False).load()
    settings = RowModel.of(scaled, row, benchmark).settings
    own = {None: "robust", "fast": "automatic", "best": "automatic", "paper": "none"}
    assert settings.features.scaling.kind == own[preset]
    assert settings.training.jitter == (3 if preset is None else 0)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"metrics": ("mAP", "AP@999")},
            r"AP@999: the study has no tolerance of 999 s; it has 60, ",
        ),
        ({"metrics": ("AP@60:zzz",)}, r"no event type 'zzz'; its types are onset, wakeup"),
    ],
)
def test_metrics_that_the_data_do_not_have_are_refused(
    sleep: Path, nested: Protocol, tmp_path: Path, change: dict[str, Any], message: str
):
    with pytest.raises(ConfigError, match=message):
        run_study(nested.replace(**change), tmp_path / "run", data=sleep, workers=ONE_THREAD)
    assert not (tmp_path / "run/steps").exists()


def test_states_need_intervals(nested: Protocol, tmp_path: Path):
    scale = scale_of(catalogue.load("bowshock"), "tiny")
    protocol = quick(nested, data="bowshock", analyses=("states",), metrics=("mAP",))
    with pytest.raises(ConfigError, match="analyses: states: data set 'bowshock' has no interv"):
        run_study(protocol, tmp_path / "run", scale=scale, workers=ONE_THREAD)


def test_no_leak(sleep: Path, nested: Protocol, tmp_path: Path, contents: Contents):
    """Noise in place of all test labels changes no selection and no weight."""
    table = pl.read_csv(sleep / "train_events.csv")
    ids = sorted(table["series_id"].unique())
    part = Fold(train=tuple(ids[:2]), calibration=tuple(ids[2:4]), test=tuple(ids[4:]))
    protocol = quick(nested, split=ListedFolds(parts=(part,)))
    noise = np.random.default_rng(1).permutation(len(table)) * 3 + 50
    noisy = table.with_columns(
        step=pl.when(pl.col("series_id").is_in(ids[4:]))
        .then(pl.Series(np.sort(noise)))
        .otherwise(pl.col("step"))
        .cast(table["step"].dtype)
    )
    other = Path(shutil.copytree(sleep, tmp_path / "noisy"))
    noisy.write_csv(other / "train_events.csv")
    results = [
        run_study(protocol, tmp_path / name, data=data, workers=ONE_THREAD)
        for name, data in (("clean", sleep), ("noise", other))
    ]
    clean, noise_run = (contents(tmp_path / name) for name in ("clean", "noise"))
    kept = [name for name in clean if name.startswith(("steps/select", "steps/final"))]
    assert any(name.endswith("model.safetensors") for name in kept)
    for name in [*kept, "frozen.json", "split.json"]:
        assert clean[name] == noise_run[name], name
    assert clean["data.json"] != noise_run["data.json"]
    assert results[0].records != results[1].records


def test_status_reads_the_directory_alone(finished: tuple[Path, Results], nested: Protocol):
    status = status_of(str(finished[0]))
    assert status.done == status.total == {"select": 8, "final": 4, "score": 1}
    assert status.seconds_left == 0
    assert set(status.live) == {"BDL", "Segmentation"}
    assert all(score is not None for row in status.live.values() for score in row)


def test_status_of_a_study_half_done(copied: Path):
    for folder in copied.glob("steps/final/01-*"):
        shutil.rmtree(folder)
    shutil.rmtree(next(copied.glob("steps/score-*")))
    (copied / "results.json").unlink()
    for entry in (copied / "ledger").glob("*-step-*"):
        step = json.loads(entry.read_text())["step"]
        if step.startswith(("final/01", "score")):
            entry.unlink()
    status = status_of(str(copied))
    assert (status.done["final"], status.results) == (2, None)
    assert status.seconds_left > 0


def test_the_command_line(copied: Path, sleep: Path):
    runner = CliRunner()
    listed = json.loads(runner.invoke(app, ["study", "list", "--json"]).stdout)
    assert {"sleep-nested", "fraud"} <= {study["name"] for study in listed}
    assert all(study["trainings"] > 0 and study["needs"] for study in listed)
    status = json.loads(runner.invoke(app, ["study", "status", str(copied), "--json"]).stdout)
    assert status["finished"]
    assert "fold 0" in runner.invoke(app, ["study", "status", str(copied)]).stdout
    printed = runner.invoke(app, ["study", "table", str(copied)]).stdout
    assert printed == (copied / "tables.md").read_text()
    tex = runner.invoke(app, ["study", "table", str(copied), "--to", "tex"]).stdout
    assert r"\toprule" in tex


def test_options_of_the_data_set_reach_the_protocol(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    protocols: list[Protocol] = []

    def stop(protocol: Protocol, *_: object, **__: object):
        protocols.append(protocol)
        raise ConfigError("stopped")

    monkeypatch.setattr("bdl.study.runner.run_study", stop)
    arguments = ["study", "run", "hapt-nested", "--out", str(tmp_path / "run")]
    result = CliRunner().invoke(app, [*arguments, "--option", "task=transitions"])
    assert str(result.exception) == "stopped"
    assert protocols[0].data.model_dump() == {"kind": "hapt", "task": "transitions"}
    result = CliRunner().invoke(app, [*arguments, "--option", "tasks=transitions"])
    assert "has no option 'tasks'" in str(result.exception)


def test_the_command_line_refuses_what_it_cannot_do(tmp_path: Path):
    runner = CliRunner()
    result = runner.invoke(app, ["study", "run", "sleep-nested", "--out", str(tmp_path / "run")])
    assert isinstance(result.exception, ConfigError)
    result = runner.invoke(app, ["study", "status", str(tmp_path)])
    assert isinstance(result.exception, StudyError)


def test_the_list_tells_what_the_paper_leaves_open():
    listed = CliRunner().invoke(app, ["study", "list", "--verbose"])
    assert listed.exit_code == 0
    assert "chb21 and chb01 are one person" in " ".join(listed.stdout.split())
