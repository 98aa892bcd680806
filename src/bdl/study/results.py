"""Results: every score of a study as one record, and what a table cell reads from them.

A record is (row, stage, metric, seed, fold, value). ``fold`` None is the score pooled over the
test parts of all folds; ``seed`` None is a score that belongs to no seed. An undefined score
(there is no event to detect) is None. A spread over seeds is the population standard deviation,
as the paper prints it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from bdl.evaluation import Estimate
from bdl.evaluation.estimate import plain
from bdl.study.paper_tables import TableCell

# How values of some metrics are written; the others have a fixed number of digits.
FORMATS = {"learning rate": ".0e", "epoch": "g"}


@dataclass(frozen=True)
class ScoreRecord:
    """One score.

    Examples
    --------
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
class RowDifference:
    """A paired difference of two rows, ``row`` minus ``minus``, with its 95 % interval.

    Examples
    --------
    >>> RowDifference("a", "b", "tuned", "mAP", Estimate(0.1, 0.05, 0.15)).estimate.low
    0.05
    """

    row: str
    minus: str
    stage: str
    metric: str
    estimate: Estimate


@dataclass(frozen=True)
class ToleranceCurve:
    """AP of a row at each tolerance: mean and standard deviation over seeds."""

    row: str
    stage: str
    tolerances: tuple[float, ...]
    mean: tuple[float | None, ...]
    sd: tuple[float | None, ...]


@dataclass(frozen=True)
class CellValue:
    """The value of a table cell: a mean with its spread over seeds or its confidence interval.

    Parameters
    ----------
    value
        None if it is undefined.
    sd
        Standard deviation over seeds.
    low, high
        Ends of the confidence interval.
    signed
        Whether a plus is written.
    form
        Format of the value; None for a fixed number of digits.

    Examples
    --------
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
    form: str | None = None

    def text(self, digits: int) -> str:
        """The value as text; a dash if it is undefined."""
        if self.value is None:
            return "–"
        if self.form is not None:
            return f"{self.value:{self.form}}"
        out = f"{self.value:{'+' if self.signed else ''}.{digits}f}"
        if self.sd is not None:
            out += f" ± {self.sd:.{digits}f}"
        if self.low is not None and self.high is not None:
            out += f" [{self.low:.{digits}f}, {self.high:.{digits}f}]"
        return out


@dataclass(frozen=True)
class Results:
    """All scores of a study.

    Parameters
    ----------
    records
        Every score.
    differences
        Paired differences of rows.
    failed
        Descriptions of trainings that failed.
    curves
        AP over tolerance.

    Examples
    --------
    >>> scores = enumerate((0.371, 0.382, 0.388))
    >>> seeds = [ScoreRecord("a", "tuned", "mAP", value, seed=seed) for seed, value in scores]
    >>> Results(tuple(seeds)).cell(TableCell(of="a")).text(3)
    '0.380 ± 0.007'
    """

    records: tuple[ScoreRecord, ...]
    differences: tuple[RowDifference, ...] = ()
    failed: tuple[str, ...] = ()
    curves: tuple[ToleranceCurve, ...] = ()

    def values(
        self, row: str, stage: str, metric: str, *, seed: int | None, fold: int | None
    ) -> dict[int | None, float]:
        """Defined values by seed; ``seed`` None for all seeds, ``fold`` None for pooled scores."""
        return {
            record.seed: record.value
            for record in self.records
            if (record.row, record.stage, record.metric, record.fold) == (row, stage, metric, fold)
            and (seed is None or record.seed == seed)
            and record.value is not None
        }

    @property
    def folds(self) -> list[int]:
        """The folds that have scores."""
        return sorted({record.fold for record in self.records if record.fold is not None})

    def cell(self, cell: TableCell) -> CellValue:
        """Our value for a cell."""
        form = FORMATS.get(cell.metric)
        signed = cell.minus is not None
        if cell.folds:
            per_fold = [self._values(cell, fold) for fold in self.folds]
            return CellValue(_mean(_mean(v.values()) for v in per_fold), signed=signed, form=form)
        values = list(self._values(cell, cell.fold).values())
        if not values:
            return CellValue(None)
        sd = float(np.std(values)) if len(values) > 1 else None
        estimate = self._estimate(cell)
        if estimate is None:
            return CellValue(_mean(values), sd, signed=signed, form=None if signed else form)
        low, high = plain(estimate.low), plain(estimate.high)
        return CellValue(_mean(values), sd if low is None else None, low, high, signed=True)

    def _values(self, cell: TableCell, fold: int | None) -> dict[int | None, float]:
        ours = self.values(cell.of, cell.stage, cell.metric, seed=cell.seed, fold=fold)
        if cell.stage == "selection" and not ours:
            # What was selected belongs to a fold; without one the cell is the mean over folds.
            folds = [
                self.values(cell.of, "selection", cell.metric, seed=None, fold=each)
                for each in self.folds
            ]
            mean = _mean(value for values in folds for value in values.values())
            ours = {} if mean is None else {None: mean}
        if cell.minus is None:
            return ours
        theirs = self.values(cell.minus, cell.stage, cell.metric, seed=cell.seed, fold=fold)
        return {seed: value - theirs[seed] for seed, value in ours.items() if seed in theirs}

    def _estimate(self, cell: TableCell) -> Estimate | None:
        if cell.seed is not None or cell.fold is not None:
            return None
        wanted = (cell.of, cell.minus, cell.stage, cell.metric)
        for difference in self.differences:
            key = (difference.row, difference.minus, difference.stage, difference.metric)
            if key == wanted:
                return difference.estimate
        return None

    def joined(self, other: Results) -> Results:
        """These results followed by others.

        Examples
        --------
        >>> first = Results((ScoreRecord("a", "b", "c", 1.0),))
        >>> len(first.joined(first).records)
        2
        """
        return Results(
            self.records + other.records,
            self.differences + other.differences,
            self.failed + other.failed,
            self.curves + other.curves,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        content = asdict(self)
        for difference in content["differences"]:
            bounds = difference.pop("estimate")
            difference.update({name: plain(value) for name, value in bounds.items()})
        return content

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Results:
        """From plain data."""
        return cls(
            tuple(ScoreRecord(**record) for record in data["records"]),
            tuple(_difference(**difference) for difference in data["differences"]),
            tuple(data["failed"]),
            tuple(_curve(**curve) for curve in data["curves"]),
        )


def _curve(
    row: str,
    stage: str,
    tolerances: Sequence[float],
    mean: Sequence[float | None],
    sd: Sequence[float | None],
) -> ToleranceCurve:
    return ToleranceCurve(row, stage, tuple(tolerances), tuple(mean), tuple(sd))


def _difference(
    value: float | None, low: float | None, high: float | None, **names: str
) -> RowDifference:
    bounds = (math.nan if bound is None else bound for bound in (value, low, high))
    return RowDifference(**names, estimate=Estimate(*bounds))


def _mean(values: Iterable[float | None]) -> float | None:
    """The mean of the defined values; None if there are none."""
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known else None
