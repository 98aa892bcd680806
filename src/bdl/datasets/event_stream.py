"""Data sets that are one long stream, which is cut into recordings as long as a training window.

Recording k has the samples ``[k * length, (k + 1) * length)`` of the stream; the last may be
shorter. An event belongs to the recording of its sample, so that nothing matches across
recordings.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import polars as pl
from numpy.typing import NDArray

from bdl.datasets.benchmark import Benchmark, Settings
from bdl.datasets.dataset import Dataset
from bdl.datasets.raw_files import check_columns
from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.files import reading
from bdl.recording import Recording, RecordingInfo, Recordings, Values

if TYPE_CHECKING:
    from bdl.decoding.grid import Grid
    from bdl.density import DensityKind


class EventStream(Dataset):
    """Point events of one type in a stream of samples."""

    period: ClassVar[float]
    channels: ClassVar[tuple[str, ...]]
    recording_id: ClassVar[str]  # such as day{:03d}
    settings: ClassVar[Settings]

    def cut(
        self, values: Values, samples: NDArray[np.int64], table: Path, notes: tuple[str, ...] = ()
    ) -> Benchmark:
        """The benchmark of the stream in a table and of the samples of its events."""
        if np.isinf(values).any():
            row, column = np.argwhere(np.isinf(values))[0]
            raise InputError(
                f"{table}: column {self.channels[column]!r}, row {row}: a finite number expected; "
                "a missing one is empty or NaN"
            )
        length = round(self.settings.window / self.period)
        parts = [values[start : start + length] for start in range(0, len(values), length)]
        ids = [self.recording_id.format(number) for number in range(len(parts))]
        recordings = [
            Recording(RecordingInfo(id, len(part), self.channels, self.period), part)
            for id, part in zip(ids, parts, strict=True)
        ]
        ordered = np.sort(samples)
        events = Events.of(
            np.array(ids, dtype=object)[ordered // length],
            self.settings.types[0],
            ordered % length * self.period,
        )
        collection = Recordings.of(recordings, files=(table,))
        return Benchmark(self.kind, collection, events, (), self.settings, notes)

    @classmethod
    def grids(cls) -> Mapping[DensityKind, Grid]:
        """The default grid: the paper does not state the number of thresholds or the smoothing."""
        from bdl.decoding.peaks import PeakGrid

        return {"events": PeakGrid(separation=cls.settings.separation)}


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
