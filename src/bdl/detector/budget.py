"""The number of updates that fits a time budget, from the measured time of a few updates."""

from __future__ import annotations

import json
import math
import time
import warnings
from pathlib import Path

from bdl.detector.detector_settings import DetectorSettings
from bdl.detector.model_training import Reporting, TrainingData, train_model
from bdl.encoders import Encoder
from bdl.errors import ConfigError
from bdl.formats.atomic_files import atomic
from bdl.formats.files import reading
from bdl.plain_data import parse_json

PROBE = 6  # measured updates, after as many during which functions are compiled
FEWEST = 20  # updates below which nothing is learned
RESERVE = 0.1  # share of the budget for choosing on held-out recordings


def within_budget(
    settings: DetectorSettings,
    data: TrainingData,
    *,
    trainings: int,
    directory: Path | None,
) -> DetectorSettings:
    """Return settings whose number of updates fits the budget of the training, if it has one.

    Every kind of encoder is trained for a few updates on the data. The time of encoders that are
    not trained by gradient descent, such as trees, does not depend on the number of updates. The
    number is written to the directory, if there is one, so that an interrupted fit resumes with it.

    Parameters
    ----------
    settings
        Complete settings.
    data
        All training data.
    trainings
        How often the encoder is trained, on parts of the data and on all.
    directory
        Folder of the fit, if there is one.
    """
    budget = settings.training.budget
    if budget is None:
        return settings
    record = None if directory is None else directory / "budget.json"
    if record is not None and record.exists():
        with reading(record, "the updates of a budget"):
            updates = int(parse_json(record.read_bytes(), record)[f"{budget:g}"])
    else:
        updates = _measure(settings, data, trainings, budget)
        if record is not None:
            record.parent.mkdir(parents=True, exist_ok=True)
            with atomic(record) as file:
                file.write_text(json.dumps({f"{budget:g}": updates}), encoding="utf-8")
    return _with_updates(settings, updates)


def _measure(settings: DetectorSettings, data: TrainingData, trainings: int, budget: float) -> int:
    start = time.perf_counter()
    members = settings.encoder.parts
    distinct, kernels = settings.encoder.distinct.parts, len(settings.objective.candidates)
    # Kernels are tried with distinct members; if those are all, the best is not trained again.
    trials = kernels if kernels > 1 and len(distinct) < len(members) else kernels - 1
    fixed, per_update = 0.0, 0.0
    for member in distinct:
        member_fixed, member_per_update = _member_seconds(settings, member, data)
        count = trainings * members.count(member) + trials
        fixed, per_update = fixed + count * member_fixed, per_update + count * member_per_update
    left = budget * (1 - RESERVE) - fixed - (time.perf_counter() - start)
    updates = int(left / per_update) if per_update else FEWEST
    if updates < FEWEST:
        needed = (budget - left + FEWEST * per_update) / (1 - RESERVE)
        raise ConfigError(
            f"budget {budget:g} s: too short for {FEWEST} updates of {trainings} trainings on this "
            f"machine; at least --budget {math.ceil(needed / 60)}m expected, or fewer "
            "trainings (--selection-folds 0, selection.folds, chooses nothing and trains once)"
        )
    return updates


def _member_seconds(
    settings: DetectorSettings, member: Encoder, data: TrainingData
) -> tuple[float, float]:
    """Seconds of one training of an encoder that do not depend on the updates, and per update."""
    probe = _with_updates(settings.replace(encoder=member), PROBE)
    own_length = type(member).train is not Encoder.train
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # the training itself warns of the same
        if not own_length:
            train_model(probe, data, Reporting())
        start = time.perf_counter()
        history = train_model(probe, data, Reporting()).history
    total = time.perf_counter() - start
    if own_length:
        return total, 0.0
    in_steps = sum(epoch.seconds for epoch in history)
    return total - in_steps, in_steps / history[-1].steps


def _with_updates(settings: DetectorSettings, updates: int) -> DetectorSettings:
    training = settings.training.replace(budget=None, epochs=None, updates=updates)
    return settings.replace(training=training)
