"""The score of a recipe, measured by nested cross-validation before the last training."""

from __future__ import annotations

from typing import Any, ClassVar

from pydantic import Field

from bdl.config import Value
from bdl.evaluation import Estimate
from bdl.frames import Tabular
from bdl.table_plots import Drawing


class CrossValidated(Value):
    """A score with its 95 % confidence interval over groups; None where it is undefined."""

    value: float | None
    low: float | None = None
    high: float | None = None

    @property
    def estimate(self) -> Estimate:
        """The same for calculation; NaN for what is undefined."""
        return Estimate.of_plain(self.value, self.low, self.high)


class CrossValidation(Tabular, Value):
    """Scores of a recipe on groups that it was neither trained nor chosen on.

    Parameters
    ----------
    folds, groups, recordings
        How many were tested.
    scores
        Scores of the ranking of all detections, by name, such as mAP.
    chosen
        Scores of the detections above the thresholds that were chosen.

    Examples
    --------
    >>> score = CrossValidated(value=0.7, low=0.6, high=0.8)
    >>> print(CrossValidation(folds=5, groups=9, recordings=20, scores={"mAP": score}))
    mAP 0.700 [0.600, 0.800] in 5 folds of 9 groups (20 recordings)
    """

    drawing: ClassVar[Drawing] = Drawing("score", "value", mode="markers", interval=("low", "high"))

    folds: int
    groups: int
    recordings: int
    scores: dict[str, CrossValidated]
    chosen: dict[str, CrossValidated] = Field(default_factory=dict)

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per score, NaN for what is undefined."""
        estimates = {
            name: score.estimate for name, score in (*self.scores.items(), *self.chosen.items())
        }
        return {
            "score": [*estimates],
            "value": [estimate.value for estimate in estimates.values()],
            "low": [estimate.low for estimate in estimates.values()],
            "high": [estimate.high for estimate in estimates.values()],
        }

    def __str__(self) -> str:
        name, score = next(iter(self.scores.items()))
        return (
            f"{name} {score.estimate.text(3)} in {self.folds} folds of {self.groups} groups "
            f"({self.recordings} recordings)"
        )
