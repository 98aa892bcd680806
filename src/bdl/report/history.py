"""Training curves of a study: what its steps recorded, averaged over folds and seeds.

The loss is that of the models whose detections are scored: the final ones, or in the validation
regime those trained on the other folds. The score is that of each checkpoint on the recordings
the choice was made on, at the learning rate that was chosen. Models end at different epochs;
at each epoch the mean is over those that got there.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bdl.errors import StudyError
from bdl.report.content import Curve
from bdl.study.directory import Step
from bdl.study.regimes import Found, Study, nested, validated

Curves = dict[str, dict[str, Curve]]


def study_curves(study: Study) -> tuple[Curves, str]:
    """Curves by row and quantity, and a sentence on what they are or why they are missing.

    Parameters
    ----------
    study : finished; its choices are read again from its steps, nothing is run.
    """
    choose = nested if study.protocol.regime == "nested" else validated
    try:
        found = choose(study, lambda what, steps: None)
    except StudyError as error:
        return {}, f"No training curves: {error}."
    part = "calibration" if study.protocol.regime == "nested" else "validation"
    curves: Curves = {}
    kept = total = 0
    for row in dict.fromkeys(name for name, _ in found.runs):
        steps = [
            step for (name, _), some in found.densities.items() if name == row for step in some
        ]
        losses = [loss for step in steps if (loss := study.run.result(step).get("losses"))]
        kept, total = kept + len(losses), total + len(steps)
        tried = [study.run.result(step)["tried"] for step in _chosen(study, found, row, steps)]
        by_epoch = {"loss": _mean(enumerate(one, start=1) for one in losses)} if losses else {}
        scores = _mean(((t["epoch"], t["score"]) for t in one) for one in tried)
        curves[row] = {**by_epoch, f"{part} mAP": scores}
    return curves, " ".join(
        [
            f"Loss and {part} mAP of each checkpoint, at the learning rate that was chosen.",
            "Means over folds and seeds; at each epoch over the models that were trained so far.",
            *_missing(kept, total),
        ]
    )


def _missing(kept: int, total: int) -> list[str]:
    """A word on models without losses, where there are any.

    >>> _missing(0, 4)
    ['Losses are missing: the models were trained before losses were recorded.']
    """
    if kept == total:
        return []
    which = f"{total - kept} of {total} models" if kept else "the models"
    return [f"Losses are missing: {which} were trained before losses were recorded."]


def _chosen(study: Study, found: Found, row: str, steps: Sequence[Step]) -> Iterable[Step]:
    """The steps in which a row's checkpoints were scored, at the rate that was chosen."""
    if study.protocol.regime != "nested":
        return steps
    return [
        study.plan.select(record.fold, study.protocol.row(row), record.value)
        for record in found.records
        if (record.row, record.metric) == (row, "learning rate")
        and record.fold is not None
        and record.value is not None
    ]


def _mean(curves: Iterable[Iterable[tuple[int, Any]]]) -> Curve:
    """The mean at each epoch over the curves that have one there.

    >>> _mean([[(1, 4.0), (2, 2.0)], [(1, 2.0)]])
    ([1.0, 2.0], [3.0, 2.0])
    """
    by_epoch: dict[int, list[float]] = {}
    for curve in curves:
        for epoch, value in curve:
            by_epoch.setdefault(epoch, []).append(value)
    epochs = sorted(by_epoch)
    return [float(epoch) for epoch in epochs], [float(np.mean(by_epoch[e])) for e in epochs]
