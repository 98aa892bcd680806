"""Credit-card fraud: point events in a stream of transactions (ULB and Worldline, ODbL 1.0).

Published layout: ``credit_card_fraud_dataset.csv`` (an unnamed first column of time stamps, one
a second in file order, V1 to V28, Amount) and ``credit_card_fraud_events.csv`` (column events,
time stamps of frauds). The original rows, ``creditcard.csv`` or ``transactions.parquet`` (Time,
V1 to V28, Amount, Class), are read as well: row i is stamped i seconds. The stream is
cut into series of one hour, 3,600 transactions; detections in event-free series count as false
alarms.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bdl.datasets.dataset import Dataset, Settings, find
from bdl.datasets.stream import cut, read_stamps, stamp_column
from bdl.errors import InputError
from bdl.formats.files import reading
from bdl.sampling import nearest_sample

PERIOD = 1.0
SERIES = 3600
CHANNELS = (*(f"V{i}" for i in range(1, 29)), "Amount")
ROWS = ("transactions.parquet", "creditcard.csv")
TABLE, EVENTS = "credit_card_fraud_dataset.csv", "credit_card_fraud_events.csv"
LICENCE = "licence: ODbL 1.0; Machine Learning Group of ULB with Worldline"
SETTINGS = Settings(
    types=("fraud",),
    tolerances=(2.0,),
    stride=1,
    window=3600.0,
    reference_spacing=579.0,
    sigma=1.0,
    separation=1.0,
    event_free="count",
)


def load(path: Path) -> Dataset:
    """Frauds as point events of hourly series.

    Parameters
    ----------
    path : folder with the two published CSV files, or with the original rows.

    >>> import tempfile
    >>> from bdl.datasets.simulate import simulate
    >>> folder = Path(tempfile.mkdtemp())
    >>> simulate("fraud", folder, recordings=2)
    >>> load(folder).recordings["hour001"].values.shape
    (3600, 29)
    """
    rows = [path / name for name in ROWS if (path / name).exists()]
    if rows and not (path / TABLE).exists():
        table = rows[0]
        values, at = _rows(table)
    else:
        table, labels = find(path, TABLE, EVENTS, what="credit-card fraud data")
        values, at = _published(table, labels)
    recordings, events = cut(
        values, at, kind="fraud", series=SERIES, period=PERIOD, channels=CHANNELS,
        name="hour{:03d}", files=(table,),
    )  # fmt: skip
    return Dataset("fraud", recordings, events, (), SETTINGS, (LICENCE,))


def _rows(file: Path) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    with reading(file, "a table of transactions"):
        types = dict.fromkeys(CHANNELS, pl.Float32)
        frame = (
            pl.read_parquet(file)
            if file.suffix == ".parquet"
            else pl.read_csv(file, schema_overrides=types)
        )
    _check(frame.columns, (*CHANNELS, "Class"), file)
    return frame.select(CHANNELS).to_numpy().astype(np.float32), np.flatnonzero(frame["Class"])


def _published(table: Path, events: Path) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    with reading(table, "a CSV file"):
        frame = pl.read_csv(table, schema_overrides=dict.fromkeys(CHANNELS, pl.Float32))
    _check(frame.columns, CHANNELS, table)
    stamps = stamp_column(frame, frame.columns[0], table)
    start = stamps[0]
    steps = (stamps - start) / PERIOD
    wrong = np.flatnonzero(steps != np.arange(len(steps)))
    if len(wrong):
        raise InputError(
            f"{table}: row {wrong[0]} is stamped {steps[wrong[0]]:g} s after the first, "
            f"{wrong[0]} s expected; rows are missing, repeated or out of order"
        )
    at = nearest_sample(read_stamps(events) - start, PERIOD)
    outside = at[(at < 0) | (at >= len(frame))]
    if len(outside):
        raise InputError(
            f"{events}: {len(outside)} events outside the {len(frame)} rows of {table}"
        )
    return frame.select(CHANNELS).to_numpy(), at


def _check(columns: list[str], wanted: tuple[str, ...], file: Path) -> None:
    absent = [name for name in wanted if name not in columns]
    if absent:
        raise InputError(
            f"{file}: columns {', '.join(absent)} missing; it has {', '.join(columns)}"
        )
