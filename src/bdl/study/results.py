"""Results: every figure of a study as one tidy record, and what a table cell reads from them.

A record is (row, stage, metric, seed, fold, value). ``fold`` None is the score pooled over the
test parts of all folds; ``seed`` None is a figure that belongs to no seed. An undefined figure
(no truth to recall) is None. A spread over seeds is the population standard deviation, which is
what the paper prints.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from bdl.study.paper_tables import TableCell


@dataclass(frozen=True)
class ScoreRecord:
    """One figure.

    >>> ScoreRecord("BDL-Hard", "tuned", "mAP", 0.7, seed=0).fold is None
    True
    """

    row: str
    stage: str
    metric: str
    value: float | None
    seed: int | None = None
    fold: int | None = None


@dataclass(frozen=True)
class Difference:
    """A paired difference of two rows with its bootstrap interval (95 %).

    >>> Difference("a", "b", "tuned", "mAP", 0.1, 0.05, 0.15).low
    0.05
    """

    row: str
    minus: str
    stage: str
    metric: str
    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True)
class CellValue:
    """What stands in a cell: a mean, its spread over seeds, an interval.

    >>> CellValue(0.705, sd=0.005).text(3)
    '0.705 ± 0.005'
    >>> CellValue(0.119, low=0.108, high=0.13, signed=True).text(3)
    '+0.119 [0.108, 0.130]'
    """

    value: float | None
    sd: float | None = None
    low: float | None = None
    high: float | None = None
    signed: bool = False
    form: str = "f"

    def text(self, digits: int) -> str:
        """The figure as text; a dash where there is none."""
        if self.value is None:
            return "–"
        if self.form == "e":
            return f"{self.value:.0e}"
        if self.form == "g":
            return f"{self.value:g}"
        out = f"{self.value:{'+' if self.signed else ''}.{digits}f}"
        if self.sd is not None:
            out += f" ± {self.sd:.{digits}f}"
        if self.low is not None and self.high is not None:
            out += f" [{self.low:.{digits}f}, {self.high:.{digits}f}]"
        return out


@dataclass(frozen=True)
class Results:
    """All figures of a study.

    >>> scores = enumerate((0.371, 0.382, 0.388))
    >>> seeds = [ScoreRecord("a", "tuned", "mAP", value, seed=seed) for seed, value in scores]
    >>> Results(tuple(seeds)).figure(TableCell(of="a")).text(3)
    '0.380 ± 0.007'
    """

    records: tuple[ScoreRecord, ...]
    differences: tuple[Difference, ...] = ()
    failed: tuple[str, ...] = ()
    curves: tuple[dict[str, Any], ...] = field(default=())

    def values(
        self, row: str, stage: str, metric: str, *, seed: int | None, fold: int | None
    ) -> dict[int | None, float]:
        """Defined values by seed."""
        return {
            record.seed: record.value
            for record in self.records
            if (record.row, record.stage, record.metric, record.fold) == (row, stage, metric, fold)
            and (seed is None or record.seed == seed)
            and record.value is not None
        }

    def folds(self) -> list[int]:
        """The folds there are figures of."""
        return sorted({record.fold for record in self.records if record.fold is not None})

    def figure(self, cell: TableCell) -> CellValue:
        """Our figure for a cell."""
        form = {"learning rate": "e", "epoch": "g"}.get(cell.metric, "f")
        if cell.folds:
            per_fold = [self._values(cell, fold) for fold in self.folds()]
            means = [float(np.mean(list(found.values()))) for found in per_fold if found]
            value = float(np.mean(means)) if means else None
            return CellValue(value, signed=cell.minus is not None, form=form)
        found = self._values(cell, cell.fold)
        if not found:
            return CellValue(None)
        values = list(found.values())
        value = float(np.mean(values))
        sd = float(np.std(values)) if len(values) > 1 else None
        if cell.minus is None:
            return CellValue(value, sd, form=form)
        low, high = self._interval(cell)
        return CellValue(value, sd if low is None else None, low, high, signed=True)

    def _values(self, cell: TableCell, fold: int | None) -> dict[int | None, float]:
        ours = self.values(cell.of, cell.stage, cell.metric, seed=cell.seed, fold=fold)
        if cell.stage == "selection" and not ours:
            folds = [
                self.values(cell.of, "selection", cell.metric, seed=None, fold=f)
                for f in self.folds()
            ]
            ours = dict(enumerate(v for found in folds for v in found.values()))
            ours = {None: float(np.mean(list(ours.values())))} if ours else {}
        if cell.minus is None:
            return ours
        theirs = self.values(cell.minus, cell.stage, cell.metric, seed=cell.seed, fold=fold)
        return {seed: value - theirs[seed] for seed, value in ours.items() if seed in theirs}

    def _interval(self, cell: TableCell) -> tuple[float | None, float | None]:
        if cell.seed is not None or cell.fold is not None:
            return None, None
        for one in self.differences:
            if (one.row, one.minus, one.stage, one.metric) == (
                cell.of,
                cell.minus,
                cell.stage,
                cell.metric,
            ):
                return one.low, one.high
        return None, None

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "records": [asdict(record) for record in self.records],
            "differences": [asdict(difference) for difference in self.differences],
            "failed": list(self.failed),
            "curves": list(self.curves),
        }

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Results:
        """From plain data."""
        return cls(
            tuple(ScoreRecord(**record) for record in data["records"]),
            tuple(Difference(**difference) for difference in data["differences"]),
            tuple(data["failed"]),
            tuple(data["curves"]),
        )


def defined(value: float) -> float | None:
    """A finite number, or None.

    >>> defined(float("nan")) is None
    True
    """
    return float(value) if math.isfinite(value) else None


def joined(parts: Iterable[Results]) -> Results:
    """Results of several parts of a study as one.

    >>> len(joined([Results((ScoreRecord("a", "b", "c", 1.0),)), Results(())]).records)
    1
    """
    listed = [*parts]
    return Results(
        tuple(record for part in listed for record in part.records),
        tuple(difference for part in listed for difference in part.differences),
        tuple(failed for part in listed for failed in part.failed),
        tuple(curve for part in listed for curve in part.curves),
    )
