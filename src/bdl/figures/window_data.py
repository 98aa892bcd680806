"""A window of a recording with its events and the outputs of some models, to be drawn.

It comes from the run directory of a study, or is simulated: then the recording is, and the outputs
are schematic.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.datasets import Sleep
from bdl.study.figure_data import signal_means

Floats = NDArray[np.float64]
HOUR = 3600.0
MINUTE = 60.0


@dataclass(frozen=True)
class RowOutput:
    """Output of one row in the window.

    Parameters
    ----------
    kind
        ``events`` or ``state``.
    time
        Centres of the bins in seconds.
    values
        Density, or transition evidence of a segmentation, by event type.
    occupancy
        State probability of a segmentation; empty for the others.
    """

    kind: str
    time: Floats
    values: Mapping[str, Floats]
    occupancy: Floats


@dataclass(frozen=True)
class Window:
    """What is drawn of a recording.

    Parameters
    ----------
    recording
        Id of the recording.
    first, last
        Ends of the window in seconds.
    truths
        Times of the annotated events by type, in the order of types.
    intervals
        Start and end of the annotated intervals in seconds.
    signal_time, signal
        Times, and values by channel.
    rows
        Outputs by name of the row.
    schematic
        Whether the outputs are drawn by hand and not those of a model.
    """

    recording: str
    first: float
    last: float
    truths: Mapping[str, Floats]
    intervals: tuple[tuple[float, float], ...]
    signal_time: Floats
    signal: Mapping[str, Floats]
    rows: Mapping[str, RowOutput]
    schematic: bool = False

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


def stored_window(content: Mapping[str, Any]) -> Window:
    """The window that a study has left in ``figures.json``."""
    rows = {
        name: RowOutput(
            kind=row["kind"],
            time=np.array(row["time"]),
            values={event: np.array(values) for event, values in row["values"].items()},
            occupancy=np.array(row["occupancy"]),
        )
        for name, row in content["rows"].items()
    }
    return Window(
        recording=content["recording"],
        first=content["first"],
        last=content["last"],
        truths={event: np.array(times) for event, times in content["truths"].items()},
        intervals=tuple((start, end) for start, end in content["intervals"]),
        signal_time=np.array(content["signal"]["time"]),
        signal={name: np.array(v) for name, v in content["signal"]["values"].items()},
        rows=rows,
    )


def simulated_window(seed: int = 0) -> Window:
    """A night of a simulated wrist recording, with schematic outputs.

    Parameters
    ----------
    seed
        Seed of the simulation.

    Examples
    --------
    >>> window = simulated_window()
    >>> list(window.truths), window.schematic
    (['onset', 'wakeup'], True)
    """
    with tempfile.TemporaryDirectory() as folder:
        Sleep().simulate(folder, recordings=1, days=4, seed=seed)
        benchmark = Sleep().load(folder)
        recording = next(iter(benchmark.recordings))
    onset, wakeup = (benchmark.events.times(recording.id, t)[1] for t in ("onset", "wakeup"))
    first, last = onset - 3 * HOUR, wakeup + 3 * HOUR
    time = np.arange(first, last, 50.0)

    def ramp(at: float, width: float) -> Floats:
        out: Floats = 1 / (1 + np.exp(-(time - at) / width))
        return out

    occupancy = ramp(onset + 500, 900) * (1 - ramp(wakeup - 700, 1100))
    change = np.gradient(occupancy)
    scale = np.abs(change).max()
    bells = {
        name: np.exp(-0.5 * ((time - at) / 150) ** 2)
        for name, at in (("onset", onset + 20), ("wakeup", wakeup - 30))
    }
    evidence = {
        "onset": np.maximum(change, 0) / scale * 0.5,
        "wakeup": np.maximum(-change, 0) / scale * 0.5,
    }
    signal_time, signal = signal_means(recording, first, last, points=2400)
    return Window(
        recording=recording.id,
        first=float(first),
        last=float(last),
        truths={"onset": np.array([onset]), "wakeup": np.array([wakeup])},
        intervals=((float(onset), float(wakeup)),),
        signal_time=signal_time,
        signal=signal,
        rows={
            "Segmentation": RowOutput("state", time, evidence, occupancy),
            "BDL": RowOutput("events", time, bells, np.zeros(0)),
        },
        schematic=True,
    )
