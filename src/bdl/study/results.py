"""Results: every score of a study as one record.

A record is (row, stage, metric, seed, fold, value). ``fold`` None is the score pooled over the
test parts of all folds; ``seed`` None is a score that belongs to no seed. An undefined score
(there is no event to detect) is None. A spread over seeds is the population standard deviation,
as the paper prints it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from bdl.evaluation import Estimate
from bdl.frames import Tabular
from bdl.table_plots import Drawing


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
class RowEstimate:
    """A pooled score of a row, averaged over seeds, with its 95 % interval.

    Examples
    --------
    >>> print(RowEstimate("a", "tuned", "mAP", 0.7, 0.65, 0.75).estimate)
    0.7000 [0.6500, 0.7500]
    """

    row: str
    stage: str
    metric: str
    value: float | None
    low: float | None
    high: float | None

    @property
    def estimate(self) -> Estimate:
        """The number with its interval; NaN for what is undefined."""
        return Estimate.of_plain(self.value, self.low, self.high)


@dataclass(frozen=True, kw_only=True)
class RowDifference(RowEstimate):
    """A paired difference of two rows, ``row`` minus ``minus``, with its 95 % interval."""

    minus: str


@dataclass(frozen=True)
class ToleranceCurve:
    """AP of a row at each tolerance: mean and standard deviation over seeds."""

    row: str
    stage: str
    tolerances: tuple[float, ...]
    mean: tuple[float | None, ...]
    sd: tuple[float | None, ...]


@dataclass(frozen=True)
class Results(Tabular):
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
    data
        What a reader must know of the data first, such as that they are simulated.
    estimates
        Pooled scores with confidence intervals.

    Examples
    --------
    >>> scores = enumerate((0.371, 0.382))
    >>> seeds = [ScoreRecord("a", "tuned", "mAP", value, seed=seed) for seed, value in scores]
    >>> Results(tuple(seeds)).values("a", "tuned", "mAP", seed=None, fold=None)
    {0: 0.371, 1: 0.382}
    """

    drawing = Drawing(
        "row", "value", by=("stage", "metric"), mode="markers", interval=("low", "high")
    )

    records: tuple[ScoreRecord, ...]
    differences: tuple[RowDifference, ...] = ()
    failed: tuple[str, ...] = ()
    curves: tuple[ToleranceCurve, ...] = ()
    data: str = ""
    estimates: tuple[RowEstimate, ...] = ()

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per pooled score with its interval."""
        estimates = [record.estimate for record in self.estimates]
        return {
            "row": [record.row for record in self.estimates],
            "stage": [record.stage for record in self.estimates],
            "metric": [record.metric for record in self.estimates],
            "value": [estimate.value for estimate in estimates],
            "low": [estimate.low for estimate in estimates],
            "high": [estimate.high for estimate in estimates],
        }

    def estimate(self, row: str, stage: str, metric: str) -> Estimate | None:
        """A pooled score with its confidence interval; None if it was not computed."""
        key = (row, stage, metric)
        return next((e.estimate for e in self.estimates if (e.row, e.stage, e.metric) == key), None)

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
            self.data or other.data,
            self.estimates + other.estimates,
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> Results:
        """From plain data."""
        return cls(
            _read(ScoreRecord, data["records"]),
            _read(RowDifference, data["differences"]),
            tuple(data["failed"]),
            _read(ToleranceCurve, data["curves"]),
            data.get("data", ""),
            _read(RowEstimate, data.get("estimates", [])),
        )


def _read(kind: Any, items: list[dict[str, Any]]) -> tuple[Any, ...]:
    """Items of the results; JSON has lists where they have tuples."""
    return tuple(
        kind(**{k: tuple(v) if isinstance(v, list) else v for k, v in item.items()})
        for item in items
    )
