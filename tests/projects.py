"""A small project on files of one's own, as a user has it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import yaml

QUICK = {
    "encoder": {"kind": "recurrent", "width": 8, "blocks": 1},
    "features": {"stride": 4, "calendar": False},
    "window": 200.0,
    "tolerances": [8.0, 20.0],
    "training": {"updates": 15, "batch": 4},
}


def write_project(folder: Path, *, recordings: int = 6, **changes: Any) -> Path:
    """CSV files of three groups with one bout each, their events, and a project on them."""
    rng, rows = np.random.default_rng(0), []
    (folder / "signals").mkdir(parents=True)
    for number in range(recordings):
        begin, length = int(rng.integers(50, 150)), int(rng.integers(80, 200))
        values = rng.normal(size=400)
        values[begin : begin + length] += 4
        name = f"g{number % 3}_r{number}"
        pl.DataFrame({"x": values}).write_csv(folder / "signals" / f"{name}.csv")
        rows += [(name, "on", float(begin)), (name, "off", float(begin + length))]
    table = pl.DataFrame(rows, schema=["recording", "event", "time"], orient="row")
    table.write_csv(folder / "events.csv")
    config = {
        "recordings": "../signals",
        "layout": {"period": 1.0, "group_pattern": "^(g[0-9])"},
        "events": "../events.csv",
        "intervals": [{"name": "bout", "onset": "on", "offset": "off"}],
        "detector": QUICK,
        **changes,
    }
    (folder / "mine").mkdir()
    (folder / "mine" / "bdl.yaml").write_text(yaml.safe_dump(config))
    return folder / "mine"
