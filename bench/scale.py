"""Many recordings on several workers: efficiency, rates, memory, and the cost of a large archive.

Nights of 100 Hz are written as EDF files, prepared into a store, and searched for events by a small
detector: by one process, and by two workers of one thread each. A first round starts the workers
and their libraries and is not counted; its additional time is reported separately. Rows compare the
workers: the ratio of a perfect second worker is 2. The efficiency by the wall clock needs two free
cores. The efficiency by processor time, that of one worker divided by that of two and of the
process that feeds them, measures the cost of sharing the work on a busy machine as well. Memory is
the peak of a single process, for ten times as many recordings and for recordings ten times as long.
``python -m bench.scale`` also prints the rates in hours of recording per second and core and, from
those of wide recordings, the cost of 100,000 nights of together 70 TB.
"""

from __future__ import annotations

import json
import shutil
import sys
import tempfile
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from time import perf_counter

import numpy as np

from bench.processes import child_json, peak_memory
from bench.row import Row, table

RATE = 100.0  # samples per second
REPEATS = 3
NIGHTS, NIGHT_HOURS, ARCHIVE_BYTES = 100_000, 8.0, 70e12


@dataclass(frozen=True)
class Archive:
    """Recordings of a benchmark: how many, of how many hours and channels each."""

    recordings: int
    hours: float
    channels: int = 1

    @property
    def total_hours(self) -> float:
        """Hours of all recordings."""
        return self.recordings * self.hours

    def __str__(self) -> str:
        return f"{self.recordings} x {self.hours:g} h at {RATE:g} Hz"


# 70 TB of float32 in 100,000 nights are 61 channels.
WIDTH = round(ARCHIVE_BYTES / (NIGHTS * NIGHT_HOURS * 3600 * RATE * 4))
FEW = Archive(12, NIGHT_HOURS)
MANY = Archive(10 * FEW.recordings, NIGHT_HOURS)
LONG = Archive(FEW.recordings, 10 * NIGHT_HOURS)
WIDE = Archive(12, 1.0, WIDTH)


def make(folder: Path, archive: Archive) -> None:
    """Write recordings as EDF files, a store of them, and a model trained on the first hours."""
    import edfio

    from bdl import Detector, Events, Recordings, read_recordings
    from bdl.encoders import Recurrent
    from bdl.formats import prepare
    from bdl.recording import Recording

    (folder / "source").mkdir(parents=True)
    samples, hour = int(archive.hours * 3600 * RATE), int(3600 * RATE)
    channels = [f"signal {number}" for number in range(archive.channels)]
    training, events = [], []
    for number in range(archive.recordings):
        rng = np.random.default_rng(number)
        values = rng.normal(size=(samples, archive.channels))
        places = np.sort(rng.choice(hour, 20, replace=False))
        values[places] += 25.0
        signals = [
            edfio.EdfSignal(values[:, place], RATE, label=name, physical_range=(-50, 50))
            for place, name in enumerate(channels)
        ]
        edfio.Edf(signals).write(folder / f"source/n{number:05d}.edf")
        if number < 4:
            id = f"n{number}"
            training.append(Recording.of(values[:hour], id=id, period=1 / RATE, channels=channels))
            events.append(Events.of(id, "spike", places / RATE))
    Detector(
        encoder=Recurrent(width=32, blocks=1),
        features={"stride": 100, "calendar": False, "scaling": "none"},
        training={"epochs": 2, "accelerator": "cpu"},
        tolerances=(2.0,),
        window=600.0,
        selection={"folds": 0},
    ).fit(Recordings.of(training), Events.concat(events)).save(folder / "model")
    prepare(read_recordings(folder / "source"), folder / "store")


def child(command: str, folder: Path, jobs: int) -> None:
    """Do the work once to start the workers, then several times; print the fastest as JSON."""
    from bdl import Detector, Workers, read_recordings
    from bdl.detector.detection_run import detect_many
    from bdl.formats import open_store, prepare
    from bdl.thread_limit import limit_threads

    workers = Workers(jobs=jobs, threads=1)
    limit_threads(1)
    detector = Detector.load(folder / "model")
    rounds = []
    for _ in range(1 + REPEATS):
        out = Path(tempfile.mkdtemp(dir=folder))
        begin, used = perf_counter(), processor_seconds()
        if command == "prepare":
            source = read_recordings(folder / "source", workers=workers)
            prepare(source, out / "store", workers=workers)
        else:
            detect_many(detector, open_store(folder / "store"), out / "run", workers=workers)
        rounds.append((perf_counter() - begin, processor_seconds() - used))
        shutil.rmtree(out)
    seconds, processor = min(rounds[1:])
    start, peak = max(0.0, rounds[0][0] - seconds), peak_memory()
    print(json.dumps({"seconds": seconds, "processor": processor, "start": start, "peak": peak}))


def processor_seconds() -> float:
    """Processor time of this process and its workers so far."""
    import psutil  # type: ignore[import-untyped]

    own = psutil.Process()
    processes = (own, *own.children(recursive=True))
    return float(sum(sum(process.cpu_times()[:2]) for process in processes))


def compare(folder: Path) -> tuple[list[Row], dict[str, float]]:
    """Rows of two workers compared with one and of memory, and the rates of a core."""
    measure = partial(child_json, "bench.scale")
    archives = {"few": FEW, "many": MANY, "long": LONG, "wide": WIDE}
    for name, archive in archives.items():
        make(folder / name, archive)
    rows, peaks, rates = [], [], {}
    for command in ("prepare", "detect"):
        single, double = (measure(command, folder / "many", jobs) for jobs in (1, 2))
        clock = single["seconds"] / double["seconds"] / 2
        processor = single["processor"] / double["processor"]
        note = (
            f"{MANY}; efficiency {clock:.0%} by the clock, {processor:.0%} by processor time; the "
            f"workers start in {double['start']:.1f} s"
        )
        rows.append(Row(f"{command}, two workers", double["seconds"], single["seconds"], note=note))
        few, long, wide = (measure(command, folder / name, 1) for name in ("few", "long", "wide"))
        for name, other in (("ten times as many", single), ("ten times as long", long)):
            note = "ours: more, plain: few and short; 1 is flat"
            row = (f"{command}, peak memory, {name}", other["peak"] / 1e6, few["peak"] / 1e6)
            peaks.append(Row(*row, unit="MB", note=note))
        rates[f"{command}, 1 channel"] = MANY.total_hours / single["processor"]
        rates[f"{command}, {WIDTH} channels"] = WIDE.total_hours / wide["processor"]
    return [*rows, *peaks], rates


def archive_cost(rates: dict[str, float]) -> str:
    """The cost of preparing and searching 100,000 nights, from the rates of one core."""
    hours = NIGHTS * NIGHT_HOURS
    lines = [
        f"{work}: {rate:,.1f} hours of recording per second and core; {NIGHTS:,} nights of "
        f"{NIGHT_HOURS:g} h: {hours / rate / 3600:,.0f} core-hours"
        for work, rate in rates.items()
    ]
    source, store = (hours * 3600 * RATE * WIDTH * size / 1e12 for size in (2, 4))
    lines.append(
        f"bytes of {WIDTH} channels: prepare reads {source:.0f} TB of EDF and hashes them as they "
        f"are read, and writes {store:.0f} TB; detect reads {store:.0f} TB, all once"
    )
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
        print(archive_cost(per_core))
