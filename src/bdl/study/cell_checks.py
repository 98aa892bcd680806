"""Cells of a protocol's tables: that their rows, stages and metrics are those of the study."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from bdl.evaluation.reconstruction import Reconstruction
from bdl.study.analyses import COUNTS, STATES
from bdl.study.stages import (
    ADAPTED,
    CROSS_FITTED,
    DEFAULT,
    OPERATING_POINT,
    SELECTED,
    SELECTION,
    TUNED,
    VALID,
)

if TYPE_CHECKING:
    from bdl.study.protocol import Protocol


def check_cells(protocol: Protocol) -> None:
    """Raise an error for a cell that could only be empty."""
    rows, stages = [row.name for row in protocol.rows], _metrics_by_stage(protocol)
    for table in protocol.paper.tables:
        for line in table.lines:
            for cell in filter(None, line.cells):
                named = [*cell.rows, *filter(None, (cell.minus, cell.over))]
                metrics = stages.get(cell.stage, ())
                for what, name, known in (
                    *(("row", row, rows) for row in named),
                    ("stage", cell.stage, stages),
                    ("metric", cell.metric, metrics),
                ):
                    if name not in known:
                        raise ValueError(
                            f"paper: table {table.label!r}, line {line.name!r}: the study has no "
                            f"{what} {name!r}; expected one of {', '.join(known)} (tables of a "
                            "protocol that is extended are left out by paper: null)"
                        )


def _metrics_by_stage(protocol: Protocol) -> dict[str, Collection[str]]:
    """Names of the metrics that a study has for each stage."""
    scores = [metric.name for metric in protocol.metrics]
    counts = COUNTS if "counts" in protocol.analyses else ()
    stages: dict[str, Collection[str]] = {TUNED: [*scores, *counts], DEFAULT: scores}
    grids = [grid.kind for grid in protocol.alternatives]
    stages |= dict.fromkeys((*grids, *protocol.decoders, *protocol.rescored), scores)
    if protocol.regime.held_out:
        stages |= {OPERATING_POINT: scores, SELECTION: SELECTED}
    else:
        stages |= {CROSS_FITTED: scores, VALID: ("mAP",)}
    if counts:
        stages[ADAPTED] = ("mAP", *counts)
    if "states" in protocol.analyses:
        stages |= {conversion.stage: STATES for conversion in Reconstruction.kinds().values()}
    return stages
