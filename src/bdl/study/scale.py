"""Small scales: the same protocol with fewer recordings, days, epochs, seeds and learning rates.

``small`` keeps every row, fold and encoder and runs in minutes on simulated data; ``tiny`` also
shrinks encoders, folds and seeds and runs in seconds, to test that a study works.
"""

from __future__ import annotations

from typing import Any, Literal

from bdl.datasets import Scale
from bdl.detector.detector_settings import DetectorSettings, merge
from bdl.errors import ConfigError
from bdl.study.protocol import Protocol, Row
from bdl.study.splits import Folds

ScaleName = Literal["full", "small", "tiny"]


def scale_of(protocol: Protocol, scale: ScaleName) -> Scale:
    """The scale of that name for the data set of a protocol.

    Examples
    --------
    >>> from bdl.study.catalogue import load
    >>> scale_of(load("sleep-nested"), "small").recordings
    40
    """
    scales = protocol.data.scales
    if scale not in scales:
        raise ConfigError(
            f"data set {protocol.data.kind!r} has no scale {scale!r}; "
            f"its scales are {', '.join(scales) or 'none'}"
        )
    size = scales[scale]
    if size.grouped is not None and protocol.split.by == "group":
        return size.replace(recordings=size.grouped)
    return size


def shrink(protocol: Protocol, scale: Scale) -> Protocol:
    """The protocol at a scale.

    Examples
    --------
    >>> from bdl.datasets import Sleep
    >>> from bdl.study.catalogue import load
    >>> small = shrink(load("sleep-nested"), Sleep.scales["small"])
    >>> len(small.rows), small.checkpoints, small.learning_rates
    (7, (5, 10, 15, 20), (0.003, 0.01))
    """
    training = protocol.training
    count = min(len(protocol.checkpoints), scale.epochs)
    # As many checkpoints, spread evenly over the epochs.
    checkpoints = sorted({-(-scale.epochs * (i + 1) // count) for i in range(count)})
    changes: dict[str, Any] = {
        "training": training.replace(
            epochs=scale.epochs,
            checkpoint_epochs=tuple(checkpoints),
            batch=min(training.batch, scale.batch),
        ),
        "window": scale.window or protocol.window,
        "learning_rates": protocol.learning_rates[-scale.rates :],
        "seeds": protocol.seeds[: scale.seeds],
        "rows": tuple(_shrink_row(row, scale) for row in protocol.rows),
        "bootstrap": protocol.bootstrap.replace(replicates=scale.replicates),
    }
    if isinstance(protocol.split, Folds):
        changes["split"] = protocol.split.replace(folds=min(protocol.split.folds, scale.folds))
    return protocol.replace(**changes)


def _shrink_row(row: Row, scale: Scale) -> Row:
    if row.preset is not None:
        batch = min(DetectorSettings.preset(row.preset, **row.detector).training.batch, scale.batch)
        shorter = {"training": {"epochs": scale.epochs, "updates": None, "batch": batch}}
        row = row.replace(detector=merge(row.detector, shorter))
    return row.replace(
        seeds=None if row.seeds is None else row.seeds[: scale.seeds],
        batch=None if row.batch is None else min(row.batch, scale.batch),
        learning_rates=None if row.learning_rates is None else row.learning_rates[-scale.rates :],
        encoder=row.encoder.tiny() if scale.tiny else row.encoder,
    )
