"""Detecting in 2,000 short recordings while two other processes keep the machine busy.

``bdl detect`` with its defaults, compared with OMP_NUM_THREADS=1, where no thread waits for
another; each in a separate process, alternately, and the faster of two runs counts. Then the
encoder alone, without busy processes: short recordings in batches, compared with one by one.

    python -m bench.short_recordings
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter

import numpy as np

from bench.row import Row, best, table

RECORDINGS = 2000
SAMPLES = 1200
STRIDE = 4
BUSY = 2
TURNS = 2
SPIN = "while True: pass"


def write_data(folder: Path) -> None:
    """A store of recordings with a few spikes each, and a model that is trained on some of them."""
    from bdl import Detector, Events, Recording, Recordings
    from bdl.formats import prepare

    rng = np.random.default_rng(0)
    recordings, ids, times = [], [], []
    for i in range(RECORDINGS):
        values = rng.normal(size=(SAMPLES, 2)).astype(np.float32)
        places = np.sort(rng.choice(np.arange(20, SAMPLES - 20, 40), size=3, replace=False))
        values[places, 0] += 25.0
        recordings.append(Recording.of(values, id=f"r{i:04d}", period=1.0))
        ids += [f"r{i:04d}"] * 3
        times += places.tolist()
    prepare(Recordings.of(recordings), folder / "store")
    few = Recordings.of(recordings[:20])
    prepare(few, folder / "few")
    detector = Detector(
        encoder="gru",
        features={"stride": STRIDE, "calendar": False},
        tolerances=(8.0,),
        selection={"folds": 0},
        training={"epochs": 2},
    )
    detector.fit(few, Events.of(ids[:60], "spike", times[:60])).save(folder / "model.safetensors")


@contextmanager
def busy(processes: int) -> Iterator[None]:
    """Run this many busy processes while the block runs."""
    running = [subprocess.Popen([sys.executable, "-c", SPIN]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def seconds(folder: Path, threads: int | None, store: str = "store") -> float:
    """Time of one ``bdl detect`` from start to end."""
    environment = {key: value for key, value in os.environ.items() if key != "OMP_NUM_THREADS"}
    if threads is not None:
        environment["OMP_NUM_THREADS"] = str(threads)
    words = ("detect", "model.safetensors", store, "--out", f"{threads}.csv", "--all", "--quiet")
    begin = perf_counter()
    subprocess.run([sys.executable, "-m", "bdl", *words], cwd=folder, env=environment, check=True)
    return perf_counter() - begin


def encoder_rows() -> list[Row]:
    """The encoder over the same bins, together and one by one."""
    import torch

    from bdl.batched_inference import densities, inference_batches
    from bdl.binning import Binned
    from bdl.encoders import Encoder
    from bdl.inference import density

    rng = np.random.default_rng(0)
    module = Encoder.parse("gru").build(8, 1, False)
    bins = SAMPLES // STRIDE
    items = [
        Binned(rng.normal(size=(bins, 8)).astype(np.float32), None, None, np.zeros(bins, bool))
        for _ in range(200)
    ]

    def together() -> None:
        for batch in inference_batches(items, module, len):
            densities(module, batch, outputs=1, link=torch.exp)

    def alone() -> None:
        for item in items:
            density(module, item, outputs=1, link=torch.exp)

    alone()
    name = f"encoder over 200 recordings of {bins} bins, together, beside one by one"
    return [Row(name, best(together), best(alone))]


def run() -> list[Row]:
    """``bdl detect`` on a busy machine, then the encoder alone."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder)
        seconds(folder, None, "few")  # compiles
        with busy(BUSY):
            turns = [(seconds(folder, None), seconds(folder, 1)) for _ in range(TURNS)]
        ours, plain = map(min, zip(*turns, strict=True))
        same = (folder / "None.csv").read_bytes() == (folder / "1.csv").read_bytes()
        assert same, "detections depend on the number of threads"
    cores = os.cpu_count()
    return [
        Row(
            f"bdl detect, {RECORDINGS:,} recordings of {SAMPLES:,} samples, beside "
            "OMP_NUM_THREADS=1",
            ours,
            plain,
            note=f"{BUSY} busy processes beside it on {cores} cores; takes {ours / plain:.2f} "
            "times as long (goal: at most 1.3)",
        ),
        *encoder_rows(),
    ]


if __name__ == "__main__":
    print(table(run()))
