"""Start-up time of commands, compared with the import of the libraries that they need.

Every command runs in separate processes. Commands that are compared run alternately, and the
shortest time of each counts: the one least disturbed by the machine. "Small" tables have a few
rows, so that scoring them needs no compiled function; "large" ones need all. The first use is timed
once, with an empty cache of compiled functions.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

from bench.row import Row, table

REPEATS = 7
BDL = (sys.executable, "-m", "bdl")
LIBRARIES = "import polars, numba, pydantic, typer"


def seconds(command: Sequence[str], folder: Path, cache: Path | None = None) -> float:
    """Time of one process from start to end."""
    environment = dict(os.environ)
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    if cache is not None:
        environment["NUMBA_CACHE_DIR"] = str(cache)
    begin = perf_counter()
    subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True)
    return perf_counter() - begin


def in_turns(commands: Mapping[str, Sequence[str]], folder: Path) -> dict[str, float]:
    """Shortest time of each command; they alternate, after one round that is not counted."""
    rounds = [
        {name: seconds(command, folder) for name, command in commands.items()}
        for _ in range(REPEATS + 1)
    ]
    return {name: min(times[name] for times in rounds[1:]) for name in commands}


def python(code: str) -> tuple[str, ...]:
    """The command that runs ``code``."""
    return (sys.executable, "-c", code)


def score(size: str, *options: str) -> tuple[str, ...]:
    """The command that scores the tables of one size."""
    tables = ("--truth", f"truth-{size}.csv", "--detections", f"detections-{size}.csv")
    return (*BDL, "score", *tables, "--tolerance", "3", "--tolerance", "30", *options)


def write_tables(folder: Path, size: str, rows: int) -> None:
    """Annotated events and detections around them, in recordings of ten events each."""
    rng = np.random.default_rng(0)
    truth, detections = ["recording,event,time"], ["recording,event,time,score"]
    for i in range(rows):
        time = 1000.0 * (i % 10) + rng.uniform(0, 900)
        truth.append(f"r{i // 10},onset,{time:.3f}")
        detections.append(f"r{i // 10},onset,{time + rng.normal(0, 10):.3f},{rng.uniform():.6f}")
    (folder / f"truth-{size}.csv").write_text("\n".join(truth) + "\n")
    (folder / f"detections-{size}.csv").write_text("\n".join(detections) + "\n")


def write_recording(folder: Path) -> None:
    """A recording with ISO times, to be inspected."""
    start = np.datetime64("2024-01-01T00:00:00")
    times = np.datetime_as_string(start + np.arange(2000) * np.timedelta64(1, "s"))
    lines = [f"{time}Z,{i % 7}.5" for i, time in enumerate(times)]
    (folder / "recording.csv").write_text("\n".join(["time,x", *lines]) + "\n")


def compared(name: str, ours: float, plain: float, limit: float | None = None) -> Row:
    """A row whose note is the ratio of the times."""
    goal = "" if limit is None else f" (goal: at most {limit:g})"
    return Row(name, ours, plain, note=f"takes {ours / plain:.2f} times as long{goal}")


def run() -> list[Row]:
    """Warm starts beside imports, then the first use of several commands."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_tables(folder, "small", 8)
        write_tables(folder, "large", 30_000)
        write_recording(folder)
        warm = in_turns(
            {
                "typer, rich": python("import typer, rich"),
                "bdl --help": (*BDL, "--help"),
                "python": python("pass"),
                "import bdl": python("import bdl"),
                "libraries": python(LIBRARIES),
                "score small": score("small"),
                "score large": score("large"),
            },
            folder,
        )
        firsts = {
            "score, small tables": score("small"),
            "score, 30,000 rows": score("large"),
            "score --bootstrap, 30,000 rows": score("large", "--bootstrap", "100"),
            "inspect, ISO times": (*BDL, "inspect", "recording.csv"),
        }
        first = {
            name: seconds(command, folder, cache=folder / f"cache{i}")
            for i, (name, command) in enumerate(firsts.items())
        }
    return [
        compared(
            "bdl --help, beside import typer, rich", warm["bdl --help"], warm["typer, rich"], 2
        ),
        compared("import bdl, beside python alone", warm["import bdl"], warm["python"]),
        compared(
            "score of small tables, beside import polars, numba, pydantic, typer",
            warm["score small"],
            warm["libraries"],
            1.5,
        ),
        compared("score of 30,000 rows, beside the same", warm["score large"], warm["libraries"]),
        *(
            Row(f"first use: {name}", took, 10.0, note="plain: the goal")
            for name, took in first.items()
        ),
    ]


if __name__ == "__main__":
    print(table(run()))
