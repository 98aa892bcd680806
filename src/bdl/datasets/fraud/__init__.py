"""Credit-card fraud: point events in a stream of transactions (ULB and Worldline, ODbL 1.0).

Published files: ``credit_card_fraud_dataset.csv`` (an unnamed first column of time stamps, one
per second in file order, V1 to V28, Amount) and ``credit_card_fraud_events.csv`` (column events,
time stamps of frauds). The original rows, ``creditcard.csv`` or ``transactions.parquet`` (Time,
V1 to V28, Amount, Class), are read as well: row i has time i seconds. The stream is cut into
recordings of one hour, 3,600 transactions; detections in event-free ones count as false alarms.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bdl.datasets.benchmark import Benchmark, Settings
from bdl.datasets.dataset import Simulator
from bdl.datasets.downloads import Download, Kaggle
from bdl.datasets.event_stream import EventStream, read_stamps, stamp_column
from bdl.datasets.raw_files import check_columns, published_files
from bdl.errors import InputError
from bdl.formats.files import reading
from bdl.sampling import nearest_sample

PERIOD = 1.0
SERIES = 3600
CHANNELS = (*(f"V{i}" for i in range(1, 29)), "Amount")
ROWS = ("transactions.parquet", "creditcard.csv")
TABLE, EVENTS = "credit_card_fraud_dataset.csv", "credit_card_fraud_events.csv"


class Fraud(EventStream):
    """Credit-card frauds as point events in recordings of an hour.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> Fraud().simulate(folder, recordings=2)
    >>> Fraud().load(folder).recordings["hour001"].values.shape
    (3600, 29)
    """

    kind: Literal["fraud"] = "fraud"

    licence = "Open Database License 1.0; contents: Database Contents License"
    citation = (
        "Dal Pozzolo A, Caelen O, Johnson RA, Bontempi G. Calibrating probability with "
        "undersampling for unbalanced classification. IEEE SSCI, 2015"
    )
    requires = "credit-card fraud, events as published"
    recording_count = 80
    window_bins = 3_600
    period = PERIOD
    channels = CHANNELS
    recording_id = "hour{:03d}"
    settings = Settings(
        types=("fraud",),
        tolerances=(2.0,),
        stride=1,
        window=3600.0,
        reference_spacing=579.0,
        sigma=1.0,
        separation=1.0,
        event_free="count",
    )

    def read(self, path: Path) -> Benchmark:
        """Read the folder with the two published CSV files, or with the original rows."""
        rows = [path / name for name in ROWS if (path / name).exists()]
        if rows and not (path / TABLE).exists():
            table = rows[0]
            values, samples = _read_rows(table)
        else:
            table, events = published_files(path, TABLE, EVENTS, what="credit-card fraud data")
            values, samples = _read_published(table, events)
        return self.cut(values, samples, table)

    def simulator(self) -> Simulator:
        """Simulated transactions; a recording is an hour."""
        from bdl.datasets.fraud.simulated_transactions import write

        return write

    def download(self) -> Download:
        return Kaggle(dataset="mlg-ulb/creditcardfraud")


def _read_rows(file: Path) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Values of the original rows, and the rows that are frauds."""
    with reading(file, "a table of transactions"):
        types = dict.fromkeys(CHANNELS, pl.Float32)
        frame = (
            pl.read_parquet(file)
            if file.suffix == ".parquet"
            else pl.read_csv(file, schema_overrides=types)
        )
    check_columns(frame.columns, (*CHANNELS, "Class"), file)
    return frame.select(CHANNELS).to_numpy().astype(np.float32), np.flatnonzero(frame["Class"])


def _read_published(table: Path, events: Path) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Values of the published table, and the rows that are frauds."""
    with reading(table, "a CSV file"):
        frame = pl.read_csv(table, schema_overrides=dict.fromkeys(CHANNELS, pl.Float32))
    check_columns(frame.columns, CHANNELS, table)
    stamps = stamp_column(frame, frame.columns[0], table)
    steps = (stamps - stamps[0]) / PERIOD
    wrong = np.flatnonzero(steps != np.arange(len(steps)))
    if len(wrong):
        raise InputError(
            f"{table}: row {wrong[0]} is stamped {steps[wrong[0]]:g} s after the first, "
            f"{wrong[0]} s expected; rows are missing, repeated or out of order"
        )
    samples = nearest_sample(read_stamps(events) - stamps[0], PERIOD)
    outside = int(((samples < 0) | (samples >= len(frame))).sum())
    if outside:
        raise InputError(f"{events}: {outside} events outside the {len(frame)} rows of {table}")
    return frame.select(CHANNELS).to_numpy(), samples
