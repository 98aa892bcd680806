"""A window of a recording with its events and the outputs of some models, to be drawn."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from bdl.arrays import Floats
from bdl.recording import Recording
from bdl.sampling import nearest_sample

CHANNELS = 2  # of the signal, at most
HOUR = 3600.0
MINUTE = 60.0


@dataclass(frozen=True)
class RowOutput:
    """Output of one row in the window."""

    kind: str  # events or state
    time: Floats  # centres of the bins in seconds
    values: Mapping[str, Floats]  # density, or transition evidence of a segmentation, by event type
    occupancy: Floats  # state probability of a segmentation; empty for the others


@dataclass(frozen=True)
class Window:
    """Data of a recording from ``first`` to ``last``, in seconds, to be drawn."""

    recording: str
    first: float
    last: float
    events: Mapping[str, Floats]  # times of the annotated events by type, in the order of types
    intervals: tuple[tuple[float, float], ...]  # start and end of annotated intervals in seconds
    signal_time: Floats
    signal: Mapping[str, Floats]  # values by channel
    rows: Mapping[str, RowOutput]  # outputs by name of the row
    schematic: bool = False  # whether the outputs are schematic and not those of a model

    def row_of_kind(self, kind: str) -> tuple[str, RowOutput] | None:
        """The first row of a kind."""
        return next(((name, row) for name, row in self.rows.items() if row.kind == kind), None)

    @property
    def unit(self) -> tuple[float, str]:
        """Seconds per unit of the time axis, and its name."""
        span = self.last - self.first
        if span > 3 * HOUR:
            return HOUR, "h"
        return (MINUTE, "min") if span > 5 * MINUTE else (1.0, "s")


def signal_means(
    recording: Recording, first: float, last: float, points: int = 600
) -> tuple[Floats, dict[str, Floats]]:
    """Means of the first channels over at most ``points`` equal parts of a span in seconds.

    The result has the centres of the parts in seconds, and values by channel.

    Examples
    --------
    >>> recording = Recording.of(np.arange(10.0), id="a", period=1.0, channels=["x"])
    >>> time, channels = signal_means(recording, 0.0, 10.0, points=2)
    >>> time.tolist(), channels["x"].tolist()
    ([2.5, 7.5], [2.0, 7.0])
    """
    period = recording.info.period
    start, stop = np.clip(nearest_sample([first, last], period), 0, recording.info.samples).tolist()
    edges = np.linspace(start, stop, min(points, stop - start) + 1).astype(int)
    channels = recording.info.channels[:CHANNELS]
    values = recording.values[start:stop, : len(channels)].astype(np.float64)
    sums = np.add.reduceat(np.nan_to_num(values), edges[:-1] - start, axis=0)
    means = sums / np.diff(edges)[:, None]
    centres = 0.5 * (edges[:-1] + edges[1:]) * period
    return centres, dict(zip(channels, means.T, strict=True))
