"""Preparing and binning a long sleep table, compared with pandas.

The layout is that of the Kaggle sleep table: one Parquet file, ids and timestamps as text with a
UTC offset that changes at daylight saving, two float32 channels every 5 s. Both ways end with
the mean, maximum, minimum and population standard deviation of every 50 s, the local hour and
the weekday, and run in separate processes, so that peak memory can be compared.
"""

from __future__ import annotations

import json
import sys
import tempfile
from datetime import datetime
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from bench.processes import child_json, peak_memory
from bench.row import Row, table

ROWS = 460_000
RECORDINGS = 30
STRIDE = 10
CHANGE = np.datetime64("2018-11-04T06:00:00")


def _texts(start: np.datetime64, rows: int) -> pa.Array:
    """Timestamps every 5 s from a UTC start, -0400 before the change of clocks and -0500 after."""
    moments = start + np.arange(rows) * np.timedelta64(5, "s")
    summer = moments < CHANGE
    local = moments - np.where(summer, np.timedelta64(4, "h"), np.timedelta64(5, "h"))
    out = np.empty((rows, 24), np.uint8)
    out[:, :19] = (
        np.datetime_as_string(local, unit="s").astype("S19").view(np.uint8).reshape(-1, 19)
    )
    out[:, 19:] = np.frombuffer(b"-0500", np.uint8)
    out[summer, 21] = ord("4")
    ends = np.arange(rows + 1, dtype=np.int32) * 24
    return pa.StringArray.from_buffers(rows, pa.py_buffer(ends), pa.py_buffer(out))


def make(file: Path, recordings: int, rows: int = ROWS, seed: int = 0) -> None:
    """Write a sleep table; row groups do not end where recordings end."""
    # Imported here, because its libraries would count as memory of the measured ways.
    from bdl.datasets.sleep.simulated_sleep import SCHEMA

    rng = np.random.default_rng(seed)
    with pq.ParquetWriter(file, SCHEMA) as writer:
        tables: list[pa.Table] = []
        for number in range(recordings):
            start = np.datetime64("2018-10-20T15:30:00") + int(rng.integers(0, 200)) * 900
            tables.append(
                pa.table(
                    [
                        pa.array([f"{number:012x}"]).take(pa.array(np.zeros(rows, np.int8))),
                        pa.array(np.arange(rows, dtype=np.uint32)),
                        _texts(start, rows),
                        pa.array(rng.normal(0, 30, rows).round(4).astype(np.float32)),
                        pa.array(np.abs(rng.normal(0, 0.05, rows)).round(4).astype(np.float32)),
                    ],
                    schema=SCHEMA,
                )
            )
            if len(tables) == 3 or number == recordings - 1:
                writer.write_table(pa.concat_tables(tables), row_group_size=1 << 20)
                tables = []


def ours(file: Path, out: Path) -> float:
    """Prepare a store and bin each recording; returns a checksum of all features."""
    from bdl.binning import bin_features
    from bdl.features import Features
    from bdl.formats import prepare, read_recordings

    recordings = read_recordings(
        file,
        recording="series_id",
        sample="step",
        time="timestamp",
        clock="iso",
        period=5.0,
        channels=("anglez", "enmo"),
    )
    features = Features(stride=STRIDE, calendar=True, scaling="none")
    total = 0.0
    for recording in prepare(recordings, out):
        binned = bin_features(recording, features)
        assert binned.hour is not None
        total += float(binned.values.sum(dtype=np.float64)) + float(binned.hour.sum())
    return total


def plain(file: Path, out: Path) -> float:
    """Pandas, with every step as in its documentation.

    Local hours need each row's own offset; for texts of mixed offsets the documentation of
    ``to_datetime`` says to ``apply`` a parser of ``datetime``, and the fastest one is taken here.
    """
    import pandas as pd

    frame = pd.read_parquet(file)
    frame["timestamp"] = frame["timestamp"].apply(datetime.fromisoformat)
    frame["hour"] = frame["timestamp"].apply(lambda at: at.hour)
    frame["weekday"] = frame["timestamp"].apply(lambda at: at.weekday())
    return _grouped(frame, out)


