"""Numbers that mean nothing are errors that name their option, before anything is done."""

from __future__ import annotations

import pytest
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
    "audit s --dataset sleep --sigma": ("nan",),
    "decode d --out e.csv --min-duration": ("nan", "-1"),
    "decode d --out e.csv --threshold": ("nan",),
    "prepare r.csv --out s --rate": ("nan", "0"),
    "prepare r.csv --out s --period": ("nan", "0", "-1"),
    f"{FIT} --seed": ("-1",),
    f"{FIT} --window": ("nan", "-5"),
    f"{FIT} --epochs": ("0", "nan"),
    "convert t.csv --out k.csv --to kaggle --period": ("nan", "0"),
    "explore --cutoff": ("nan",),
    "review --reach": ("-1",),
}


@pytest.mark.parametrize(("words", "value"), [(w, v) for w, vs in WRONG.items() for v in vs])
def test_a_number_without_meaning_names_its_option(words: str, value: str):
    done = CliRunner().invoke(app, [*words.split(), value], catch_exceptions=False)
    assert done.exit_code == 2
    flag = words.split()[-1]
    assert f"Invalid value for '{flag}'" in done.output
    assert f"expected, got {value[:60]}" in done.output.replace("\n", " ")


@pytest.mark.parametrize("separation", [-1.0, float("nan"), float("inf"), 1e300])
def test_separations_without_meaning(separation: float):
    for kind in ("peaks", "expected-ap", "transitions"):
        with pytest.raises(ConfigError, match="separation"):
            Decoder.parse({"kind": kind, "separation": separation})
