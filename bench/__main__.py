"""All benchmarks into one file: `make bench`, or `python -m bench [NAME ...]`.

Every module of this folder with a ``run() -> list[Row]`` takes its turn in a process of its own,
so that none feels what another told the allocator or left in memory; then growth. Without names
the tables go to ``bench/RESULTS.md`` and the plot beside it; with names they are only printed. A
module that fails is named in the file, and the exit code is 1.
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

from bench.growth import Growth, growth_table, plot, run_growth
from bench.row import Row, table

HERE = Path(__file__).parent
PACKAGES = ("bdl", "numpy", "numba", "polars", "pyarrow", "torch", "lightning")


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


def alone(name: str) -> tuple[list[dict[str, object]], str]:
    """Rows of a module run in a process of its own, or the last line of what went wrong."""
    print(f"{name} ...", end=" ", flush=True, file=sys.stderr)
    begin = perf_counter()
    command = [sys.executable, "-m", "bench", "--json", name]
    done = subprocess.run(command, capture_output=True, text=True, cwd=HERE.parent)
    print(f"{perf_counter() - begin:.0f} s", file=sys.stderr)
    if done.returncode:
        return [], (done.stderr.strip().splitlines() or ["no message"])[-1]
    rows: list[dict[str, object]] = json.loads(done.stdout.splitlines()[-1])
    return rows, ""


def machine() -> str:
    """Processor, cores, load, system and versions, one line each."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = cpuinfo.read_text().splitlines()
        model = next((x.split(":")[1].strip() for x in lines if x.startswith("model name")), model)
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    found = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"- machine: {model}, {os.cpu_count()} cores{load}\n"
        f"- Python {platform.python_version()}, {platform.system()}; {found}"
    )


def gather(chosen: list[str], growth: bool) -> tuple[str, str | None, bool]:
    """The text of the file, the plot, and whether all went well."""
    parts = [
        "# Benchmarks",
        "Ours beside the straightforward way, measured in one run; the ratio says how many times "
        "better ours is. The limit is an estimate of what this hardware allows.",
        f"- command: `make bench` (`python -m bench`)\n"
        f"- date: {datetime.now(UTC):%Y-%m-%d %H:%M} UTC\n{machine()}",
    ]
    picture, well = None, True
    for name in chosen:
        rows, wrong = alone(name)
        well = well and not wrong
        shown = f"failed: {wrong}" if wrong else table(Row(**row) for row in rows)  # type: ignore[arg-type]
        parts += [f"## {name}", shown]
    if growth:
        rows, wrong = alone("growth")
        well = well and not wrong
        parts.append("## growth")
        if wrong:
            parts.append(f"failed: {wrong}")
        else:
            grown = [
                Growth(str(r["name"]), tuple(r["sizes"]), tuple(r["seconds"]))  # type: ignore[arg-type]
                for r in rows
            ]
            picture = plot(grown)
            parts += [
                "Processor seconds as work grows (its size in brackets) and the fitted exponent; "
                "1 is linear.",
                growth_table(grown),
                "![Time over work, relative to the smallest](growth.svg)",
            ]
    return "\n\n".join(parts) + "\n", picture, well


def main(arguments: list[str]) -> int:
    """Run what is asked for."""
    if arguments[:1] == ["--json"]:
        print(one(arguments[1]))
        return 0
    known = [*names(), "growth"]
    if strangers := [name for name in arguments if name not in known]:
        print(f"no benchmark {', '.join(strangers)}: one of {', '.join(known)}", file=sys.stderr)
        return 2
    asked = arguments or known
    text, picture, well = gather([n for n in asked if n != "growth"], "growth" in asked)
    print(text)
    if not arguments:
        (HERE / "RESULTS.md").write_text(text, encoding="utf-8")
        if picture:
            (HERE / "growth.svg").write_text(picture, encoding="utf-8")
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
