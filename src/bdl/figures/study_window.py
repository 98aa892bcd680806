"""The window of a finished study: its data, and the densities of its first seed."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bdl.arrays import Floats
from bdl.datasets import Benchmark
from bdl.decoding.transitions import transition_scores
from bdl.density import Density
from bdl.errors import InputError
from bdl.figures.window import RowOutput, Window, signal_means
from bdl.pairing import pair
from bdl.study.study_reader import StudyReader


def study_window(study: StudyReader, data: Path | None = None, *, trust: bool = False) -> Window:
    """The first interval, or event, of the first test recording with an event of the first type.

    ``data`` and ``trust`` are those of `StudyReader.benchmark`.
    """
    benchmark = study.benchmark(data, trust=trust)
    settings, id = benchmark.settings, ""
    for id in study.outputs.test:
        times = benchmark.events.times(id, settings.types[0])
        if len(times):
            break
    else:
        raise InputError(f"{study.url}: no tested recording has an event {settings.types[0]!r}")
    annotated = benchmark.events.select(recordings=[id])
    kinds = benchmark.intervals
    intervals = pair(annotated, kinds).of_recording(id).tolist() if kinds else []
    start, end = intervals[0] if intervals else (float(times[0]), float(times[0]))
    margin = 0.75 * (end - start) or 0.5 * (settings.reference_spacing or settings.window)
    first = max(0.0, start - margin)
    last = min(benchmark.recordings.info(id).duration, end + margin)
    rows = {}
    # The file that names the outputs is sorted by row; figures show the first row of a kind.
    for name in (row.name for row in study.protocol.rows if row.name in study.outputs.rows):
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
        events={
            event: np.array([t for t in annotated.times(id, event) if first <= t <= last])
            for event in settings.types
        },
        intervals=tuple((a, b) for a, b in intervals if b >= first and a <= last),
        signal_time=signal_time,
        signal=signal,
        rows=rows,
    )


def _transition_evidence(density: Density, benchmark: Benchmark) -> dict[str, Floats]:
    """Rise and fall of the state probability at each bin, by the event type they stand for."""
    window = max(benchmark.settings.tolerances)
    evidence: dict[str, Floats] = {}
    for column, kind in enumerate(benchmark.intervals):
        rise = transition_scores(density, column, window)
        evidence[kind.onset], evidence[kind.offset] = np.maximum(rise, 0), np.maximum(-rise, 0)
    return evidence
