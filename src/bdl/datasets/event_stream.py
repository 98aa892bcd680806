"""One long stream cut into recordings, and the time stamps of the two streamed data sets.

Recording k has the samples ``[k * length, (k + 1) * length)`` of the stream; the last may be
shorter. An event belongs to the recording of its sample, so that nothing matches across
recordings.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bdl.datasets.raw_files import check_columns
from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.files import reading
from bdl.recording import Recording, RecordingInfo, Recordings, Values


def cut(
    values: Values,
    samples: NDArray[np.int64],
    *,
    event: str,
    length: int,
    period: float,
    channels: tuple[str, ...],
    name: str,
    files: tuple[Path, ...] = (),
) -> tuple[Recordings, Events]:
    """Recordings of a stream and its events, times in seconds from each recording's start."""
    if np.isinf(values).any():
        row, column = np.argwhere(np.isinf(values))[0]
        raise InputError(
            f"{files[0] if files else 'stream'}: column {channels[column]!r}, row {row}: a finite "
            "number expected; a missing one is empty or NaN"
        )
    starts = range(0, len(values), length)
    parts = [values[start : start + length] for start in starts]
    recordings = [
        Recording(RecordingInfo(name.format(number), len(part), channels, period), part)
        for number, part in enumerate(parts)
    ]
    ids = np.array([recording.id for recording in recordings], dtype=object)
    ordered = np.sort(samples)
    events = Events.of(ids[ordered // length], event, ordered % length * period)
    return Recordings.of(recordings, files=files), events


def read_stamps(file: Path) -> NDArray[np.float64]:
    """The column ``events`` of a CSV file as seconds since 1970."""
    with reading(file, "a CSV file"):
        frame = pl.read_csv(file)
    check_columns(frame.columns, ("events",), file)
    return stamp_column(frame, "events", file)


def stamp_column(frame: pl.DataFrame, column: str, file: Path) -> NDArray[np.float64]:
    """A column of time stamps (text or numbers of seconds) as seconds since 1970.

    Examples
    --------
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
