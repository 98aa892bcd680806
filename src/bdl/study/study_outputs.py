"""Outputs of a finished study for its report: ``outputs.json`` in the run directory.

The file lists the steps with the detections and densities of the first seed of each row, the tested
recordings, and the training curves. The loss is that of the models whose detections are scored: the
final ones, or in the validation regime those trained on the other folds. The score is that of each
checkpoint on the recordings it was chosen on, at the selected learning rate. Models end at
different epochs; at each epoch the mean is over the models that reached it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np

from bdl.config import Value
from bdl.runs.run_reader import StepId


class EpochMeans(Value):
    """A quantity by epoch, averaged over folds and seeds.

    Examples
    --------
    >>> EpochMeans.of([{1: 4.0, 2: 2.0}, {1: 2.0}])
    EpochMeans(epochs=(1, 2), values=(3.0, 2.0))
    """

    epochs: tuple[int, ...]
    values: tuple[float, ...]

    @classmethod
    def of(cls, curves: Iterable[Mapping[int, float]]) -> EpochMeans:
        """The mean at each epoch over the curves that have a value there."""
        by_epoch: dict[int, list[float]] = {}
        for curve in curves:
            for epoch, value in curve.items():
                by_epoch.setdefault(epoch, []).append(value)
        epochs = tuple(sorted(by_epoch))
        return cls(epochs=epochs, values=tuple(float(np.mean(by_epoch[e])) for e in epochs))


class RowOutputs(Value):
    """Outputs of one row of a study."""

    seed: int  # whose detections and densities are named here: the row's first
    stage: str  # decoder of the detections
    detections: tuple[StepId, ...]  # one step per fold, or one for all folds
    densities: tuple[StepId, ...]
    loss: EpochMeans | None = None  # of the scored models
    score: EpochMeans | None = None  # of the checkpoints


class StudyOutputs(Value):
    """Outputs of a study: folder of the data, tested recordings (sorted), and rows by name."""

    data: str
    test: tuple[str, ...]
    rows: dict[str, RowOutputs]
