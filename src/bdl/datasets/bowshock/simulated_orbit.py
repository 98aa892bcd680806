"""Simulated particle counts, written as the files of the bow shock data.

A spacecraft orbits between the solar wind and the magnetosheath behind the shock: a crossing is
a jump of level and turbulence within seconds to minutes, about one in 4,510 samples. Drifts of the
solar wind pressure, gusts and foreshock bursts resemble crossings, and there are data gaps. Stamps
of the crossings scatter by some seconds. A pickled frame is one object, so that all days are in
memory while it is written (about 0.9 MB per day).
"""

from __future__ import annotations

import pickle
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl
from numpy.random import Generator, default_rng
from numpy.typing import NDArray
from scipy.signal import lfilter

from bdl.datasets.bowshock import CHANNELS, EVENTS, PERIOD, SERIES, TABLE
from bdl.datasets.dataset import Progress
from bdl.errors import ConfigError, require
from bdl.formats.atomic_files import atomic

START = np.datetime64("2012-01-01", "ms")
ORBIT = 2 * 4510
LEVELS = np.array([[5.2, 7.1], [5.6, 7.6], [4.4, 6.3], [0.9, 2.2]])


@dataclass(frozen=True)
class Orbit:
    """Position of the spacecraft relative to the shock.

    Pressure moves the shock in and out, so that crossings are not strictly periodic.
    """

    orbit: float  # phase of the orbit in turns
    slow: float  # phase of the slow motion of the shock in turns
    fast: float  # phase of its fast motion in turns

    def inside(self, samples: NDArray[np.int64]) -> NDArray[np.int8]:
        """1 where the spacecraft is behind the shock, 0 in the solar wind."""
        turns = samples / ORBIT
        motion = np.sin(2 * np.pi * (0.37 * turns + self.slow))
        motion += 0.6 * np.sin(2 * np.pi * (1.71 * turns + self.fast))
        return ((turns + self.orbit + 0.04 * motion) % 1 < 0.5).astype(np.int8)


def write(
    folder: Path, *, recordings: int, days: float | None, seed: int, progress: Progress
) -> None:
    """Write the pickle and the event table: ``recordings`` days."""
    if days is not None:
        raise ConfigError("days: a bow shock recording is a day by definition; leave out --days")
    pandas = require("pandas", "bowshock")
    orbit = Orbit(*default_rng([seed, 1 << 32]).uniform(size=3))
    parts, stamps, crossings = [], [], []
    for number in range(recordings):
        rng = default_rng([seed, number])
        first = number * SERIES
        values, samples = make(rng, first, orbit)
        present = np.flatnonzero(_present(rng))
        parts.append(values[present])
        stamps.append(first + present)
        crossings.append((first + samples) * PERIOD + rng.normal(0, 8, size=len(samples)))
        progress(number + 1, recordings)
    index = START + (np.concatenate(stamps) * round(PERIOD * 1000)).astype("timedelta64[ms]")
    frame = pandas.DataFrame(
        np.concatenate(parts).astype(np.float64),
        index=pandas.DatetimeIndex(index.astype("datetime64[ns]")),
        columns=pandas.Index([*CHANNELS], dtype=object),
    )
    last = recordings * SERIES * PERIOD - 1
    seconds = np.clip(np.rint(np.concatenate(crossings)), 0, last).astype(np.int64)
    text = pl.Series("events", START + seconds.astype("timedelta64[s]"))
    with atomic(folder / TABLE) as table, atomic(folder / EVENTS) as events:
        with table.open("wb") as file:
            pickle.dump(frame, file, protocol=4)
        pl.DataFrame({"events": text.dt.to_string("%Y-%m-%d %H:%M:%S")}).write_csv(events)


def make(rng: Generator, first: int, orbit: Orbit) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Values of a day, shape (21600, 4), and the samples of its crossings."""
    ramp = max(1, round(rng.lognormal(np.log(4), 0.6)))
    # Samples before the day, for crossings at midnight and ramps that began before it.
    inside = orbit.inside(np.arange(first - ramp, first + SERIES))
    crossings = np.flatnonzero(np.diff(inside[ramp - 1 :]))
    sums = np.concatenate([[0.0], np.cumsum(inside)])
    share = (sums[ramp + 1 :] - sums[1:-ramp]) / ramp
    inside = inside[ramp:]
    pressure = lfilter([0.004], [1, -0.9995], rng.normal(size=SERIES)) * 2
    gusts = np.zeros(SERIES)
    for _ in range(rng.poisson(5)):
        begin, length = rng.integers(SERIES), rng.integers(20, 200)
        gusts[begin : begin + length] += rng.normal(0, 0.7)
    turbulence = np.where(inside == 1, 0.45, 0.2)
    noise = lfilter([0.6], [1, -0.7], rng.normal(size=(SERIES, 4)), axis=0)
    low, high = LEVELS[:, 0], LEVELS[:, 1]
    logs = low + (high - low) * share[:, None] + (pressure + gusts)[:, None]
    return np.exp((logs + noise * turbulence[:, None]) / 1.5).astype(np.float32), crossings


def _present(rng: Generator) -> NDArray[np.bool_]:
    """Samples that are in the file: all except an occasional gap."""
    present = np.ones(SERIES, bool)
    if rng.random() < 0.2:
        first = rng.integers(1, SERIES - 1)
        present[first : min(SERIES - 1, first + rng.integers(30, 900))] = False
    return present
