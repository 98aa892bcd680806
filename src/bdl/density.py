"""A density: the output of a model for every time bin of a recording, on the recording's clock.

For kind ``events`` a value is the expected number of events of a type in the bin; for kind
``state`` it is the probability that the bin is inside an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Floats, Longs, Singles
from bdl.errors import DensityError, InputError, require
from bdl.frames import Tabular, html_table
from bdl.sampling import bin_centres, bin_count

if TYPE_CHECKING:
    from bdl.events import Events

DensityKind = Literal["events", "state"]
MOST_POINTS = 20_000  # points per curve of a plot; of more bins, the largest of each group is drawn


@dataclass(frozen=True, eq=False)
class Density(Tabular):
    """Values per bin and type of one recording.

    Parameters
    ----------
    recording
        Id of the recording.
    values
        (bins, types) float32, nonnegative.
    types
        Event types (kind ``events``) or interval names (kind ``state``), one per column.
    period
        Seconds from one sample to the next.
    stride
        Samples per bin; the last bin may have fewer.
    samples
        Length of the recording in samples; ``bins == ceil(samples / stride)``.
    kind
        ``events`` or ``state``.
    bounded
        Whether every value is in [0, 1] (Bernoulli outputs) rather than an open-ended mass.

    Examples
    --------
    >>> density = Density("a", np.zeros((3, 1), np.float32), ("beat",), 0.5, stride=4, samples=10)
    >>> density.times.tolist()
    [0.75, 2.75, 4.25]
    >>> density.to_polars().columns
    ['time', 'beat']
    """

    recording: str
    values: Singles
    types: tuple[str, ...]
    period: float
    stride: int
    samples: int
    kind: DensityKind = "events"
    bounded: bool = False

    def __post_init__(self) -> None:
        expected = (bin_count(self.samples, self.stride), len(self.types))
        where = f"density of recording {self.recording!r}"
        if self.values.shape != expected:
            raise InputError(
                f"{where}: {self.samples} samples at stride {self.stride} and {len(self.types)} "
                f"types need values of shape {expected}, got {self.values.shape}"
            )
        if not np.isfinite(self.values).all() or (self.values < 0).any():
            bad = np.argwhere(~(self.values >= 0) | np.isinf(self.values))[0]
            raise DensityError(
                f"{where}: finite, nonnegative values expected, got {self.values[tuple(bad)]} in "
                f"bin {bad[0]} of {self.types[bad[1]]!r}"
            )
        if self.bounded and (self.values > 1).any():
            bad = np.argwhere(self.values > 1)[0]
            raise InputError(
                f"{where}: declared bounded, but bin {bad[0]} of {self.types[bad[1]]!r} is "
                f"{self.values[tuple(bad)]} > 1"
            )

    @property
    def edges(self) -> Longs:
        """First sample of each bin, and the end: (bins + 1,)."""
        return np.minimum(np.arange(len(self.values) + 1) * self.stride, self.samples)

    @property
    def times(self) -> Floats:
        """Centre of each bin in seconds, the mean time of its samples: (bins,)."""
        return bin_centres(np.arange(len(self.values)), self.stride, self.period, self.samples)

    def columns(self) -> dict[str, NDArray[Any]]:
        """Return the columns of the table: time in seconds, then one per type."""
        if "time" in self.types:
            raise InputError(
                f"density of recording {self.recording!r}: the event type 'time' has the name of "
                "the column of times; rename the type to make a table"
            )
        return {"time": self.times, **dict(zip(self.types, self.values.T, strict=True))}

    def plot(self, events: Events | None = None) -> Any:
        """Draw the density over time as an interactive figure.

        Parameters
        ----------
        events
            Annotated events or detections; those of this recording are marked.

        Returns
        -------
        plotly.graph_objects.Figure
            One curve per type.
        """
        graph_objects = require("plotly.graph_objects", "report")
        figure = graph_objects.Figure()
        group = max(1, -(-len(self.values) // MOST_POINTS))
        for column, name in enumerate(self.types):
            bins = _highest(self.values[:, column], group)
            figure.add_scatter(
                x=self.times[bins], y=self.values[bins, column], mode="lines", name=escape(name)
            )
        if events is not None:
            recorded = events.select(recordings=[self.recording])
            for name, time in zip(recorded.event, recorded.time.tolist(), strict=True):
                figure.add_vline(time, line_dash="dot", annotation_text=escape(str(name)))
        unit = "events per bin" if self.kind == "events" else "probability"
        figure.update_layout(
            title=escape(self.recording), xaxis_title="time (s)", yaxis_title=unit, showlegend=True
        )
        return figure

    def __repr__(self) -> str:
        return (
            f"Density of {self.recording}: {len(self.values):,} bins of "
            f"{self.stride * self.period:g} s, types {', '.join(self.types)}"
        )

    def _repr_html_(self) -> str:
        total = "expected events" if self.kind == "events" else "bins inside"
        columns: dict[str, Any] = {
            "type": self.types,
            total: self.values.sum(axis=0, dtype=np.float64),
            "largest value": self.values.max(axis=0, initial=0.0),
        }
        if len(self.values):
            columns["at (s)"] = self.times[self.values.argmax(axis=0)]
        return f"<p>{escape(repr(self))}</p>{html_table(columns)}"


def _highest(values: Singles, group: int) -> Longs:
    """Return the index of the largest value of each group of successive bins.

    Examples
    --------
    >>> _highest(np.array([0.0, 2.0, 1.0, 0.0, 3.0], np.float32), 2).tolist()
    [1, 2, 4]
    """
    padded = np.full(-(-len(values) // group) * group, -1.0, np.float32)
    padded[: len(values)] = values
    rows = padded.reshape(-1, group)
    highest: Longs = np.arange(len(rows)) * group + rows.argmax(axis=1)
    return highest
