"""Values of table cells, from the results of a study."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bdl.evaluation import Estimate
from bdl.study.paper_tables import TableCell
from bdl.study.results import Results
from bdl.study.stages import SELECTION

# How values of some metrics are written; the others have a fixed number of digits.
FORMATS = {"learning rate": "{:.0e}", "epoch": "{:g}"}
SeedValues = dict[int | None, float]


@dataclass(frozen=True)
class CellValue:
    """The value of a table cell: a mean with its spread over seeds or its confidence interval.

    Examples
    --------
    >>> CellValue(0.705, sd=0.005).text(3)
    '0.705 ± 0.005'
    >>> CellValue(0.119, low=0.108, high=0.13, signed=True).text(3)
    '+0.119 [0.108, 0.130]'
    >>> CellValue(-0.0001, low=-0.0002, high=0.13).text(3)
    '0.000 [0.000, 0.130]'
    >>> CellValue(3.96, form="{:.1f}×").text(3)
    '4.0×'
    """

    value: float | None
    sd: float | None = None  # over seeds
    low: float | None = None
    high: float | None = None
    signed: bool = False  # whether a plus is written
    form: str | None = None  # format of the value; None for a fixed number of digits

    def text(self, digits: int) -> str:
        """The value as text; a dash if it is undefined."""
        if self.value is None:
            return "–"
        if self.form is not None:
            return self.form.format(self.value)
        out = f"{self.value:{'+' if self.signed else ''}z.{digits}f}"
        if self.sd is not None:
            out += f" ± {self.sd:.{digits}f}"
        interval = Estimate.of_plain(self.value, self.low, self.high).interval_text(digits)
        return f"{out} {interval}".rstrip()


def cell_value(results: Results, cell: TableCell) -> CellValue:
    """Our value for a cell.

    Examples
    --------
    >>> from bdl.study.results import ScoreRecord
    >>> scores = [("a", 0.8), ("b", 0.2), ("c", 0.6)]
    >>> results = Results(tuple(ScoreRecord(row, "tuned", "mAP", v, seed=0) for row, v in scores))
    >>> cell_value(results, TableCell(of="a", over="b")).text(3)
    '4.0×'
    >>> cell_value(results, TableCell(of="c", minus="b", over="a")).text(3)
    '67%'
    >>> cell_value(results, TableCell(of=("b", "c"), minus="a")).text(3)
    '-0.200'
    """

    def pooled(row: str) -> float:
        value = mean(_values(results, cell, row, cell.fold).values())
        return -np.inf if value is None else value

    row = max(cell.rows, key=pooled)
    if cell.over is not None:
        return _ratio(results, cell, row)
    if cell.folds is not None:
        return _over_folds(results, cell, row)
    values = [*_values(results, cell, row, cell.fold).values()]
    signed, form = cell.minus is not None, FORMATS.get(cell.metric)
    low, high = _interval(results, cell, row)
    sd = float(np.std(values)) if len(values) > 1 and low is None else None
    return CellValue(mean(values), sd, low, high, signed, None if signed else form)


def _values(results: Results, cell: TableCell, row: str, fold: int | None) -> SeedValues:
    """Values or paired differences of a row by seed."""
    by_seed = results.values(row, cell.stage, cell.metric, seed=cell.seed, fold=fold)
    if cell.stage == SELECTION and not by_seed:
        # What was selected belongs to a fold; without one the cell is the mean over folds.
        folds = [
            results.values(row, SELECTION, cell.metric, seed=None, fold=number)
            for number in results.folds
        ]
        value = mean(value for values in folds for value in values.values())
        by_seed = {} if value is None else {None: value}
    if cell.minus is None:
        return by_seed
    subtracted = results.values(cell.minus, cell.stage, cell.metric, seed=cell.seed, fold=fold)
    return {seed: v - subtracted[seed] for seed, v in by_seed.items() if seed in subtracted}


def _ratio(results: Results, cell: TableCell, row: str) -> CellValue:
    """The ratio of two scores, or the share of one gain in another, of means over seeds."""
    above, below = (
        mean(_values(results, cell, name, cell.fold).values()) for name in (row, cell.over or "")
    )
    form = "{:.1f}×" if cell.minus is None else "{:.0%}"
    return CellValue(None if above is None or not below else above / below, form=form)


def _over_folds(results: Results, cell: TableCell, row: str) -> CellValue:
    """The statistic of the folds that the cell reports, from means over seeds in each."""
    folds = [mean(_values(results, cell, row, fold).values()) for fold in results.folds]
    defined = [value for value in folds if value is not None]
    if not defined:
        return CellValue(None)
    if cell.folds == "positive":
        return CellValue(
            float(sum(value > 0 for value in defined)), form=f"{{:g}} of {len(defined)}"
        )
    value = {"lowest": min(defined), "highest": max(defined)}.get(cell.folds or "", mean(defined))
    return CellValue(value, signed=cell.minus is not None, form=FORMATS.get(cell.metric))


def _interval(results: Results, cell: TableCell, row: str) -> tuple[float | None, float | None]:
    """The confidence interval of a pooled difference, or of the pooled score of a single seed."""
    if cell.seed is not None or cell.fold is not None:
        return None, None
    if cell.minus is not None:
        expected = (row, cell.minus, cell.stage, cell.metric)
        for difference in results.differences:
            key = (difference.row, difference.minus, difference.stage, difference.metric)
            if key == expected:
                return difference.low, difference.high
    elif len(results.values(row, cell.stage, cell.metric, seed=None, fold=None)) == 1:
        for estimate in results.estimates:
            if (estimate.row, estimate.stage, estimate.metric) == (row, cell.stage, cell.metric):
                return estimate.low, estimate.high
    return None, None


def mean(values: Iterable[float | None]) -> float | None:
    """The mean of the defined values; None if there are none."""
    defined = [value for value in values if value is not None]
    return float(np.mean(defined)) if defined else None
