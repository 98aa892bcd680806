"""Ten thousand recordings on every back end: the same bytes, also when workers are killed.

Short recordings and three long ones are written as Parquet tables, prepared into a store and
searched for events by `bdl prepare` and `bdl detect`, by one process and by two workers of loky, of
Dask and of Ray. The bytes of the store and of the table of detections are compared. Then each back
end detects once more while workers are killed at random moments of the time that the first took:
the table must be the same, and every recording done once.

``python -m bench.back_ends`` prints a table; ``--short``, ``--kills``, ``--seed`` and
``--backends`` change it.
"""

from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path
from time import perf_counter

import numpy as np
import psutil  # type: ignore[import-untyped]

from bdl import Detector, Events, Recordings, Workers, read_recordings
from bdl.detector.detection_run import detect_many
from bdl.encoders import Recurrent
from bdl.formats import open_store
from bdl.recording import Recording

# Patterns of the commands of workers; not the agents of a Ray node, which ends without them.
BACKENDS = {"loky": "popen_loky", "dask": "spawn_main", "ray": "^ray::(?!.*Agent)"}
LONG = 3
LONG_SAMPLES = 2_000_000


def make(folder: Path, short: int) -> None:
    """Write the recordings, a table per hundred short ones, and a model."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    rng = np.random.default_rng(0)
    (folder / "source").mkdir()
    lengths = [*rng.integers(30, 600, short).tolist(), *[LONG_SAMPLES] * LONG]
    training, events = [], []
    for first in range(0, len(lengths), 100):
        parts = []
        for number in range(first, min(first + 100, len(lengths))):
            values = rng.normal(size=lengths[number]).astype(np.float32)
            places = np.unique(rng.integers(0, len(values), 3))
            values[places] += 25.0
            parts.append((f"n{number:05d}", values))
            if number < 50:
                training.append(Recording.of(values, id=parts[-1][0], period=1.0, channels=["x"]))
                events.append(Events.of(parts[-1][0], "spike", places.astype(float)))
        columns = {
            "recording": np.repeat([name for name, _ in parts], [len(v) for _, v in parts]),
            "x": np.concatenate([values for _, values in parts]),
        }
        pq.write_table(pa.table(columns), folder / f"source/{first:05d}.parquet")
    Detector(
        encoder=Recurrent(width=16, blocks=1),
        features={"stride": 5, "calendar": False, "scaling": "none"},
        training={"epochs": 2, "accelerator": "cpu"},
        tolerances=(10.0,),
        window=100.0,
        selection={"folds": 0},
    ).fit(Recordings.of(training), Events.concat(events)).save(folder / "model.safetensors")


def command(*words: object) -> float:
    """Run a command of bdl; its seconds."""
    begin = perf_counter()
    subprocess.run([sys.executable, "-m", "bdl", *map(str, words)], check=True, capture_output=True)
    return perf_counter() - begin


def digest(path: Path) -> str:
    """Hash of a file, or of the names and contents of all files in a folder."""
    hashed = sha256()
    for file in [path] if path.is_file() else sorted(path.iterdir()):
        hashed.update(b"" if file == path else file.name.encode())
        hashed.update(file.read_bytes())
    return hashed.hexdigest()


@contextmanager
def killing(mark: str, kills: int, seconds: float, seed: int) -> Iterator[list[int]]:
    """Kill workers at random moments while the block runs; yields the ids of killed processes."""
    choice, end = random.Random(seed), threading.Event()
    moments = sorted(choice.uniform(0.0, seconds) for _ in range(kills))
    killed: list[int] = []

    def kill() -> None:
        begin = perf_counter()
        for moment in moments:
            while not end.wait(max(0.0, begin + moment - perf_counter())):
                workers = [child for child in psutil.Process().children(True) if is_marked(child)]
                if workers:
                    worker = choice.choice(workers)
                    worker.kill()
                    killed.append(worker.pid)
                    break
                end.wait(0.05)  # they are still starting

    def is_marked(process: psutil.Process) -> bool:
        with suppress(psutil.Error):  # it may just have ended
            return re.search(mark, " ".join(process.cmdline())) is not None
        return False

    thread = threading.Thread(target=kill)
    thread.start()
    try:
        yield killed
    finally:
        end.set()
        thread.join()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--short", type=int, default=10_000, help="number of short recordings")
    parser.add_argument("--kills", type=int, default=10, help="workers killed on each back end")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--backends", nargs="+", default=[*BACKENDS], choices=[*BACKENDS])
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        make(folder, args.short)
        model, source = folder / "model.safetensors", folder / "source"
        flags = ("--period", 1)
        prepared = command("prepare", source, *flags, "--out", folder / "store")
        store, out = folder / "store", folder / "one.parquet"
        detected = command("detect", model, store, "--all", "--out", out)
        expected = digest(store), digest(out)
        count = len(read_recordings(store))
        reference = Detector.load(model).detect(open_store(store))
        print(f"{count:,} recordings, {len(reference):,} detections\n")
        print("| back end | prepare | detect | same bytes | killed | lost | done twice | same |")
        print("|---|---:|---:|---|---:|---:|---:|---|")
        print(f"| one process | {prepared:.0f} s | {detected:.0f} s | | | | | |")
        for backend in args.backends:
            where = ("--jobs", 2, "--backend", backend)
            other, table = folder / f"store-{backend}", folder / f"{backend}.parquet"
            prepared = command("prepare", source, *flags, "--out", other, *where)
            detected = command("detect", model, store, "--all", "--out", table, *where)
            same = (digest(other), digest(table)) == expected
            workers = Workers(backend=backend, jobs=2, threads=1)
            with killing(BACKENDS[backend], args.kills, detected, args.seed) as killed:
                out = folder / f"run-{backend}"
                run = detect_many(Detector.load(model), open_store(store), out, workers=workers)
            ledger = run.directory.ledger()
            finished = [entry["step"] for entry in ledger if entry["event"] == "step"]
            print(
                f"| {backend} | {prepared:.0f} s | {detected:.0f} s | {'yes' if same else 'NO'} "
                f"| {len(killed)} | {count - len(run.detected)} "
                f"| {len(finished) - len(set(finished))} "
                f"| {'yes' if run.detections == reference else 'NO'} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
