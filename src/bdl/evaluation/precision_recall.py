"""Precision and recall over the threshold, and what is read from them by type and tolerance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bdl.arrays import Floats
from bdl.frames import Tabular
from bdl.table_plots import Drawing


@dataclass(frozen=True, eq=False)
class PrecisionRecall(Tabular):
    """Precision and recall, (n,), of the detections down to each distinct score, highest first."""

    drawing = Drawing("recall", "precision", mode="lines")

    threshold: Floats
    precision: Floats
    recall: Floats


class BestThreshold(NamedTuple):
    """Best F1 over all thresholds and the threshold that reaches it, both (types, tolerances)."""

    f1: Floats
    threshold: Floats


def mean(table: Floats) -> float:
    """Mean over tolerances, then over the types whose row is not NaN."""
    rows = table.mean(axis=1)
    known = rows[~np.isnan(rows)]
    return float(known.mean()) if len(known) else float("nan")
