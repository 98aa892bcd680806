"""Messages name the option that helps, list what exists, and are in our own words."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

from bdl.cli import COMMANDS, app
from bdl.config import Value, validate
from bdl.decoding import Grid
from bdl.density import Density
from bdl.errors import BdlError, ConfigError
from bdl.formats.densities import write_densities
from calling import call, call_json


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("recording,event,time\na,onset,10\na,offset,20\n")
    Path("f.csv").write_text("recording,event,time,score\na,onset,11,0.9\n")
    return tmp_path


SCORE = "score --truth t.csv --detections f.csv"
COMPARE = "compare --truth t.csv --detections f.csv --tolerance 3"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (f"{SCORE} --tolerance 3 --errors 7", r"\(--tolerance\)"),
        (f"{SCORE} --tolerance 3 --type beep", "the table has offset, onset"),
        (f"{SCORE} --tolerance 3 --regions t.csv", "--regions t.csv: columns recording, start and"),
        (f"{SCORE} --tolerance 3 --recordings t.csv", "--recordings t.csv: .* named twice"),
        (f"{SCORE} --collar -1", "--collar.*: a positive number"),
        (f"{SCORE} --collar 1 --interval x=onset", r"\(--interval\)"),
        (f"{COMPARE} --detections =f.csv", "NAME=PATH expected"),
        (f"{COMPARE} --detections b=f.csv --baseline c", r"\(--baseline\) is none of"),
        ("inspect t.csv --period -1", "--period.* expected, got -1"),
        ("convert t.csv --out x.csv --code onset", "such as --code 1=onset"),
        ("convert t.csv --out x.tsv --to seizures", "--interval seizure=ONSET,OFFSET"),
    ],
)
def test_a_message_names_the_option_that_helps(folder: Path, words: str, problem: str) -> None:
    done = CliRunner().invoke(app, words.split())
    assert done.exit_code != 0
    message = str(done.exception) if isinstance(done.exception, BdlError) else done.output
    assert re.search(problem, message), message


def test_a_text_where_a_number_belongs_is_told_in_our_words(folder: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "bdl", *SCORE.split(), "--tolerance", "abc"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 2
    assert "'--tolerance': a positive number expected, got abc" in done.stderr
    assert "Input should" not in done.stderr


class Inner(Value):
    size: float = 1.0


class Outer(Value):
    inner: Inner = Inner()
    either: int | tuple[float, ...] = 1


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"inner": 3}, "Outer: inner: a mapping expected, got 3"),
        ({"inner": {"sise": 1}}, "Outer: inner: sise: unknown key; known are size"),
        ({"either": "x"}, "Outer: either: a whole number or a list expected, got 'x'"),
        ({"iner": {}}, "Outer: iner: unknown key; known are inner, either"),
    ],
)
def test_a_wrong_value_has_one_line_without_names_of_the_validator(
    data: dict[str, Any], message: str
) -> None:
    for make in (lambda: Outer(**data), lambda: validate(Outer, data, "Outer")):
        with pytest.raises(ConfigError) as caught:
            make()
        assert str(caught.value).removeprefix("Outer: Outer: ") in (
            message,
            message.removeprefix("Outer: "),
        )


def test_entries_that_are_wrong_do_not_make_a_list_too_short() -> None:
    with pytest.raises(ConfigError) as caught:
        Grid.parse({"kind": "peaks", "smooths": ["a"]}, "--grid")
    assert str(caught.value) == "--grid: PeakGrid: smooths.0: a number expected, got 'a'"


@pytest.fixture
def densities(folder: Path) -> Path:
    values = np.array([[0.1], [0.9], [0.2]], np.float32)
    write_densities("d", [Density("a", values, ("onset",), 5.0, stride=1, samples=3)])
    Path("project").mkdir()
    Path("project/bdl.yaml").write_text("recordings: rec\nevents: ../t.csv\n")
    return folder


CALIBRATE = "calibrate d --events t.csv --out c.json"


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ("decode t.csv --out x.csv", "bdl detect --densities FOLDER"),
        ("decode d --out x.csv", r"\(--decoder\).*--tolerance SECONDS"),
        ("decode d --out x.csv --decoder transitions", r"use expected-ap .* \(--decoder"),
        ("decode d --out x.csv --decoder {kind:peaks}", "--decoder"),
        (CALIBRATE, "--tolerance SECONDS"),
        (f"{CALIBRATE} --tolerance 3 --metric AP@4", r"\(--metric, --tolerance\)"),
        (f"{CALIBRATE} --tolerance 3 --column time=when", r"it has .*\(--column time=NAME\)"),
        (f"{CALIBRATE} --tolerance 3 --column recording=event", "--column recording=NAME"),
        (f"{CALIBRATE} --tolerance 3 --code onset=a --code offset=b", "--code CODE=NAME"),
        (f"{CALIBRATE} --tolerance 3 --event-free maybe", "one of 'ignore', 'count' expected, got"),
        ("inspect t.csv --clock hours", "one of 'seconds', 'epoch', 'iso' expected, got 'hours'"),
        ("inspect t.csv --channel x", r"\(--channel\)"),
        ("inspect t.csv --recording x", r"\(--recording NAME\)"),
        ("inspect t.csv --alias a=b", r"unknown option aliases \(--alias\)"),
        ("inspect t.csv --channel-unit g", "--channel-unit x=mg"),
        (
            "inspect t.csv --group-pattern (",
            r"\(--group-pattern\): not a regular expression: missing",
        ),
        ("inspect --events t.csv --interval x=onset,end", "type end; the types are offset, onset"),
        ("inspect t.csv --dataset slep", r"'slep' \(--dataset\) is not known.* sleep"),
        ("inspect", "--events, or both"),
        ("prepare t.csv", "'--out'. Folder of the store"),
        ("prepare t.csv --regular --out .", r"event hold text; name .*--channel\)"),
        ("prepare t.csv --regular --channel event --out .", r"\(--out\)"),
        ("evaluate project --folds 1", "2 or more"),
        ("evaluate nowhere", "bdl new nowhere"),
        ("evaluate t.csv", "the bdl.yaml of a project"),
        ("detect t.csv d --out x.csv", "as `bdl fit` writes it"),
        ("report nowhere --out x.html", "no such file.*bdl evaluate"),
        ("report d --out x.html", "no evaluation or study was started here"),
        ("explore d", "--recordings"),
        ("data fetch sleep --out /proc/x", "--out /proc/x: cannot be written"),
        (f"{SCORE} --tolerance 3 --detection-column time=when", "--detection-column time=NAME"),
        ("convert t.csv --out x.txt --code 1=a", "suffix among"),
    ],
)
def test_a_message_of_other_commands_names_it_too(
    densities: Path, words: str, problem: str
) -> None:
    pytest.importorskip("torch")
    test_a_message_names_the_option_that_helps(densities, words, problem)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a: [", r"bdl.yaml: not YAML at line \d+, column \d+: .*bdl new"),
        ("record: x", "record: unknown key; known are recordings, format"),
        ("detector: {encoder: gruu}", r"encoder \(--encoder\): 'gruu' is not known; .* gru,"),
        ("detector: {training: {epoch: 3}}", "detector: training: epoch: unknown key; known are"),
        ("detector: {features: {stride: a}}", r"stride \(--stride\): a whole number expected"),
        ("detector: {tolerances: [-1]}", r"tolerances \(--tolerance\): more than 0.0 expected"),
        ("detector: {training: {epochs: 1, updates: 2}}", "--epochs, --updates or --budget"),
        ("detector: {objective: bdl, decoder: transitions}", r"\(--decoder\)"),
        ("layout: {zon: UTC}", "unknown option zon .*has recording, channels"),
        ("layout: {channels: x}", r"channels \(--channel\): a list expected, got 'x'"),
        ("types: [beep]", "no events of type beep; it has offset, onset: .*in bdl.yaml"),
        ("annotated: ../t.csv", "start and end expected .* it has recording, event, time"),
    ],
)
def test_a_mistake_in_a_project_is_told_with_its_key(
    densities: Path, text: str, problem: str
) -> None:
    pytest.importorskip("torch")
    Path("project/rec").mkdir()
    rows = "".join(f"{second},{second % 7}\n" for second in range(40))
    for name in "ab":
        Path(f"project/rec/{name}.csv").write_text(f"time,x\n{rows}")
    with open("project/bdl.yaml", "a") as file:
        file.write(text)
    with pytest.raises(BdlError, match=problem):
        call("fit", "project", "--quiet")


@pytest.mark.parametrize(
    "command",
    [name for name in COMMANDS if name not in ("live", "serve", "explore", "study", "data")],
)
def test_every_command_that_ends_speaks_json(command: str) -> None:
    assert "--json" in CliRunner().invoke(app, [command, "--help"], env={"COLUMNS": "200"}).output


def test_detections_of_another_tool_are_scored_by_naming_their_columns(folder: Path) -> None:
    Path("tool.csv").write_text("file,kind,t,conf\na,onset,11,0.9\na,offset,21,0.8\n")
    names = {"event": "kind", "time": "t", "score": "conf"}
    columns = [f"--detection-column={role}={name}" for role, name in names.items()]
    output = call_json(
        "score", "--truth", "t.csv", "--detections", "tool.csv", "--tolerance", 3, *columns
    )
    assert output["mAP"] == 1.0


@pytest.mark.parametrize("name", ["a" * 5000, "a" * 300])
def test_names_that_no_system_takes(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """Whichever command first asks for such a file, one line names it."""
    pytest.importorskip("torch")
    from bdl.cli import main

    for words in (
        ["decode", name, "--out", "d.csv"],
        ["evaluate", name],
        ["new", name, "--recordings", "r", "--events", "e.csv"],
        ["report", name, "--truth", "e.csv"],
        ["show", name],
        ["study", "status", name],
    ):
        monkeypatch.setattr(sys, "argv", ["bdl", *words])
        with pytest.raises(SystemExit) as ended:
            main()
        assert ended.value.code == 2
        message = capsys.readouterr().err
        assert message.startswith("error: "), words
        assert "Traceback" not in message
        assert "too long" in message or "no such" in message.lower(), words
