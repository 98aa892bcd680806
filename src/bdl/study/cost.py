"""What a study needs, and an estimate of its cost.

The cost is that of its trainings: the bins that pass forwards and backwards, at the speed that
each encoder states. It is an order of magnitude: minutes, hours, days or weeks.
"""

from __future__ import annotations

from typing import Any

from bdl.detector.detector_settings import DetectorSettings
from bdl.study.protocol import Protocol, Row
from bdl.study.splits import fold_count

# Seconds per training for reading, densities and decoding.
_OVERHEAD = 5.0
# Share of the recordings in the training part.
_TRAINING_SHARE = 0.7


def training_count(protocol: Protocol) -> int:
    """Number of models that a study trains.

    Examples
    --------
    >>> from bdl.study.catalogue import load
    >>> training_count(load("sleep-nested"))
    210
    """
    return sum(_trainings(protocol, row) for row in protocol.rows)


def core_hours(protocol: Protocol) -> float:
    """Rough core-hours of all trainings."""
    data = protocol.data
    windows = data.recording_count * _TRAINING_SHARE * protocol.training.length(1).epochs
    seconds = 0.0
    for row in protocol.rows:
        training = windows * data.window_bins * row.encoder.seconds_per_bin(data.window_bins)
        seconds += _trainings(protocol, row) * (_OVERHEAD + training)
    return seconds / 3600


def summary(protocol: Protocol) -> dict[str, Any]:
    """The main facts of a study, as plain data."""
    return {
        "name": protocol.name,
        "title": protocol.title,
        "data": protocol.data.kind,
        "needs": protocol.data.requires or protocol.data.kind,
        "regime": protocol.regime.name,
        "rows": len(protocol.rows),
        "trainings": training_count(protocol),
        "core_hours": round(core_hours(protocol), 2),
        "note": protocol.paper.note,
        "tables": [table.label for table in protocol.paper.tables],
    }


def _trainings(protocol: Protocol, row: Row) -> int:
    folds = fold_count(protocol.split)
    if row.preset is not None:
        settings = DetectorSettings.preset(row.preset, **row.detector)
        trials = len(settings.objective.candidates) - 1
        trainings = settings.selection.folds + trials + settings.selection.refit
        return folds * len(protocol.seeds_of(row)) * max(trainings, 1)
    rates, seeds = len(protocol.rates_of(row)), len(protocol.seeds_of(row))
    return folds * protocol.regime.trainings(rates=rates, seeds=seeds)
