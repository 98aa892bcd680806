"""The benchmark's metric as it is usually written: pandas, one group and tolerance at a time.

Follows the competition's published loop, but for the two rules that it leaves to accident: equal
scores are taken in order of time, and two truths at the same time are two events.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray


def match_detections(
    tolerance: float, ground_truths: pd.DataFrame, detections: pd.DataFrame
) -> pd.DataFrame:
    """Detections of one series and event with a column ``matched``."""
    ordered = detections.dropna().sort_values(
        ["score", "step"], ascending=[False, True], kind="stable"
    )
    truths = ground_truths.sort_values("step", kind="stable")
    is_matched = np.full(len(ordered), False, dtype=bool)
    matched_truths: set[int] = set()
    for i, detection in enumerate(ordered.itertuples(index=False)):
        best_error = tolerance
        best_truth = None
        for truth in truths.itertuples(index=True):
            error = abs(detection.step - truth.step)
            if error < best_error and truth.Index not in matched_truths:
                best_truth = truth.Index
                best_error = error
        if best_truth is not None:
            is_matched[i] = True
            matched_truths.add(best_truth)
    return ordered.assign(matched=is_matched)


def average_precision(matches: NDArray[np.bool_], scores: NDArray[np.float64], p: int) -> float:
    """Step integral of the precision-recall curve, read at distinct scores."""
    if len(matches) == 0:
        return 0.0
    order = np.argsort(-scores, kind="stable")
    scores, matches = scores[order], matches[order]
    ends = np.r_[np.flatnonzero(np.diff(scores)), len(matches) - 1]
    hits = np.cumsum(matches)[ends]
    recall = hits / p
    return float(np.sum(np.diff(np.r_[0.0, recall]) * hits / (ends + 1)))


def event_detection_ap(
    solution: pd.DataFrame,
    submission: pd.DataFrame,
    tolerances: list[float],
    series: list[str] | None = None,
) -> dict[str, dict[float, float]]:
    """AP by event and tolerance; ``series`` limits the work to a sample of the recordings."""
    chosen = list(solution["series_id"].unique()) if series is None else series
    truths = solution[solution["series_id"].isin(chosen)].reset_index(drop=True)
    detections = submission[submission["series_id"].isin(chosen)]
    grouped_truths = dict(list(truths.groupby(["event", "series_id"])))
    grouped = dict(list(detections.groupby(["event", "series_id"])))
    counts = truths["event"].value_counts()
    table: dict[str, dict[float, float]] = {}
    for event in sorted(counts.index):
        table[event] = {}
        for tolerance in tolerances:
            parts = [
                match_detections(
                    tolerance, grouped_truths.get((event, name), truths.iloc[:0]), group
                )
                for name in chosen
                if (group := grouped.get((event, name))) is not None
            ]
            matched = pd.concat(parts) if parts else detections.iloc[:0].assign(matched=False)
            table[event][tolerance] = average_precision(
                matched["matched"].to_numpy(bool),
                matched["score"].to_numpy(float),
                int(counts[event]),
            )
    return table
