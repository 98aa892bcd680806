"""Precision, recall and F1 from counts: the one place that knows these formulas."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

Count = TypeVar("Count", float, NDArray[Any])


@dataclass(frozen=True)
class Tally(Generic[Count]):
    """Counts of hits, detections and annotated events, as numbers or as arrays of one shape.

    A rate without a denominator is NaN.

    Parameters
    ----------
    hits
        Detections that were matched to an event.
    detections, truths
        All detections and all annotated events, hits included.

    Examples
    --------
    >>> tally = Tally(hits=3, detections=4, truths=5)
    >>> tally.precision, tally.recall, round(tally.f1, 3), tally.false, tally.missed
    (0.75, 0.6, 0.667, 1, 2)
    """

    hits: Count
    detections: Count
    truths: Count

    @property
    def false(self) -> Count:
        """Detections that are not hits."""
        false: Count = self.detections - self.hits
        return false

    @property
    def missed(self) -> Count:
        """Events that were not detected."""
        missed: Count = self.truths - self.hits
        return missed

    @property
    def precision(self) -> Count:
        """Hits over detections."""
        return ratio(self.hits, self.detections)

    @property
    def recall(self) -> Count:
        """Hits over events, also called sensitivity."""
        return ratio(self.hits, self.truths)

    @property
    def f1(self) -> Count:
        """Harmonic mean of precision and recall: twice the hits over detections and events."""
        return ratio(2 * self.hits, self.detections + self.truths)


Tallies = Tally[NDArray[Any]]  # many counts at once


def ratio(part: Count, whole: Count) -> Count:
    """Quotient of two numbers or arrays, NaN where the denominator is zero."""
    if not isinstance(whole, np.ndarray):
        return part / whole if whole else float("nan")
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(whole != 0, part / whole, np.nan)
