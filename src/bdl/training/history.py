"""The course of a training: a row an epoch, kept weights, and which of them are best."""

from __future__ import annotations

import csv
import io
from dataclasses import asdict, dataclass, field

from torch import Tensor

from bdl.training.settings import Training

Weights = dict[str, Tensor]


@dataclass(frozen=True)
class Epoch:
    """One row of the history: mean loss, last learning rate, seconds, validation score if any.

    >>> Epoch(1, 10, 0.5, 3e-3, 1.5).score is None
    True
    """

    epoch: int
    steps: int
    loss: float
    learning_rate: float
    seconds: float
    score: float | None = None


@dataclass
class Kept:
    """History, weights of kept epochs by epoch, and the best of them by validation score."""

    history: list[Epoch] = field(default_factory=list)
    checkpoints: dict[int, Weights] = field(default_factory=dict)
    best: int | None = None


def best_epoch(history: list[Epoch], settings: Training) -> int | None:
    """The kept epoch of the largest score, the earlier of equals; None before any is kept.

    Without scores it is the last kept one.

    >>> rows = [Epoch(1, 1, 0.5, 1e-3, 1.0, 0.2), Epoch(2, 2, 0.4, 1e-3, 1.0, 0.2)]
    >>> best_epoch(rows, Training(epochs=2, checkpoint_epochs=(1,)))
    1
    """
    kept = [row for row in history if row.epoch in settings.kept]
    scored = [(row.score, -row.epoch) for row in kept if row.score is not None]
    if scored:
        return -max(scored)[1]
    return kept[-1].epoch if kept else None


def history_csv(history: list[Epoch]) -> bytes:
    """The history as a table with a heading.

    >>> print(history_csv([Epoch(1, 10, 0.5, 3e-3, 1.5)]).decode().strip())
    epoch,steps,loss,learning_rate,seconds,score
    1,10,0.5,0.003,1.5,
    """
    out = io.StringIO()
    table = csv.DictWriter(out, ["epoch", "steps", "loss", "learning_rate", "seconds", "score"])
    table.writeheader()
    table.writerows(asdict(row) for row in history)
    return out.getvalue().replace("\r\n", "\n").encode()
