"""One long stream cut into series, and the time stamps of the two streamed data sets.

Series k holds samples ``[k * series, (k + 1) * series)`` of the stream; the last may be shorter.
An event belongs to the series its sample falls into, so nothing matches across series.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.files import reading
from bdl.recording import Recording, RecordingInfo, Recordings, Values


def cut(
    values: Values,
    at: NDArray[np.int64],
    *,
    kind: str,
    series: int,
    period: float,
    channels: tuple[str, ...],
    name: str,
    files: tuple[Path, ...] = (),
) -> tuple[Recordings, Events]:
    """Series of a stream and its events, times in seconds from each series' start.

    Parameters
    ----------
    values : (samples, channels) of the whole stream.
    at : samples of the events.
    series : samples a series.
    name : pattern of the ids, given the number of the series.
    files : the files that the stream comes from.

    >>> stream = np.zeros((7, 1), np.float32)
    >>> recordings, events = cut(
    ...     stream, np.array([1, 4]), kind="x", series=3, period=2.0, channels=("a",), name="s{}"
    ... )
    >>> recordings.ids, events.recording.tolist(), events.time.tolist()
    (('s0', 's1', 's2'), ['s0', 's1'], [2.0, 2.0])
    """
    starts = range(0, len(values), series)
    infos = tuple(
        RecordingInfo(name.format(k), min(series, len(values) - first), channels, period)
        for k, first in enumerate(starts)
    )
    cuts = [
        Recording(info, values[first : first + info.samples])
        for info, first in zip(infos, starts, strict=True)
    ]
    ids = np.array([info.id for info in infos], dtype=object)
    ordered = np.sort(at)
    events = Events.of(ids[ordered // series], kind, ordered % series * period)
    return Recordings.of(cuts, files=files), events


def read_stamps(file: Path) -> NDArray[np.float64]:
    """The column ``events`` of a CSV file as seconds since 1970."""
    with reading(file, "a CSV file"):
        frame = pl.read_csv(file)
    if "events" not in frame.columns:
        raise InputError(f"{file}: column 'events' missing; it has {', '.join(frame.columns)}")
    return stamp_column(frame, "events", file)


def stamp_column(frame: pl.DataFrame, column: str, file: Path) -> NDArray[np.float64]:
    """A column of time stamps (text or numbers of seconds) as seconds since 1970.

    >>> stamp_column(pl.DataFrame({"at": ["1970-01-02 00:00:01.5"]}), "at", Path("a.csv")).tolist()
    [86401.5]
    """
    if frame[column].dtype.is_numeric():
        return frame[column].cast(pl.Float64).to_numpy()
    plain = frame[column].str.strip_chars().str.replace("T", " ", literal=True)
    stamps = plain.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)
    if stamps.null_count():
        row = int(np.flatnonzero(stamps.is_null().to_numpy())[0])
        raise InputError(
            f"{file}: column {column!r}, row {row}: a time stamp expected, "
            f"got {frame[column][row]!r}"
        )
    return stamps.dt.epoch("us").to_numpy() / 1e6
