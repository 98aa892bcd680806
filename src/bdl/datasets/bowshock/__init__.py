"""Martian bow shock crossings: point events in particle counts of Mars Express (ESA, CNES).

Files: ``martian_bow_shock_dataset.pkl``, a pickled pandas frame indexed by time every 4 s with
the columns ws_totels_1_new, ws_totels_8, ws_totels_6, ws_rho among others, and
``martian_bow_shock_events.csv``, column events, time stamps of crossings. A recording is a day of
the calendar; rows that are absent from the table are missing samples. Detections in event-free days
are false alarms. The pickle is opened only with the option ``trust``, and then by a restricted
loader.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from bdl.datasets.benchmark import Benchmark, Settings
from bdl.datasets.bowshock.pickled_frames import load_frame
from bdl.datasets.dataset import Simulator
from bdl.datasets.event_stream import EventStream, read_stamps
from bdl.datasets.raw_files import check_columns, published_files
from bdl.errors import ConfigError, InputError
from bdl.formats.files import reading
from bdl.limits import check_expansion
from bdl.sampling import nearest_sample

PERIOD = 4.0
DAY = 86400
SERIES = round(DAY / PERIOD)
CHANNELS = ("ws_totels_1_new", "ws_totels_8", "ws_totels_6", "ws_rho")
TABLE, EVENTS = "martian_bow_shock_dataset.pkl", "martian_bow_shock_events.csv"


class BowShock(EventStream):
    """Bow shock crossings as point events in recordings of a day.

    Parameters
    ----------
    trust
        Whether the pickle may be opened: only if you know where it comes from.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> BowShock().simulate(folder, recordings=2)
    >>> BowShock(trust=True).load(folder).recordings.ids
    ('day000', 'day001')
    >>> BowShock().load(folder)
    Traceback (most recent call last):
    bdl.errors.ConfigError: ...martian_bow_shock_dataset.pkl is a pickle, which can run code ...
    """

    kind: Literal["bowshock"] = "bowshock"
    trust: bool = False

    licence = "ask the authors for terms"
    citation = "Azib et al. 2023, from AMDA (CDPP, IRAP)"
    requires = "Martian bow shock (pickle: needs --trust-pickle)"
    recording_count = 300
    window_bins = 21_600
    period = PERIOD
    channels = CHANNELS
    recording_id = "day{:03d}"
    settings = Settings(
        types=("crossing",),
        tolerances=(300.0,),
        stride=10,
        window=float(DAY),
        reference_spacing=4510 * PERIOD,
        sigma=15 * PERIOD,
        separation=PERIOD,
        event_free="count",
    )

    def read(self, path: Path) -> Benchmark:
        table, events = published_files(path, TABLE, EVENTS, what="bow shock data")
        if not self.trust:
            raise ConfigError(
                f"{table} is a pickle, which can run code when opened; if you know where it "
                "comes from, allow it with --option trust=yes (--trust-pickle for studies, "
                "trust=True in Python)"
            )
        values, origin, absent = _regular_values(table)
        samples = nearest_sample(read_stamps(events) - origin, PERIOD)
        outside = int(((samples < 0) | (samples >= len(values))).sum())
        if outside:
            raise InputError(f"{events}: {outside} events outside the time span of {table.name}")
        notes = (f"{absent} rows absent from the file are missing samples",) if absent else ()
        return self.cut(values, samples, table, notes)

    def trusted(self) -> Self:
        return self.replace(trust=True)

    def simulator(self) -> Simulator:
        """Simulated crossings; a recording is a day."""
        from bdl.datasets.bowshock.simulated_orbit import write

        return write


def _regular_values(table: Path) -> tuple[NDArray[np.float32], float, int]:
    """Values every 4 s from the midnight before the first row, that midnight, and absent rows."""
    frame = load_frame(table)
    check_columns(frame.columns, CHANNELS, table)
    if frame.times is None or not len(frame.times):
        raise InputError(f"{table}: rows indexed by time expected, got another index, or no rows")
    stamps = frame.times.astype("datetime64[ms]").astype(np.int64) / 1000
    origin = float(stamps[0] // DAY * DAY)
    place = nearest_sample(stamps - stamps[0], PERIOD)
    irregular = np.flatnonzero(np.abs(stamps - stamps[0] - place * PERIOD) > 0.1 * PERIOD)
    if len(irregular):
        row = irregular[0]
        raise InputError(
            f"{table}: row {row} is {stamps[row] - stamps[0]:g} s after the first, which is not a "
            f"multiple of {PERIOD:g} s"
        )
    backwards = np.flatnonzero(np.diff(place) <= 0)
    if len(backwards):
        raise InputError(f"{table}: row {backwards[0] + 1} repeats or goes back in time")
    lead = int(nearest_sample(stamps[0] - origin, PERIOD))
    samples = lead + int(place[-1]) + 1
    check_expansion(4 * samples * len(CHANNELS), table.stat().st_size, table)
    values = np.full((samples, len(CHANNELS)), np.nan, np.float32)
    with reading(table, "a pickled data frame"), np.errstate(over="ignore"):
        for i, name in enumerate(CHANNELS):
            values[lead + place, i] = frame.values(name)
    return values, origin, int(place[-1]) + 1 - len(place)
