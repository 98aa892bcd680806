"""Run all benchmarks: `make bench`, or `python -m bench NAME ...` for some of them.

Every module of this folder with a ``run() -> list[Row]`` runs in a separate process, so that
settings of the allocator and memory of one module do not affect another; then `bench.growth`. As
soon as a module is done, its rows are written to ``results.json`` with date, machine and load;
``RESULTS.md`` and ``growth.svg`` are made from it. A module that fails keeps its earlier rows, and
the exit code is 1.
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

The package and a plain implementation, measured in one run; the ratio is the plain value divided by
ours. The limit is an estimate of what this hardware allows, the share the limit divided by ours.

Command: `make bench` (`python -m bench`; with names, those modules alone)."""


def names() -> list[str]:
    """Modules with rows, found by their text, so that they need not be imported."""
    return sorted(
        file.stem for file in HERE.glob("*.py") if "\ndef run(" in file.read_text(encoding="utf-8")
    )


def rows_json(name: str) -> str:
    """The rows of a module (or all growths) as JSON, for the parent process."""
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
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{datetime.now(UTC):%Y-%m-%d %H:%M} UTC; {model}, {os.cpu_count()} cores{load}; "
        f"Python {platform.python_version()}, {versions}"
    )


def measure(name: str) -> dict[str, Any] | None:
    """The results of a module, run in a separate process; None if it fails."""
    print(f"{name} ...", end=" ", flush=True, file=sys.stderr)
    begin, measured = perf_counter(), conditions()
    command = [sys.executable, "-m", "bench", "--json", name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent)
    seconds = perf_counter() - begin
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"failed after {seconds:.0f} s: {last}", file=sys.stderr)
        return None
    print(f"{seconds:.0f} s", file=sys.stderr)
    rows = json.loads(done.stdout.splitlines()[-1])
    return {"measured": measured, "seconds": seconds, "rows": rows}


def render(results: dict[str, Any]) -> tuple[str, str | None]:
    """The text of the file and, if growth was measured, the plot.

    >>> text, picture = render({"toy": {"measured": "today", "seconds": 1.0, "rows": []}})
    >>> text.splitlines()[-6:-4], picture
    (['## toy', ''], None)
    """
    parts, picture = [HEAD], None
    for name, result in results.items():
        conditions_text = f"Measured {result['measured']}; took {result['seconds']:.0f} s."
        if name == "growth":
            growths = [
                Growth(r["name"], tuple(r["sizes"]), tuple(r["seconds"])) for r in result["rows"]
            ]
            picture = plot(growths)
            content = (
                "Processor seconds as work grows (its size in brackets) and the fitted exponent; "
                f"1 is linear.\n\n{growth_table(growths)}\n\n"
                "![Time over work, relative to the smallest](growth.svg)"
            )
        else:
            content = table(Row(**row) for row in result["rows"])
        parts += [f"## {name}", conditions_text, content]
    return "\n\n".join(parts) + "\n", picture


def main(arguments: list[str]) -> int:
    """Run the named benchmarks, or all, and write the files after each."""
    if arguments[:1] == ["--json"]:
        print(rows_json(arguments[1]))
        return 0
    known = [*names(), "growth"]
    if unknown := [name for name in arguments if name not in known]:
        print(f"no benchmark {', '.join(unknown)}: one of {', '.join(known)}", file=sys.stderr)
        return 2
    failed = False
    for name in arguments or known:
        result = measure(name)
        if result is None:
            failed = True
            continue
        before = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
        merged = {**before, name: result}
        results = {key: merged[key] for key in known if key in merged}
        text, picture = render(results)
        for path, content in (
            (STORE, json.dumps(results, indent=1) + "\n"),
            (HERE / "RESULTS.md", text),
            (HERE / "growth.svg", picture),
        ):
            if content is not None:
                with atomic(path) as file:
                    file.write_text(content, encoding="utf-8")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
