"""Simulated transactions, written as the files of the fraud data.

Transactions are heavy-tailed vectors with slow drifts of their scale. About one in 579 is a
fraud. Frauds come in bursts by one offender, shifted in a direction typical of the offender, some
by much and some hardly at all. Ordinary outliers look like other kinds of fraud.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import polars as pl
from numpy.random import Generator, default_rng
from numpy.typing import NDArray

from bdl.datasets.dataset import Progress
from bdl.datasets.fraud import CHANNELS, EVENTS, SERIES, TABLE
from bdl.errors import ConfigError
from bdl.formats.atomic_files import atomic

SPACING = 579
START = datetime(2013, 9, 1)
SCALE = np.linspace(1.9, 0.3, 28)


def write(
    folder: Path, *, recordings: int, days: float | None, seed: int, progress: Progress
) -> None:
    """Write the two CSV files: ``recordings`` hours of 3,600 transactions."""
    if days is not None:
        raise ConfigError("days: a fraud recording is an hour by definition; leave out --days")
    offenders = draw_offenders(default_rng([seed, 1 << 32]))
    with (
        atomic(folder / TABLE) as table,
        atomic(folder / EVENTS) as events,
        table.open("wb") as rows,
        events.open("wb") as stamped,
    ):
        # The first column, the time stamps, has no name.
        rows.write(("," + ",".join(CHANNELS) + "\n").encode())
        stamped.write(b"events\n")
        for number in range(recordings):
            values, frauds = make(default_rng([seed, number]), offenders)
            first = START + timedelta(seconds=SERIES * number)
            last = first + timedelta(seconds=SERIES - 1)
            stamps = pl.datetime_range(first, last, "1s", eager=True)
            text = stamps.dt.to_string("%Y-%m-%d %H:%M:%S").alias("stamp")
            frame = pl.DataFrame(values, schema=list(CHANNELS)).insert_column(0, text)
            frame.write_csv(rows, include_header=False, float_precision=6)
            text.gather(frauds).to_frame().write_csv(stamped, include_header=False)
            progress(number + 1, recordings)


def draw_offenders(rng: Generator) -> NDArray[np.float64]:
    """Draw the directions in which the frauds of each offender differ from ordinary transactions.

    They share, to a varying degree, the direction in which frauds differ in the published data. One
    direction per offender, shape (12, 28).
    """
    individual = rng.normal(size=(12, 28)) * (rng.random((12, 28)) < 0.3)
    common = np.zeros(28)
    common[[number - 1 for number in (3, 7, 9, 10, 12, 14, 16, 17)]] = -1.0
    common[[number - 1 for number in (2, 4, 11)]] = 0.8
    return individual + common * rng.uniform(0.3, 1.2, size=(12, 1))


def make(rng: Generator, offenders: NDArray[np.float64]) -> tuple[NDArray[np.float32], list[int]]:
    """Values of an hour, shape (3600, 29), and the rows of its frauds."""
    tails = rng.chisquare(5, size=(SERIES, 1)) / 5
    drift = np.exp(0.1 * np.cumsum(rng.normal(size=(SERIES // 100, 28)), axis=0) / 6)
    scale = np.repeat(drift, 100, axis=0) * SCALE
    values = rng.normal(size=(SERIES, 28)) / np.sqrt(tails) * scale
    outlier = rng.random(SERIES) < 0.004
    values[outlier] += rng.normal(size=(int(outlier.sum()), 28)) * 2.5 * SCALE
    amount = rng.lognormal(3.1, 1.6, size=SERIES)
    frauds: set[int] = set()
    # Bursts of one to four; their number is such that one row in 579 is a fraud.
    for _ in range(rng.poisson(SERIES / SPACING / 1.9)):
        size = rng.choice([1, 2, 3, 4], p=[0.5, 0.25, 0.1, 0.15])
        first = rng.integers(0, SERIES)
        rows = np.minimum(first + np.cumsum(rng.integers(1, 40, size=size)) - 1, SERIES - 1)
        direction = offenders[rng.integers(len(offenders))]
        for row in rows:
            values[row] += direction * SCALE * rng.gamma(2.0, 1.6)
            amount[row] = rng.choice([1.0, 99.99, rng.lognormal(4.0, 1.5)])
            frauds.add(int(row))
    return np.column_stack([values, amount]).astype(np.float32), sorted(frauds)
