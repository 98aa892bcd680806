"""Configurations: of a fit, a study, a decoder and a grid."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import yaml

from bdl.cli.fit_config import read_config
from bdl.cli.options import parse_variant
from bdl.decoding import Decoder, Grid
from bdl.study import catalogue
from fuzz.target import Target

FIT = {
    "recordings": "signals",
    "events": "events.csv",
    "layout": {"period": 0.5, "channels": ["x"], "group_pattern": "_(user[0-9]+)"},
    "intervals": [{"name": "walk", "onset": "on", "offset": "off"}],
    "detector": {
        "encoder": {"kind": "recurrent", "width": 4},
        "features": {"stride": 4, "scaling": "robust"},
        "tolerances": [8.0],
        "training": {"epochs": 2, "seed": 1},
        "decoder": {"kind": "peaks", "threshold": 0.5, "separation": 3.0},
    },
}
DECODER = {"decoder": {"kind": "expected-ap", "tolerances": [1.0, 5.0], "separation": 2.0}}
GRID = {"kind": "peaks", "smooths": [0, 50], "thresholds": [0.1, 0.5], "separation": 5.0}


def targets() -> Iterator[Target]:
    """One target per kind of configuration."""
    yield _target("fit", "fit.yaml", yaml.safe_dump(FIT).encode(), read_config)
    presets = Path(catalogue.__file__).parent / "presets"
    for name in ("sleep-nested", "fraud"):
        content = (presets / f"{name}.yaml").read_bytes()
        yield _target(
            f"study {name}", "study.yaml", content, lambda file: catalogue.load(str(file))
        )
    yield _target(
        "decoder", "decoder.json", json.dumps(DECODER).encode(),
        lambda file: parse_variant(Decoder, str(file), "--decoder", key="decoder"),  # type: ignore[type-abstract]
    )  # fmt: skip
    yield _target(
        "grid", "grid.yaml", yaml.safe_dump(GRID).encode(),
        lambda file: parse_variant(Grid, str(file), "--grid"),
    )  # fmt: skip


def _target(name: str, file: str, content: bytes, read: Callable[[Path], object]) -> Target:
    return Target(f"configuration {name}", {file: content}, (file,), lambda at: read(at / file))
