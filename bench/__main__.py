"""All benchmarks into one file: `make bench`, or `python -m bench NAME ...` for some anew.

Every module of this folder with a ``run() -> list[Row]`` takes its turn in a process of its own,
so that none feels what another told the allocator or left in memory; then growth. What was
measured is kept in ``results.json``, with its date, machine and load, as soon as a module is done;
``RESULTS.md`` and ``growth.svg`` are written from it. A module that fails keeps its former rows,
and the exit code is 1.
"""

from __future__ import annotations

import importlib
import json
import os
import platform
import subprocess
import sys
from dataclasses import asdict
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from time import perf_counter
from typing import Any

from bdl.formats.atomic_files import atomic
from bench.growth import Growth, growth_table, plot, run_growth
from bench.row import Row, table

HERE = Path(__file__).parent
STORE = HERE / "results.json"
PACKAGES = ("bdl-events", "numpy", "numba", "polars", "pyarrow", "torch", "lightning")
HEAD = """# Benchmarks

Ours beside the straightforward way, measured in one run; the ratio says how many times better ours
is. The limit is an estimate of what this hardware allows, the share how near ours comes to it.

Command: `make bench` (`python -m bench`; with names, those modules alone)."""


def names() -> list[str]:
    """Modules with rows, found by their text: importing them all would slow each down."""
    return sorted(
        file.stem for file in HERE.glob("*.py") if "\ndef run(" in file.read_text(encoding="utf-8")
    )


def one(name: str) -> str:
    """A module's rows (or all growths) as JSON, for the process that gathers."""
    if name == "growth":
        return json.dumps([asdict(row) for row in run_growth()])
    rows: list[Row] = importlib.import_module(f"bench.{name}").run()
    return json.dumps([asdict(row) for row in rows])


def conditions() -> str:
    """Date, processor, load and versions."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), model)
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    found = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {model}, {os.cpu_count()} cores{load}; "
        f"Python {platform.python_version()}, {found}"
    )


def alone(name: str) -> dict[str, Any] | None:
    """What a module measures in a process of its own; None, and its last words, if it fails."""
    print(f"{name} ...", end=" ", flush=True, file=sys.stderr)
    begin, met = perf_counter(), conditions()
    command = [sys.executable, "-m", "bench", "--json", name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent)
    took = perf_counter() - begin
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"failed after {took:.0f} s: {last}", file=sys.stderr)
        return None
    print(f"{took:.0f} s", file=sys.stderr)
    return {"measured": met, "seconds": took, "rows": json.loads(done.stdout.splitlines()[-1])}


def render(results: dict[str, Any]) -> tuple[str, str | None]:
    """The text of the file and, where growth was measured, the plot.

    >>> text, picture = render({"toy": {"measured": "today", "seconds": 1.0, "rows": []}})
    >>> text.splitlines()[-6:-4], picture
    (['## toy', ''], None)
    """
    parts, picture = [HEAD], None
    for name, result in results.items():
        said = f"Measured {result['measured']}; took {result['seconds']:.0f} s."
        if name == "growth":
            grown = [
                Growth(r["name"], tuple(r["sizes"]), tuple(r["seconds"])) for r in result["rows"]
            ]
            picture = plot(grown)
            shown = (
                "Processor seconds as work grows (its size in brackets) and the fitted exponent; "
                f"1 is linear.\n\n{growth_table(grown)}\n\n"
                "![Time over work, relative to the smallest](growth.svg)"
            )
        else:
            shown = table(Row(**row) for row in result["rows"])
        parts += [f"## {name}", said, shown]
    return "\n\n".join(parts) + "\n", picture


def main(arguments: list[str]) -> int:
    """Run what is asked for and write the files anew after each."""
    if arguments[:1] == ["--json"]:
        print(one(arguments[1]))
        return 0
    known = [*names(), "growth"]
    if strangers := [name for name in arguments if name not in known]:
        print(f"no benchmark {', '.join(strangers)}: one of {', '.join(known)}", file=sys.stderr)
        return 2
    well = True
    for name in arguments or known:
        result = alone(name)
        well = well and result is not None
        if result is None:
            continue
        before = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
        merged = {**before, name: result}
        kept = {key: merged[key] for key in known if key in merged}
        text, picture = render(kept)
        for path, content in (
            (STORE, json.dumps(kept, indent=1) + "\n"),
            (HERE / "RESULTS.md", text),
            (HERE / "growth.svg", picture),
        ):
            if content is not None:
                with atomic(path) as file:
                    file.write_text(content, encoding="utf-8")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
