"""Small scales: the same protocol with fewer recordings, days, epochs, seeds and rates.

``small`` keeps every row, fold and encoder and runs in minutes on simulated data; ``tiny`` also
shrinks encoders, folds and seeds and runs in seconds: it shows that a study works, nothing else.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from bdl.config import Value
from bdl.errors import ConfigError
from bdl.study.protocol import Folds, Protocol, Row

ScaleName = Literal["full", "small", "tiny"]
DAY = 86400.0


class Scale(Value):
    """What a scale changes.

    Parameters
    ----------
    recordings, days, seed : of the simulated data set; days None leaves the simulator's own.
    grouped : recordings where groups are split, of which there must be enough.
    epochs : training epochs; checkpoints are spread evenly over them, as many as before if
        there are so many epochs.
    window : training window in seconds; None keeps the data set's.
    batch, rates, seeds, folds : at most so many (of learning rates: the last).
    tiny : encoders are shrunk too.
    replicates : of the bootstrap.

    >>> Scale(recordings=6, epochs=2).batch
    8
    """

    recordings: int = Field(ge=2)
    grouped: int | None = None
    days: float | None = None
    seed: int = 0
    epochs: int = Field(ge=1)
    window: float | None = None
    batch: int = 8
    rates: int = 1
    seeds: int = 1
    folds: int = 5
    tiny: bool = False
    replicates: int = 1000


SCALES: dict[str, dict[str, Scale]] = {
    "sleep": {
        "small": Scale(recordings=40, days=7.0, epochs=20, window=2 * DAY, batch=4, rates=2),
        "tiny": Scale(
            recordings=8, days=2.0, epochs=2, window=DAY, folds=2, tiny=True, replicates=50
        ),
    },
    "chbmit": {
        "small": Scale(
            recordings=24, grouped=36, days=0.01, epochs=8, window=300.0, batch=4, rates=2
        ),
        "tiny": Scale(
            recordings=6,
            grouped=24,
            days=0.001,
            epochs=2,
            window=60.0,
            folds=2,
            tiny=True,
            replicates=50,
        ),
    },
    "bowshock": {
        "small": Scale(recordings=24, epochs=8, batch=4, rates=2),
        "tiny": Scale(recordings=8, epochs=2, folds=2, tiny=True, replicates=50),
    },
    "fraud": {
        "small": Scale(recordings=24, epochs=8, batch=4, rates=2),
        "tiny": Scale(recordings=8, epochs=2, folds=2, tiny=True, replicates=50),
    },
    "hapt": {
        "small": Scale(recordings=24, epochs=12, window=60.0, batch=2, rates=2),
        "tiny": Scale(recordings=8, epochs=2, window=30.0, folds=2, tiny=True, replicates=50),
    },
}


def scale_of(protocol: Protocol, scale: ScaleName) -> Scale:
    """The scale of that name for a protocol's data set.

    >>> from bdl.study.catalogue import load
    >>> scale_of(load("sleep-nested"), "small").recordings
    40
    """
    found = SCALES.get(protocol.data.name, {}).get(scale)
    if found is None:
        raise ConfigError(
            f"no scale {scale!r} for data set {protocol.data.name!r}; there are simulated sets for "
            f"{', '.join(SCALES)} at scales small and tiny"
        )
    if found.grouped is not None and protocol.split.by == "group":
        return found.replace(recordings=found.grouped)
    return found


def shrink(protocol: Protocol, scale: Scale) -> Protocol:
    """The protocol at a scale.

    >>> from bdl.study.catalogue import load
    >>> small = shrink(load("sleep-nested"), SCALES["sleep"]["small"])
    >>> len(small.rows), small.training.checkpoints, small.training.learning_rates
    (7, (5, 10, 15, 20), (0.003, 0.01))
    """
    training = protocol.training
    count = min(len(training.checkpoints), scale.epochs)
    marks = sorted({-(-scale.epochs * (i + 1) // count) for i in range(count)})
    changes: dict[str, Any] = {
        "training": training.replace(
            epochs=scale.epochs,
            checkpoints=tuple(marks),
            window=scale.window or training.window,
            batch=min(training.batch, scale.batch),
            learning_rates=training.learning_rates[-scale.rates :],
        ),
        "seeds": protocol.seeds[: scale.seeds],
        "rows": tuple(_row(row, scale) for row in protocol.rows),
        "bootstrap": protocol.bootstrap.replace(replicates=scale.replicates),
    }
    if isinstance(protocol.split, Folds):
        changes["split"] = protocol.split.replace(folds=min(protocol.split.folds, scale.folds))
    return protocol.replace(**changes)


def _row(row: Row, scale: Scale) -> Row:
    return row.replace(
        seeds=None if row.seeds is None else row.seeds[: scale.seeds],
        batch=None if row.batch is None else min(row.batch, scale.batch),
        learning_rates=None if row.learning_rates is None else row.learning_rates[-scale.rates :],
        encoder=row.encoder.tiny() if scale.tiny else row.encoder,
    )
