"""Scores of a finished study that figures show."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import takewhile

import numpy as np

from bdl.arrays import Floats
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
    groups: dict[str, list[tuple[str, str, float]]] = {}
    for row in study.protocol.rows:
        value = cell_value(study.results, TableCell(of=row.name)).value
        if value is not None:
            key = row.encoder.model_dump_json()
            groups.setdefault(key, []).append((row.name, row.objective.density_kind, value))
    backbones = []
    for rows in groups.values():
        kinds = {kind: [v for _, k, v in rows if k == kind] for kind in ("events", "state")}
        if all(kinds.values()):
            columns = zip(*(name.split() for name, *_ in rows), strict=False)
            common = [words[0] for words in takewhile(lambda words: len({*words}) == 1, columns)]
            name = " ".join(common) or rows[0][0]
            backbones.append(ScorePair(name, max(kinds["state"]), max(kinds["events"])))
    return backbones if len(backbones) > 1 else []
