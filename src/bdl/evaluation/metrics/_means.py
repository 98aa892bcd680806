"""Means over the types and tolerances that a metric is about."""

from __future__ import annotations

import warnings

import numpy as np

from bdl.evaluation.matches import Matches
from bdl.evaluation.metrics.metric import Floats, Metric


def mean_of_types(table: Floats, matches: Matches, metric: Metric) -> Floats:
    """Mean of a table (replicates, types, tolerances) over tolerances, then types with truths."""
    if metric.tolerance is not None:
        table = table[:, :, [matches.tolerance_index(metric.tolerance)]]
    if metric.type is not None:
        table = table[:, [matches.type_index(metric.type)]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # a replicate without any truth: NaN
        means: Floats = np.nanmean(table.mean(axis=2), axis=1)
    return means
