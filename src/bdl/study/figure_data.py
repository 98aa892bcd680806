"""Data of the figures of a study, as plain data.

- ``ap_over_tolerance``: per row the mean AP at each tolerance and its spread over seeds;
- ``fold_differences``: per pair of rows the mAP difference in every fold, mean over seeds;
- ``window``: one segment of a test recording: signal, true events and intervals, and per bin the
  density of every row, or the state probability of a segmentation and the evidence of its
  transitions.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.datasets import Benchmark
from bdl.decoding.transitions import difference
from bdl.density import Density
from bdl.pairing import pair
from bdl.recording import Recording
from bdl.study.cell_values import cell_value
from bdl.study.paper_tables import TableCell
from bdl.study.results import Results
from bdl.study.run_reader import RunReader
from bdl.study.step_files import read_step_densities
from bdl.study.steps import RowRun
from bdl.study.study_plan import Study

# Largest number of bins of the window.
POINTS = 4000
# Channels of the signal.
CHANNELS = 2
Floats = NDArray[np.float64]


def figure_data(study: Study, results: Results, runs: Iterable[RowRun]) -> dict[str, Any]:
    """Data of all figures.

    Parameters
    ----------
    study
        The study.
    results
        Its results.
    runs
        Every row and seed; the first seed of each row is shown.
    """
    plan = study.plan
    differences = [
        {
            "row": first,
            "minus": second,
            "folds": [
                cell_value(results, TableCell(of=first, minus=second, fold=fold)).value
                for fold in range(len(plan.folds))
            ],
        }
        for first, second in plan.protocol.differences
    ]
    first_runs: dict[str, RowRun] = {}
    for run in runs:
        first_runs.setdefault(run.row, run)
    return {
        "ap_over_tolerance": [asdict(curve) for curve in results.curves if curve.stage == "tuned"],
        "fold_differences": differences,
        "window": _window(study.run, study.benchmark, plan.folds[0].test, first_runs),
    }


def _window(
    run: RunReader, benchmark: Benchmark, test: Iterable[str], runs: dict[str, RowRun]
) -> dict[str, Any] | None:
    """The segment around the first interval, or event, of the first test recording that has one."""
    settings = benchmark.settings
    for id in test:
        truth = benchmark.events.select(recordings=[id])
        times = truth.times(id, settings.types[0])
        if len(times):
            break
    else:
        return None
    intervals = pair(truth, benchmark.intervals).of_recording(id).tolist()
    start, end = intervals[0] if intervals else (float(times[0]), float(times[0]))
    margin = 0.75 * (end - start) or 0.5 * settings.reference_spacing
    info = benchmark.recordings.info(id)
    first = max(0.0, start - margin)
    last = min(info.duration, end + margin, first + POINTS * settings.stride * info.period)
    rows: dict[str, Any] = {}
    for name, row_run in runs.items():
        densities = read_step_densities(run, row_run.densities[0])
        density = next(density for density in densities if density.recording == id)
        inside = np.flatnonzero((density.times >= first) & (density.times <= last))
        state = density.kind == "state"
        curves = (
            _transition_evidence(density, benchmark)
            if state
            else dict(zip(density.types, density.values.T.astype(float), strict=True))
        )
        rows[name] = {
            "kind": density.kind,
            "time": density.times[inside].tolist(),
            "values": {event: values[inside].tolist() for event, values in curves.items()},
            "occupancy": density.values[inside, 0].astype(float).tolist() if state else [],
        }
    time, channels = signal_means(benchmark.recordings[id], first, last)
    return {
        "recording": id,
        "first": first,
        "last": last,
        "truths": {
            event: [float(t) for t in truth.times(id, event) if first <= t <= last]
            for event in settings.types
        },
        "intervals": [[start, end] for start, end in intervals if end >= first and start <= last],
        "signal": {
            "time": time.tolist(),
            "values": {channel: values.tolist() for channel, values in channels.items()},
        },
        "rows": rows,
    }


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
