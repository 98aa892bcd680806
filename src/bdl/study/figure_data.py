"""Data of a study's figures, as plain data: the report draws them.

- ``ap_over_tolerance``: per row the mean AP at each tolerance and its spread over seeds;
- ``fold_differences``: per pair of rows the mAP difference in every fold, mean over seeds;
- ``window``: one stretch of a test recording: truths, and what each row says of every bin.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bdl.datasets import Benchmark
from bdl.study.paper_tables import TableCell
from bdl.study.protocol import Part, Protocol
from bdl.study.results import Results
from bdl.study.run_directory import StudyStep
from bdl.study.run_reader import RunReader
from bdl.study.step_files import read_step_densities

POINTS = 2000


def figure_data(
    run: RunReader,
    protocol: Protocol,
    dataset: Benchmark,
    parts: Sequence[Part],
    results: Results,
    sources: Mapping[str, StudyStep],
) -> dict[str, Any]:
    """All figures' data.

    Parameters
    ----------
    sources : per row a step that holds densities of the first fold's test recordings.
    """
    folds = range(len(parts))
    differences = [
        {
            "row": first,
            "minus": second,
            "folds": [
                results.figure(TableCell(of=first, minus=second, fold=j)).value for j in folds
            ],
        }
        for first, second in protocol.differences
    ]
    return {
        "ap_over_tolerance": [one for one in results.curves if one["stage"] == "tuned"],
        "fold_differences": differences,
        "window": _window(run, dataset, parts[0], sources),
    }


def _window(
    run: RunReader, dataset: Benchmark, part: Part, sources: Mapping[str, StudyStep]
) -> dict[str, Any] | None:
    """The stretch around the first event of the first test recording that has one."""
    settings = dataset.settings
    for id in part.test:
        times = dataset.events.times(id, settings.types[0])
        if len(times):
            break
    else:
        return None
    span = settings.reference_spacing
    first = max(0.0, float(times[0]) - 0.5 * span)
    last = min(dataset.recordings.info(id).duration, first + 1.5 * span)
    rows: dict[str, Any] = {}
    for row, step in sources.items():
        density = next(one for one in read_step_densities(run, step.id) if one.recording == id)
        inside = np.flatnonzero((density.times >= first) & (density.times <= last))[:POINTS]
        rows[row] = {
            "kind": density.kind,
            "time": density.times[inside].tolist(),
            "values": {
                name: density.values[inside, column].astype(float).tolist()
                for column, name in enumerate(density.types)
            },
        }
    truths = {
        event: [float(t) for t in dataset.events.times(id, event) if first <= t <= last]
        for event in settings.types
    }
    return {"recording": id, "first": first, "last": last, "truths": truths, "rows": rows}
