"""Many recordings on several workers: efficiency, rates, memory, and what a large archive costs.

Nights of 100 Hz with one channel are simulated, prepared and searched for events by a small
detector, with one and with two workers of one thread each. Rows compare the workers: the ratio of a
perfect second worker is 2. Efficiency by the clock needs two free cores; by processor time, that of
one worker over that of two and of the process that feeds them, it tells also on a busy machine what
sharing the work costs. Memory is the peak of the process that detects, for few and for ten
times as many recordings, and for recordings ten times as long. ``python -m bench.scale`` also
prints the rates in hours of recording per second and core and, from these, what 100,000 nights
cost.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from bench.row import Row, table

RATE = 100.0  # samples per second
HOURS = 0.5
RECORDINGS = 160
NIGHTS, NIGHT_HOURS = 100_000, 8.0


def make(folder: Path, recordings: int, hours: float) -> None:
    """Write recordings as NPZ files, and a model trained on a few of them."""
    from bdl import Detector, Events, Recordings
    from bdl.encoders import Recurrent
    from bdl.recording import Recording

    folder.mkdir(parents=True)
    samples = int(hours * 3600 * RATE)
    made, times = [], []
    for number in range(recordings):
        rng = np.random.default_rng(number)
        values = rng.normal(size=(samples, 1)).astype(np.float32)
        places = np.sort(rng.choice(samples, 6, replace=False))
        values[places] += 25.0
        np.savez(folder / f"n{number:05d}.npz", values=values, period=1 / RATE, channels=["x"])
        if number < 4:
            name = f"n{number:05d}"
            made.append(Recording.of(values, id=name, period=1 / RATE, channels=["x"]))
            times += [(name, place / RATE) for place in places.tolist()]
    names, seconds = zip(*times, strict=True)
    Detector(
        encoder=Recurrent(width=32, blocks=1),
        features={"stride": 100, "calendar": False, "scaling": "none"},
        training={"epochs": 2, "accelerator": "cpu"},
        tolerances=(2.0,),
        window=min(600.0, hours * 3600),
        selection={"folds": 0},
    ).fit(Recordings.of(made), Events.of([*names], "spike", [*seconds])).save(folder / "model")


def measure(what: str, folder: Path, jobs: int) -> dict[str, Any]:
    """Seconds, processor time and peak memory of one command, run by a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.scale", what, str(folder), str(jobs)],
        capture_output=True,
        text=True,
        check=True,
    )
    measured: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return measured


def child(what: str, folder: Path, jobs: int) -> None:
    """What `measure` runs: do the work twice, the second time by the clock."""
    import resource

    from bdl import Detector, Workers, read_recordings
    from bdl.detector.detection_run import detect_many
    from bdl.formats import open_store, prepare

    workers = Workers(jobs=jobs, threads=1)
    with tempfile.TemporaryDirectory() as temporary:
        out = Path(temporary)
        detector, seconds, used = Detector.load(folder / "model"), 0.0, 0.0
        for attempt in ("first", "second"):  # the first starts the workers and their libraries
            begin, used_before = perf_counter(), processor_seconds()
            if what == "prepare":
                prepare(read_recordings(folder, pattern="*.npz"), out / attempt, workers=workers)
            else:
                detect_many(detector, open_store(folder / "store"), out / attempt, workers=workers)
            seconds, used = perf_counter() - begin, processor_seconds() - used_before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"seconds": seconds, "processor": used, "peak": peak}))


def processor_seconds() -> float:
    """Processor time of this process and its workers so far."""
    import psutil

    own = psutil.Process()
    times = [process.cpu_times() for process in (own, *own.children(recursive=True))]
    return float(sum(each.user + each.system for each in times))


def compare(folder: Path) -> tuple[list[Row], dict[str, float]]:
    """Rows of two workers beside one, and the rates of one."""
    from bdl import read_recordings
    from bdl.formats import prepare

    make(folder / "many", RECORDINGS, HOURS)
    rows, rates = [], {}
    for what in ("prepare", "detect"):
        if what == "detect":
            prepare(read_recordings(folder / "many", pattern="*.npz"), folder / "many/store")
        one, two = (measure(what, folder / "many", jobs) for jobs in (1, 2))
        clock = one["seconds"] / two["seconds"] / 2
        processor = one["processor"] / two["processor"]
        note = (
            f"{RECORDINGS} x {HOURS:g} h at {RATE:g} Hz; efficiency {clock:.0%} by the clock, "
            f"{processor:.0%} by processor time"
        )
        rows.append(Row(f"{what}, two workers", two["seconds"], one["seconds"], note=note))
        rates[what] = RECORDINGS * HOURS / one["seconds"]
    rows += memory(folder, measure("detect", folder / "many", 1)["peak"])
    return rows, rates


def memory(folder: Path, many: float) -> list[Row]:
    """Peak memory of detecting in few, many and long recordings: it should be flat."""
    from bdl import read_recordings
    from bdl.formats import prepare

    peaks = {}
    for name, count, hours in (("few", RECORDINGS // 10, HOURS), ("long", 4, 10 * HOURS)):
        make(folder / name, count, hours)
        prepare(read_recordings(folder / name, pattern="*.npz"), folder / name / "store")
        peaks[name] = measure("detect", folder / name, 1)["peak"]
    few, long = peaks["few"] / 1e6, peaks["long"] / 1e6
    ten = "peak memory, ten times as many recordings"
    longer = "peak memory, recordings ten times as long"
    return [
        Row(ten, many / 1e6, few, unit="MB", note="ours: many, plain: few; 1 is flat"),
        Row(longer, long, few, unit="MB", note="ours: long, plain: short; 1 is flat"),
    ]


def archive(rates: dict[str, float]) -> str:
    """What preparing and searching 100,000 nights cost, from the rates of one core."""
    hours = NIGHTS * NIGHT_HOURS
    lines = [
        f"{what}: {rate:,.1f} hours of recording per second and core; {NIGHTS:,} nights of "
        f"{NIGHT_HOURS:g} h: {hours / rate / 3600:,.1f} core-hours per channel"
        for what, rate in rates.items()
    ]
    size = hours * 3600 * RATE * 4
    lines.append(f"bytes read: {size / 1e12:.2f} TB per channel as float32, each once per command")
    return "\n".join(lines)


def run() -> list[Row]:
    """All rows."""
    with tempfile.TemporaryDirectory() as folder:
        return compare(Path(folder))[0]


if __name__ == "__main__":
    if len(sys.argv) > 1:
        child(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
    else:
        with tempfile.TemporaryDirectory() as temporary:
            measured, per_core = compare(Path(temporary))
        print(table(measured))
        print(archive(per_core))
