"""Simulated sleep recordings, written as the files of the Kaggle competition.

They have the difficulties of real recordings: circadian activity, sedentary evenings,
lying awake, restless and interrupted nights, naps, devices that are not worn, repeated days,
daylight saving time, differences between people, and scatter of the annotators. The simulation
does not depend on any training objective.
"""

from __future__ import annotations

import csv
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.random import Generator, default_rng

from bdl.datasets.dataset import Progress
from bdl.datasets.sleep import EVENTS, SERIES, annotation, day_course, movement, wearer
from bdl.datasets.sleep.wall_clock import DAY, PERIOD, WallClock
from bdl.formats.atomic_files import atomic

SCHEMA = pa.schema(
    [
        ("series_id", pa.string()),
        ("step", pa.uint32()),
        ("timestamp", pa.string()),
        ("anglez", pa.float32()),
        ("enmo", pa.float32()),
    ]
)


def write(
    folder: Path, *, recordings: int, days: float | None, seed: int, progress: Progress
) -> None:
    """Write ``train_series.parquet`` and ``train_events.csv``; 26 days per series by default."""
    samples = max(1, round((26 if days is None else days) * DAY / PERIOD))
    with (
        atomic(folder / SERIES) as series,
        atomic(folder / EVENTS) as events,
        pq.ParquetWriter(series, SCHEMA, compression="zstd", use_dictionary=["series_id"]) as file,
        events.open("w", newline="") as text,
    ):
        table = csv.writer(text, lineterminator="\n")
        table.writerow(["series_id", "night", "event", "step", "timestamp"])
        for number in range(recordings):
            name, rows, nights = make(default_rng([seed, number]), samples)
            file.write_table(rows, row_group_size=samples)
            stamps = rows.column("timestamp")
            for night, steps in enumerate(nights, start=1):
                for kind, step in zip(("onset", "wakeup"), steps, strict=True):
                    stamp = "" if step is None else stamps[step].as_py()
                    table.writerow([name, night, kind, "" if step is None else step, stamp])
            progress(number + 1, recordings)


def make(rng: Generator, samples: int) -> tuple[str, pa.Table, list[tuple[int | None, int | None]]]:
    """One series: its id, its rows, and the steps of onset and wakeup of each night."""
    name = f"{int(rng.integers(1 << 48)):012x}"
    start = datetime(2017, 6, 1) + timedelta(
        days=int(rng.integers(0, 730)), minutes=15 * int(rng.integers(32, 76))
    )
    clock = WallClock(start)
    person = wearer.draw(rng)
    course = day_course.draw(rng, person, clock, samples)
    angle, enmo = movement.draw(rng, person, clock, course)
    rows = pa.table(
        {
            "series_id": pa.DictionaryArray.from_arrays(
                np.zeros(samples, np.int32), pa.array([name])
            ).cast(pa.string()),
            "step": np.arange(samples, dtype=np.uint32),
            "timestamp": clock.stamps(0, samples),
            "anglez": angle,
            "enmo": enmo,
        },
        schema=SCHEMA,
    )
    return name, rows, annotation.draw(rng, course)
