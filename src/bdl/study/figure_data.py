"""Data of the figures of a study, as plain data.

- ``ap_over_tolerance``: per row the mean AP at each tolerance and its spread over seeds;
- ``fold_differences``: per pair of rows the mAP difference in every fold, mean over seeds;
- ``window``: one segment of a test recording: true events, and the density of every row per bin.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

import numpy as np

from bdl.datasets import Benchmark
from bdl.study.cell_values import cell_value
from bdl.study.paper_tables import TableCell
from bdl.study.results import Results
from bdl.study.run_reader import RunReader
from bdl.study.step_files import read_step_densities
from bdl.study.steps import RowRun
from bdl.study.study_plan import Study

POINTS = 2000


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
    """The segment around the first event of the first test recording that has one."""
    settings = benchmark.settings
    for id in test:
        times = benchmark.events.times(id, settings.types[0])
        if len(times):
            break
    else:
        return None
    span = settings.reference_spacing
    first = max(0.0, float(times[0]) - 0.5 * span)
    last = min(benchmark.recordings.info(id).duration, first + 1.5 * span)
    rows: dict[str, Any] = {}
    for name, row_run in runs.items():
        densities = read_step_densities(run, row_run.densities[0])
        density = next(density for density in densities if density.recording == id)
        inside = np.flatnonzero((density.times >= first) & (density.times <= last))[:POINTS]
        rows[name] = {
            "kind": density.kind,
            "time": density.times[inside].tolist(),
            "values": {
                column_name: density.values[inside, column].astype(float).tolist()
                for column, column_name in enumerate(density.types)
            },
        }
    truths = {
        event: [float(t) for t in benchmark.events.times(id, event) if first <= t <= last]
        for event in settings.types
    }
    return {"recording": id, "first": first, "last": last, "truths": truths, "rows": rows}
