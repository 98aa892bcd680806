"""Scores of a finished study that figures show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bdl.arrays import Floats
from bdl.study.cell_values import cell_value
from bdl.study.paper_tables import TableCell
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
class Backbone:
    """Best mAP of a backbone: of rows that predict events, and of segmentation."""

    name: str
    events: float
    state: float


def curves_of(study: StudyReader) -> list[RowCurve]:
    """AP over tolerance of every row, tuned, in the order of the rows."""
    curves = {curve.row: curve for curve in study.results.curves if curve.stage == "tuned"}
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


def backbones_of(study: StudyReader) -> list[Backbone]:
    """The backbones of a study that has several, each with both kinds of rows."""
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
            name = _common_words([name for name, *_ in rows])
            backbones.append(Backbone(name, max(kinds["events"]), max(kinds["state"])))
    return backbones if len(backbones) > 1 else []


def _common_words(names: list[str]) -> str:
    """The words with which all names begin.

    Examples
    --------
    >>> _common_words(["U-Net BDL-Hard", "U-Net Segmentation CE"])
    'U-Net'
    """
    words = []
    for several in zip(*(name.split() for name in names), strict=False):
        if len(set(several)) > 1:
            break
        words.append(several[0])
    return " ".join(words) or names[0]
