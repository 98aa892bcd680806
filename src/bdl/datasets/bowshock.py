"""Martian bow shock crossings: point events in particle counts of Mars Express (ESA, CNES).

Layout: ``martian_bow_shock_dataset.pkl``, a pickled pandas frame indexed by time every 4 s with
the columns ws_totels_1_new, ws_totels_8, ws_totels_6, ws_rho among others, and
``martian_bow_shock_events.csv``, column events, time stamps of crossings. A series is a day of
the calendar; rows the instrument lacks are missing samples. Detections in event-free days count
as false alarms. The pickle is opened only with a word of trust, and then by a restricted loader.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bdl.datasets.dataset import Dataset, Settings, find
from bdl.datasets.pickles import load_frame
from bdl.datasets.stream import cut, read_stamps
from bdl.errors import ConfigError, InputError
from bdl.sampling import nearest_sample

PERIOD = 4.0
DAY = 86400
SERIES = round(DAY / PERIOD)
CHANNELS = ("ws_totels_1_new", "ws_totels_8", "ws_totels_6", "ws_rho")
TABLE, EVENTS = "martian_bow_shock_dataset.pkl", "martian_bow_shock_events.csv"
LICENCE = "source: Azib et al. 2023, from AMDA (CDPP, IRAP); ask the authors for terms"
SETTINGS = Settings(
    types=("crossing",),
    tolerances=(300.0,),
    stride=10,
    window=float(DAY),
    reference_spacing=4510 * PERIOD,
    sigma=15 * PERIOD,
    separation=PERIOD,
    event_free="count",
)


def load(path: Path, *, trust: bool = False) -> Dataset:
    """Bow shock crossings as point events of daily series.

    Parameters
    ----------
    path : folder with the pickle and the event table.
    trust : the pickle comes from where it should; without this it is not opened.

    >>> import tempfile
    >>> from bdl.datasets.simulate import simulate
    >>> folder = Path(tempfile.mkdtemp())
    >>> simulate("bowshock", folder, recordings=2)
    >>> load(folder, trust=True).recordings.ids
    ('day000', 'day001')
    >>> load(folder)
    Traceback (most recent call last):
    bdl.errors.ConfigError: ...martian_bow_shock_dataset.pkl is a pickle, which can run code ...
    """
    table, events = find(path, TABLE, EVENTS, what="bow shock data")
    if not trust:
        raise ConfigError(
            f"{table} is a pickle, which can run code when opened; say trust=True "
            "(--trust-pickle) if you know where it comes from"
        )
    values, origin, absent = _grid(table)
    at = nearest_sample(read_stamps(events) - origin, PERIOD)
    outside = int(((at < 0) | (at >= len(values))).sum())
    if outside:
        raise InputError(f"{events}: {outside} events lie outside the time span of {table.name}")
    recordings, found = cut(
        values, at, kind="crossing", series=SERIES, period=PERIOD, channels=CHANNELS,
        name="day{:03d}", files=(table,),
    )  # fmt: skip
    notes = (LICENCE, f"{absent} rows absent from the file are missing samples") if absent else ()
    return Dataset("bowshock", recordings, found, (), SETTINGS, notes or (LICENCE,))


def _grid(table: Path) -> tuple[NDArray[np.float32], float, int]:
    """Values every 4 s from the midnight before the first row; that midnight; rows absent."""
    frame = load_frame(table)
    missing = [name for name in CHANNELS if name not in frame.columns]
    if missing:
        raise InputError(
            f"{table}: columns {', '.join(missing)} missing; it has {', '.join(frame.columns)}"
        )
    if frame.index.dtype.kind != "M" or not len(frame):
        raise InputError(f"{table}: rows indexed by time expected, got {frame.index.dtype}")
    stamps = frame.index.to_numpy().astype("datetime64[ms]").astype(np.int64) / 1000
    origin = float(stamps[0] // DAY * DAY)
    place = nearest_sample(stamps - stamps[0], PERIOD)
    off = np.flatnonzero(np.abs(stamps - stamps[0] - place * PERIOD) > 0.1 * PERIOD)
    if len(off):
        raise InputError(
            f"{table}: row {off[0]} stands {stamps[off[0]] - stamps[0]:g} s after the first, which "
            f"is not on a clock of {PERIOD:g} s"
        )
    back = np.flatnonzero(np.diff(place) <= 0)
    if len(back):
        raise InputError(f"{table}: row {back[0] + 1} repeats or goes back in time")
    lead = int(nearest_sample(stamps[0] - origin, PERIOD))
    values = np.full((lead + int(place[-1]) + 1, len(CHANNELS)), np.nan, np.float32)
    values[lead + place] = frame[list(CHANNELS)].to_numpy(dtype=np.float32)
    return values, origin, int(place[-1]) + 1 - len(place)
