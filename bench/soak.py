"""A test for leaks: one process prepares, fits, detects, streams and runs studies repeatedly.

After every round it counts its memory, open files, threads, child processes and temporary files.
After some rounds, in which libraries are loaded and pools grow, none of them may grow further. A
study alternates between one process and two workers. Every round must end with the same detections.

    python -m bench.soak --minutes 30
"""

from __future__ import annotations

import argparse
import gc
import sys
import tempfile
import warnings
from dataclasses import astuple, dataclass
from pathlib import Path
from time import monotonic
from typing import Any

import numpy as np

WARM = 4  # rounds before the growth is judged
MEMORY = 64  # MiB by which memory may be larger than after those
PROTOCOL: dict[str, Any] = {
    "name": "soak",
    "data": "sleep",
    "split": {"kind": "folds", "folds": 2, "seed": 0, "calibration": 0.3, "calibration_seed": 5},
    "rows": [
        {"name": "BDL", "objective": "bdl-hard", "encoder": {"kind": "recurrent", "width": 4}}
    ],
    "training": {"epochs": 1, "batch": 2, "accelerator": "cpu"},
    "learning_rates": [3e-3],
    "window": 43200.0,
    "seeds": [0],
    "metrics": ["mAP"],
    "bootstrap": {"replicates": 10},
}
HEAD = "| round | minutes | memory in MiB | open files | threads | processes | temporary files |"


@dataclass(frozen=True)
class Resources:
    """Resources of the process after a round."""

    memory: int
    files: int
    threads: int
    processes: int
    temporary: int

    @classmethod
    def now(cls, temporary: Path) -> Resources:
        """Count the resources."""
        gc.collect()
        own = Path("/proc/self")
        children = [file.read_text().split() for file in own.glob("task/*/children")]
        return cls(
            memory=int((own / "statm").read_text().split()[1]) * 4096 >> 20,
            files=len([*(own / "fd").iterdir()]),
            threads=len([*(own / "task").iterdir()]),
            processes=sum(map(len, children)),
            temporary=len([*temporary.rglob("*")]),
        )

    def excess(self, before: Resources) -> list[str]:
        """The resources that have grown."""
        limits = Resources(before.memory + MEMORY, *astuple(before)[1:])
        return [name for name in vars(self) if getattr(self, name) > getattr(limits, name)]


def one_round(folder: Path, *, jobs: int) -> tuple[int, ...]:
    """Every kind of work once; numbers that must be those of every other round."""
    from bdl import Detector, Events, Recording, Recordings, Workers, read_recordings
    from bdl.datasets import Sleep
    from bdl.formats import prepare
    from bdl.study import Protocol, run_study, verify_study

    rng = np.random.default_rng(0)
    values = rng.normal(size=(8, 3_000, 2)).astype(np.float32)
    times = np.arange(100, 2_900, 400)
    values[:, times, 0] += 20
    parts = [Recording.of(v, id=f"r{i}", period=1.0) for i, v in enumerate(values)]
    prepare(Recordings.of(parts), folder / "store")
    store = read_recordings(folder / "store")
    names, seconds = np.repeat(store.ids, len(times)), np.tile(times.astype(float), len(store.ids))
    detector = Detector(
        lag=20.0, encoder="forward-gru", features={"stride": 5}, tolerances=(10.0,),
        training={"epochs": 1, "accelerator": "cpu"}, selection={"folds": 0},
    ).fit(store, Events.of(names, "spike", seconds))  # fmt: skip
    detector.save(folder / "model")
    loaded = Detector.load(folder / "model")
    detections = loaded.detect(store)
    stream = loaded.stream("r0", period=1.0)
    pushed = [stream.push(values[0][first : first + 50]) for first in range(0, 3_000, 50)]
    live = Events.concat([*pushed, stream.finish()])
    assert sorted(live.time) == detections.select(recordings=["r0"]).time.tolist()
    Sleep().simulate(folder / "sleep", recordings=6, days=1, seed=0)
    results = run_study(
        Protocol(**PROTOCOL),
        folder / "run",
        data=folder / "sleep",
        workers=Workers(jobs=jobs, threads=1),
    )
    verify_study(str(folder / "run"))
    return len(detections), len(live), len(results.records)


def main() -> int:
    """Run rounds until the time is over; the exit code is 1 if anything grew."""
    parser = argparse.ArgumentParser(prog="python -m bench.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=30.0)
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    print(HEAD, "|---:|---:|---:|---:|---:|---:|---:|", sep="\n")
    rounds: list[Resources] = []
    results = set()
    begin = monotonic()
    with tempfile.TemporaryDirectory() as home:
        tempfile.tempdir = str(Path(home) / "temporary")
        Path(tempfile.tempdir).mkdir()
        while monotonic() - begin < 60 * args.minutes or len(rounds) <= WARM:
            with tempfile.TemporaryDirectory(dir=home) as folder:
                results.add(one_round(Path(folder), jobs=1 + len(rounds) % 2))
            rounds.append(Resources.now(Path(tempfile.tempdir)))
            cells = (len(rounds), f"{(monotonic() - begin) / 60:.1f}", *astuple(rounds[-1]))
            print("| " + " | ".join(map(str, cells)) + " |", flush=True)
    grown = rounds[-1].excess(rounds[WARM - 1])
    if len(results) > 1:
        grown.append(f"results differ: {results}")
    print("grown: " + (", ".join(grown) or "nothing"))
    return int(bool(grown))


if __name__ == "__main__":
    sys.exit(main())
