"""A window of a recording with its events and the outputs of some models, to be drawn.

It comes from the run directory of a study, or is simulated: then the recording is, and the outputs
are schematic.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bdl.datasets import Benchmark, Sleep
from bdl.decoding.transitions import difference
from bdl.density import Density
from bdl.errors import InputError
from bdl.pairing import pair
from bdl.recording import Recording
from bdl.study.study_reader import StudyReader

Floats = NDArray[np.float64]
# Channels of the signal.
CHANNELS = 2
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


def study_window(study: StudyReader, data: Path | None = None, *, trust: bool = False) -> Window:
    """The first interval, or event, of the first test recording that has one.

    Parameters
    ----------
    study
        A finished study.
    data, trust
        See `StudyReader.benchmark`.

    Raises
    ------
    InputError
        If no test recording has an event of the first type.
    """
    benchmark = study.benchmark(data, trust=trust)
    settings, id = benchmark.settings, ""
    for id in study.outputs.test:
        times = benchmark.events.times(id, settings.types[0])
        if len(times):
            break
    else:
        raise InputError(f"{study.url}: no tested recording has an event {settings.types[0]!r}")
    truth = benchmark.events.select(recordings=[id])
    kinds = benchmark.intervals
    intervals = pair(truth, kinds).of_recording(id).tolist() if kinds else []
    start, end = intervals[0] if intervals else (float(times[0]), float(times[0]))
    margin = 0.75 * (end - start) or 0.5 * settings.reference_spacing
    first, last = (
        max(0.0, start - margin),
        min(benchmark.recordings.info(id).duration, end + margin),
    )
    rows = {}
    for name in study.outputs.rows:
        density = study.densities(name)[id]
        inside = (density.times >= first) & (density.times <= last)
        state = density.kind == "state"
        curves = (
            _transition_evidence(density, benchmark)
            if state
            else dict(zip(density.types, density.values.T.astype(float), strict=True))
        )
        rows[name] = RowOutput(
            kind=density.kind,
            time=density.times[inside],
            values={event: values[inside] for event, values in curves.items()},
            occupancy=density.values[inside, 0].astype(float) if state else np.zeros(0),
        )
    signal_time, signal = signal_means(benchmark.recordings[id], first, last)
    return Window(
        recording=id,
        first=first,
        last=last,
        truths={
            event: np.array([t for t in truth.times(id, event) if first <= t <= last])
            for event in settings.types
        },
        intervals=tuple((a, b) for a, b in intervals if b >= first and a <= last),
        signal_time=signal_time,
        signal=signal,
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


def _transition_evidence(density: Density, benchmark: Benchmark) -> dict[str, Floats]:
    """Rise and fall of the state probability at each bin, by the event type they stand for."""
    seconds = density.period * density.stride
    window = max(1, min(len(density.values), round(max(benchmark.settings.tolerances) / seconds)))
    evidence: dict[str, Floats] = {}
    for column, kind in enumerate(benchmark.intervals):
        occupied = np.rint(density.values[:, column] * 2**30).astype(np.int64)
        rise = difference(occupied, window) / (window * 2**30)
        evidence[kind.onset], evidence[kind.offset] = np.maximum(rise, 0), np.maximum(-rise, 0)
    return evidence


def signal_means(
    recording: Recording, first: float, last: float, points: int = 600
) -> tuple[Floats, dict[str, Floats]]:
    """Means of the first channels over equal parts of a time span.

    Parameters
    ----------
    recording
        The recording.
    first, last
        Ends of the span in seconds.
    points
        Largest number of parts.

    Returns
    -------
    tuple
        Centres of the parts in seconds, and values by channel.

    Examples
    --------
    >>> recording = Recording.of(np.arange(10.0), id="a", period=1.0, channels=["x"])
    >>> time, channels = signal_means(recording, 0.0, 10.0, points=2)
    >>> time.tolist(), channels["x"].tolist()
    ([2.5, 7.5], [2.0, 7.0])
    """
    period = recording.info.period
    start, stop = (min(max(0, round(t / period)), recording.info.samples) for t in (first, last))
    edges = np.linspace(start, stop, min(points, stop - start) + 1).astype(int)
    channels = recording.info.channels[:CHANNELS]
    values = recording.values[start:stop, : len(channels)].astype(np.float64)
    sums = np.add.reduceat(np.nan_to_num(values), edges[:-1] - start, axis=0)
    means = sums / np.diff(edges)[:, None]
    centres = 0.5 * (edges[:-1] + edges[1:]) * period
    return centres, dict(zip(channels, means.T, strict=True))
