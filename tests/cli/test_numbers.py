"""Numbers that mean nothing are errors that name their option, before anything is done."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, get_args

import pytest
import typer
from typer.testing import CliRunner

from bdl.cli import app
from bdl.decoding import Decoder
from bdl.errors import ConfigError

SCORE = "score --truth t.csv --detections d.csv --tolerance 1"
STRIDE = "stride --period 1 --stride 1 --tolerance 1 --spacing 100"
FIT = "fit --recordings r.csv --events e.csv --out m"
WRONG = {
    f"{SCORE} --tolerance": ("nan", "0", "-1", "inf", "x"),
    f"{SCORE} --errors": ("-1", "nan"),
    f"{SCORE} --threshold": ("nan", "inf"),
    f"{SCORE} --bootstrap": ("-1", "1000000000000", "1.5"),
    f"{SCORE} --seed": ("-1", "18446744073709551616"),
    f"{SCORE} --level": ("nan", "0", "1"),
    f"{SCORE} --period": ("nan", "0"),
    f"{SCORE} --collar": ("nan", "-1"),
    f"{SCORE} --false-alarms-per-day": ("nan", "-1"),
    "report d.csv --truth t.csv --tolerance": ("nan",),
    "report d.csv --truth t.csv --seed": ("-1",),
    "simulate sleep --out s --days": ("nan", "0", "-1", "1e300"),
    "simulate sleep --out s --recordings": ("0", "1000000000000"),
    "simulate sleep --out s --seed": ("-1",),
    "demo --days": ("nan",),
    "demo --seed": ("-1",),
    "figures --out f --seed": ("-1",),
    f"{STRIDE} --duration": ("nan", "0", "-1"),
    f"{STRIDE} --probability": ("nan", "2"),
    f"{STRIDE} --stride": ("0",),
    "audit --data s --dataset sleep --sigma": ("nan",),
    "decode d --out e.csv --min-duration": ("nan", "-1"),
    "decode d --out e.csv --threshold": ("nan",),
    "prepare r.csv --out s --rate": ("nan", "0"),
    "prepare r.csv --out s --period": ("nan", "0", "-1"),
    f"{FIT} --seed": ("-1",),
    f"{FIT} --window": ("nan", "-5"),
    f"{FIT} --epochs": ("0", "nan", "1000000000001"),
    f"{FIT} --checkpoints": ("1000000000001",),
    f"{FIT} --jitter": ("-1", "1000000000001"),
    "detect m r.csv --out d.csv --jobs": ("0", "1000000"),
    "convert t.csv --out k.csv --to kaggle --period": ("nan", "0"),
    "explore --threshold": ("nan",),
    "review --reach": ("-1",),
    "detect m r.csv --out d.csv --false-alarms-per-day": ("-1",),
    "detect m r.csv --out d.csv --sensitivity": ("-0.1", "1.1"),
    "detect m r.csv --out d.csv --partition": ("0",),
    "curve --size": ("0",),
    "curve --held-out": ("0", "1"),
    "curve --bootstrap": ("0", "1000000000000"),
    "evaluate p --seed": ("-1",),
    "evaluate p --folds": ("1",),
    "evaluate p --bootstrap": ("9", "1000000000000"),
    "live m --longest-gap": ("0", "-1"),
    "live m --save-every": ("-1",),
    "serve m --port": ("-1", "65536"),
    "explore --port": ("65536",),
}


@pytest.mark.parametrize(("words", "value"), [(w, v) for w, vs in WRONG.items() for v in vs])
def test_a_number_without_meaning_names_its_option(words: str, value: str):
    done = CliRunner().invoke(app, [*words.split(), value], catch_exceptions=False)
    assert done.exit_code == 2
    flag = words.split()[-1]
    assert f"Invalid value for '{flag}'" in done.output
    assert f"expected, got {value[:60]}" in done.output.replace("\n", " ")


def commands(group: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command below a group, with the words that call it."""
    for name, command in sorted(group.commands.items()):
        if getattr(command, "commands", None):
            yield from commands(command, (*words, name))
        else:
            yield (*words, name), command


@pytest.mark.parametrize("value", ["nan", "-inf", "x"])
def test_no_option_of_any_command_takes_what_is_no_number(value: str):
    """Also of commands and options that are added later."""
    asked = 0
    for words, command in commands(typer.main.get_command(app)):
        for parameter in command.params:
            kind = getattr(getattr(parameter, "type_descriptor", None), "annotation", None)
            if {int, float}.isdisjoint({kind, *get_args(kind)}):
                continue
            flag, asked = parameter.opts[0], asked + 1
            done = CliRunner().invoke(app, [*words, f"{flag}={value}"])
            message = " ".join(done.output.split())
            assert f"Invalid value for '{flag}'" in message, (words, flag, message)
            assert f"expected, got {value}" in message, (words, flag, message)
    assert asked > 150


@pytest.mark.parametrize("separation", [-1.0, float("nan"), float("inf"), 1e300])
def test_separations_without_meaning(separation: float):
    for kind in ("peaks", "expected-ap", "transitions"):
        with pytest.raises(ConfigError, match="separation"):
            Decoder.parse({"kind": kind, "separation": separation})
