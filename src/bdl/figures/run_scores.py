"""Scores of a finished study that figures show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bdl.arrays import Floats
from bdl.encoders import Encoder
from bdl.registry import known_name
from bdl.study.cell_values import cell_value
from bdl.study.paper_tables import TableCell
from bdl.study.stages import TUNED
from bdl.study.study_reader import StudyReader


@dataclass(frozen=True)
class RowCurve:
    """AP of a row over tolerances in seconds: mean and standard deviation over seeds."""

    name: str
    kind: str
    tolerances: tuple[float, ...]
    mean: Floats
    sd: Floats


@dataclass(frozen=True)
class ScorePair:
    """A score of segmentation, and that of rows that predict events."""

    name: str
    state: float
    events: float


def curves_of(study: StudyReader) -> list[RowCurve]:
    """AP over tolerance of every row, tuned, in the order of the rows."""
    curves = {curve.row: curve for curve in study.results.curves if curve.stage == TUNED}
    return [
        RowCurve(
            row.name,
            row.objective.density_kind,
            curves[row.name].tolerances,
            np.array(curves[row.name].mean, dtype=float),
            np.array(curves[row.name].sd, dtype=float),
        )
        for row in study.protocol.rows
        if row.name in curves
    ]


def backbones_of(study: StudyReader) -> list[ScorePair]:
    """Best mAP of each backbone of a study that has several with both kinds of rows."""
    scores: dict[Encoder, dict[str, list[float]]] = {}
    for row in study.protocol.rows:
        value = cell_value(study.results, TableCell(of=row.name)).value
        if value is not None:
            kinds = scores.setdefault(row.encoder, {"events": [], "state": []})
            kinds[row.objective.density_kind].append(value)
    backbones = [
        ScorePair(known_name(encoder) or encoder.kind, max(kinds["state"]), max(kinds["events"]))
        for encoder, kinds in scores.items()
        if all(kinds.values())
    ]
    return backbones if len(backbones) > 1 else []