def tuned(file: Path, out: Path) -> float:
    """Optimised pandas, without a Python object per row."""
    import pandas as pd

    frame = pd.read_parquet(file)
    moments = pd.to_datetime(frame["timestamp"], utc=True)
    assert (moments.groupby(frame["series_id"]).diff().dropna() == pd.Timedelta(seconds=5)).all()
    local = pd.to_datetime(frame["timestamp"].str[:19])
    frame["hour"] = local.dt.hour
    frame["weekday"] = local.dt.day_of_week
    return _grouped(frame, out)


def _grouped(frame: Any, out: Path) -> float:
    import pandas as pd

    frame["bin"] = frame["step"] // STRIDE
    groups = frame.groupby(["series_id", "bin"], sort=False)
    values = groups[["anglez", "enmo"]]
    parts = [values.mean(), values.max(), values.min(), values.std(ddof=0)]
    features = pd.concat(parts, axis=1).to_numpy(np.float32)
    hours = groups["hour"].first()
    groups["weekday"].first()
    np.save(out, features)
    return float(features.sum(dtype=np.float64)) + float(hours.sum())


def decode(file: Path, out: Path) -> float:
    """Decoding of the file alone: the least time of any way."""
    source = pq.ParquetFile(file, read_dictionary=["series_id"])
    return float(sum(len(batch) for batch in source.iter_batches(1 << 17, use_threads=False)))


def measure(way: str, file: Path, out: Path) -> tuple[float, float, float]:
    """Seconds, peak memory in MiB and result of one way, in a separate process."""
    small = out.with_name("small.parquet")
    make(small, 1, rows=8192)  # long enough that all compiled code is loaded
    seconds, peak, result = child_json("bench.prepare", way, small, file, out)
    return seconds, peak, result


def run() -> list[Row]:
    """Time and memory of all ways, and memory when the recordings double."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        once, twice = folder / "once.parquet", folder / "twice.parquet"
        make(once, RECORDINGS)
        make(twice, 2 * RECORDINGS)
        # The first run of a fresh installation compiles; users see the time of later ones.
        runs = [measure("ours", once, folder / f"store{i}") for i in range(4)][1:]
        documented = measure("plain", once, folder / "plain.npy")
        optimised = measure("tuned", once, folder / "tuned.npy")
        bare = min(measure("decode", once, folder / "none")[0] for _ in range(3))
        doubled = measure("ours", twice, folder / "doubled")
    fast, peak = min(runs), max(run[1] for run in runs)
    for seconds, _, result in (documented, optimised):
        assert abs(fast[2] - result) < 1e-6 * abs(result), (fast[2], result, seconds)
    note = f"{RECORDINGS} x {ROWS:,} rows; limit: bare decoding of the file"
    return [
        Row("prepare and bin a sleep table, pandas", fast[0], documented[0], bare, note=note),
        Row("the same, optimised pandas", fast[0], optimised[0], bare),
        Row("peak memory, pandas", peak, documented[1], unit="MiB"),
        Row("peak memory, optimised pandas", peak, optimised[1], unit="MiB"),
        Row("peak memory, recordings doubled", doubled[1], peak, unit="MiB", note="1.0 is flat"),
    ]


def main() -> None:
    """Without arguments the whole benchmark; with a way, two files and a target, that way alone."""
    if len(sys.argv) == 1:
        print(table(run()))
        return
    small, file, out = map(Path, sys.argv[2:5])
    way = {"ours": ours, "plain": plain, "tuned": tuned, "decode": decode}[sys.argv[1]]
    with tempfile.TemporaryDirectory() as name:
        # Loading libraries and compiled code is not part of any way: a small table first.
        way(small, Path(name) / "out.npy")
    begin = perf_counter()
    result = way(file, out)
    seconds = perf_counter() - begin
    print(json.dumps([seconds, peak_memory() / 2**20, result]))


if __name__ == "__main__":
    main()
