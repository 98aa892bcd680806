"""``bdl fit`` and ``bdl detect``: from data sets, files and a YAML file, and what they refuse."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import yaml

from bdl import Detector, cli
from bdl.cli.fit_config import FitConfig, read_config
from bdl.cli.options import parse_options
from bdl.datasets import Sleep
from bdl.decoding import Peaks
from bdl.errors import BdlError, ConfigError, InputError, OutputError
from bdl.formats import read_events, write_events
from bdl.kernels import Gaussian
from bdl.training import Training
from calling import call, call_json
from learning import bouts, spikes

ENCODER = {"kind": "recurrent", "width": 4, "blocks": 1}


@pytest.fixture
def files(tmp_path: Path) -> Path:
    """A folder with one CSV a recording, and a table of events."""
    recordings, events = spikes(6)
    (tmp_path / "signals").mkdir()
    for recording in recordings:
        frame = pl.DataFrame(
            {"time": np.arange(len(recording.values)), "x": recording.values[:, 0]}
        )
        frame.write_csv(tmp_path / "signals" / f"{recording.id}.csv")
    write_events(events, tmp_path / "events.csv")
    return tmp_path


def config(folder: Path, **changes: object) -> Path:
    content = {
        "recordings": "signals",
        "events": "events.csv",
        "detector": {
            "encoder": ENCODER,
            "features": {"stride": 4},
            "tolerances": [8.0],
            "training": {"epochs": 2},
        },
        **changes,
    }
    path = folder / "fit.yaml"
    path.write_text(yaml.safe_dump(content))
    return path


def test_a_data_set_there_and_back(tmp_path):
    Sleep().simulate(tmp_path / "sleep", recordings=4, days=3, seed=0)
    source = ["--dataset", "sleep", "--data", tmp_path / "sleep"]
    model = tmp_path / "m.bdl"
    options = ["--objective", "bdl-hard", "--encoder", "gru", "--epochs", 1, "--seed", 0]
    summary = call_json("fit", *source, *options, "--stride", 60, "--out", model, "--quiet")
    assert summary["recordings"] == 4
    assert summary["held-out recordings"] == 4  # each once
    assert 0 <= summary["held-out mAP"] <= 1
    assert sorted(file.name for file in tmp_path.iterdir()) == ["m.bdl", "m.bdl.csv", "sleep"]
    words = ("detect", model, *source, "--out", tmp_path / "d.csv", "--unpaired")
    call(*words, "--densities", tmp_path / "den")
    call("detect", model, *source, "--out", tmp_path / "all.csv", "--all")
    assert len(read_events(tmp_path / "all.csv")) > len(read_events(tmp_path / "d.csv"))
    detections = read_events(tmp_path / "d.csv")
    assert set(detections.types) <= {"onset", "wakeup"}
    assert len(detections) > 0
    assert (tmp_path / "den" / "manifest.json").exists()
    first = model.read_bytes()
    call("fit", *source, *options, "--stride", 60, "--out", model, "--quiet")
    assert model.read_bytes() == first


def test_files_with_proposed_settings(files):
    source = ["--recordings", files / "signals", "--events", files / "events.csv"]
    model = files / "m.bdl"
    call("fit", *source, "--epochs", 1, "--out", model, "--quiet", "--selection-folds", 0)
    call("detect", model, "--recordings", files / "signals", "--out", files / "d.parquet")
    assert read_events(files / "d.parquet").types == ("spike",)


def test_a_yaml_file(files):
    path = config(files)
    model = files / "m.bdl"
    call("fit", "--config", path, "--seed", 3, "--out", model, "--quiet", "--log", files / "log")
    assert (files / "log" / "part-1" / "history.csv").exists()
    call("detect", model, "--config", path, "--out", files / "d.csv", "--quiet")
    assert len(read_events(files / "d.csv")) > 0
    assert read_config(path).recordings == str(files / "signals")


def test_intervals_and_types_of_a_yaml_file(tmp_path):
    recordings, events = bouts(4)
    (tmp_path / "signals").mkdir()
    for recording in recordings:
        frame = pl.DataFrame({"x": recording.values[:, 0]})
        frame.write_parquet(tmp_path / "signals" / f"{recording.id}.parquet")
    write_events(events, tmp_path / "events.csv")
    path = config(
        tmp_path,
        layout={"period": 1.0},
        types=["on", "off"],
        intervals=[{"name": "bout", "onset": "on", "offset": "off"}],
    )
    model = tmp_path / "m.bdl"
    call("fit", "--config", path, "--objective", "seg-ce", "--out", model, "--quiet")
    call("detect", model, "--config", path, "--out", tmp_path / "d.csv", "--quiet")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"colour": "red"}, "colour: unknown key; known are recordings"),
        ({"detector": {"features": {"stride": 4}, "strid": 4}}, "strid: unknown key; known are"),
        ({"detector": {"features": {"stride": 4}, "encoder": "gpt"}}, "gpt"),
        ({"recordings": "nowhere"}, "nowhere"),
        ({"events": "nowhere.csv"}, "nowhere"),
        ({"events": None}, "events: a path expected"),
        ({"preset": "quick"}, "preset"),
        ({"detector": {"selection": {"share": 1.5}}}, r"share \(--share\)"),
        ({"layout": {"colum": "x"}}, "colum"),
        ({"types": ["spike", "beat"]}, "no events of type beat"),
    ],
)
def test_wrong_yaml_files(files, changes, message):
    model = files / "m.bdl"
    with pytest.raises(BdlError, match=message):
        call("fit", "--config", config(files, **changes), "--out", model, "--quiet")
    assert not model.exists()


def test_options_take_names_and_mappings(files):
    model = files / "m.bdl"
    decoder = "{kind: peaks, threshold: 0.001, separation: 20}"
    objective = "{kind: bdl, kernel: {kind: gaussian, sigma: 6}}"
    call(
        *("fit", "--config", config(files), "--out", model, "--quiet"),
        *("--decoder", decoder, "--objective", objective, "--no-calendar", "--clip", "none"),
        *("--statistic", "mean", "--statistic", "max", "--scaling", "robust", "--tolerance", 9),
    )
    fitted = Detector.load(model)
    # A decoder that was given is used as it is, without calibration.
    assert fitted.model_.decoder == Peaks(threshold=0.001, separation=20.0)
    assert fitted.model_.objective.kernel == Gaussian(sigma=6.0)
    assert fitted.features.statistics == ("mean", "max")
    assert fitted.features.stride == 4
    assert fitted.training == Training(epochs=2, clip=None)
    assert fitted.tolerances == (9.0,)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--objective", "bdl-soft"], r"objective \(--objective\): 'bdl-soft' is not known"),
        (["--decoder", "transitions"], "reads densities of kind 'state'"),
        (["--objective", "seg-ce", "--decoder", "peaks"], "use transitions"),
    ],
)
def test_wrong_options_are_errors(files, options, message):
    with pytest.raises(ConfigError, match=message):
        call("fit", "--config", config(files), "--out", files / "m.bdl", "--quiet", *options)


def test_files_that_are_no_configuration(files):
    path = files / "x.yaml"
    for content, message in (("- a", "a mapping"), ("a: [", "not YAML"), (None, "cannot be read")):
        path.unlink(missing_ok=True)
        if content is not None:
            path.write_text(content)
        with pytest.raises(ConfigError, match=message):
            read_config(path)


def test_sources_are_one(files):
    out = ["--out", files / "m.bdl", "--quiet"]
    with pytest.raises(ConfigError, match="got none of them"):
        call("fit", *out)
    with pytest.raises(ConfigError, match="--dataset and --recordings"):
        call("fit", *out, "--dataset", "sleep", "--recordings", "x")
    with pytest.raises(ConfigError, match="needs --data"):
        call("fit", *out, "--dataset", "sleep")
    with pytest.raises(ConfigError, match="needs --events"):
        call("fit", *out, "--recordings", files / "signals")
    for options, flag in (
        (["--config", config(files), "--period", 2], "--period has no effect with --config"),
        (["--config", config(files), "--option", "a=b"], "--option has no effect with --config"),
        (["--recordings", files, "--data", files], "--data has no effect with --recordings"),
        (["--dataset", "sleep", "--pattern", "*"], "--pattern has no effect with --dataset"),
    ):
        with pytest.raises(ConfigError, match=flag):
            call("fit", *out, *options)
    with pytest.raises(OutputError, match="the name of a file expected"):
        call("fit", "--out", files, "--config", config(files))
    with pytest.raises(ConfigError, match="needs --log"):
        call("fit", *out, "--config", config(files), "--tensorboard")
    with pytest.raises(ConfigError, match="key=value expected"):
        parse_options(["period"])
    with pytest.raises(ConfigError, match="not YAML"):
        parse_options(["period=["])


def test_events_of_other_recordings(files):
    _, events = spikes(7)
    write_events(events, files / "events.csv")
    with pytest.raises(InputError, match=r"not among the 6 given \(r6\)"):
        call(
            "fit",
            "--config",
            config(files),
            "--out",
            files / "m.bdl",
            "--quiet",
        )


def test_detect_refuses_what_is_no_model(files):
    (files / "m.bdl").write_bytes(b"nothing")
    out = ["--recordings", files / "signals", "--out", files / "d.csv"]
    with pytest.raises(InputError, match="not a complete model file"):
        call("detect", files / "m.bdl", *out)
    with pytest.raises(InputError, match="no such file"):
        call("detect", files / "none.bdl", *out)
    assert not (files / "d.csv").exists()


def test_a_fit_config_goes_to_yaml_and_back(files):
    made = read_config(config(files))
    plain = yaml.safe_dump(made.model_dump(mode="json"))
    assert FitConfig(**yaml.safe_load(plain)) == made


@pytest.mark.parametrize(
    "command", ["demo --out demo", "detect m.bdl --recordings r --out d.csv", "evaluate project"]
)
def test_without_torch_a_command_says_which_extra_is_missing(tmp_path, command):
    script = "import sys; sys.modules['torch'] = None; from bdl.cli import main; main()"
    done = subprocess.run(
        [sys.executable, "-c", script, *command.split()],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 2
    assert done.stderr == "error: torch is not installed: pip install 'bdl-events[train]'\n"


def test_a_warning_is_one_sentence_without_code(monkeypatch, capsys):
    monkeypatch.setattr(cli, "app", lambda: warnings.warn("the [bin] is too wide", stacklevel=1))
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        cli.main()
    assert capsys.readouterr().err == "warning: the [bin] is too wide\n"


@pytest.mark.slow
def test_an_interrupted_command_goes_on_to_the_same_file(files):
    path = config(
        files,
        detector={
            "encoder": ENCODER,
            "features": {"stride": 4},
            "tolerances": [8.0],
            "training": {"epochs": 60},
        },
    )

    def start(name: str) -> subprocess.Popen[str]:
        line = f"fit --config {path} --quiet --accelerator cpu --out {files / name}"
        return subprocess.Popen(
            [sys.executable, "-c", "from bdl.cli import main; main()", *line.split()],
            stderr=subprocess.PIPE,
            text=True,
            # A parent in the background may ignore it, and children would inherit that.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )

    assert start("whole.bdl").wait() == 0
    process = start("killed.bdl")
    while not any((files / "killed.bdl.run").rglob("last.ckpt")):
        assert process.poll() is None, "it ended before it could be interrupted"
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGINT)
    message = process.communicate()[1]
    assert process.returncode == 130, message
    assert "run the same command again" in message
    assert not (files / "killed.bdl").exists()
    assert start("killed.bdl").wait() == 0
    assert (files / "killed.bdl").read_bytes() == (files / "whole.bdl").read_bytes()
    assert not (files / "killed.bdl.run").exists()
