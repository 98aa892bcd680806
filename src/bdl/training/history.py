"""The history of a training: one row per epoch, kept weights, and the best of them."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import TYPE_CHECKING, Any

from bdl.frames import Tabular, columns_of
from bdl.table_plots import Drawing

if TYPE_CHECKING:
    from torch import Tensor

    Weights = dict[str, Tensor]

#: Score of a module on validation recordings; larger is better.
Validate = Callable[..., float]


@dataclass(frozen=True)
class Epoch:
    """One row of the history.

    Parameters
    ----------
    epoch
        Number of the epoch, from 1.
    steps
        Steps since the start of training.
    loss
        Mean loss of the epoch.
    learning_rate
        Learning rate of its last step.
    seconds
        Duration of the epoch.
    score
        Validation score, or None if the epoch was not scored.

    Examples
    --------
    >>> Epoch(1, 10, 0.5, 3e-3, 1.5).score is None
    True
    """

    epoch: int
    steps: int
    loss: float
    learning_rate: float
    seconds: float
    score: float | None = None


class History(tuple[Epoch, ...], Tabular):
    """The epochs of a training in order, as a tuple and as a table.

    Examples
    --------
    >>> history = History([Epoch(1, 10, 0.5, 3e-3, 1.5), Epoch(2, 20, 0.4, 3e-3, 1.5)])
    >>> history[-1].loss, history.to_polars()["loss"].to_list()
    (0.4, [0.5, 0.4])
    """

    drawing = Drawing("epoch", "loss")

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per epoch."""
        return columns_of(self, Epoch)


@dataclass
class TrainingResult:
    """History of a training, and the weights of kept epochs by epoch.

    Examples
    --------
    >>> rows = [Epoch(1, 1, 0.5, 1e-3, 1.0, 0.2), Epoch(2, 2, 0.4, 1e-3, 1.0, 0.2)]
    >>> TrainingResult(rows, {1: {}, 2: {}}).best
    1
    """

    history: list[Epoch] = field(default_factory=list)
    checkpoints: dict[int, Weights] = field(default_factory=dict)

    @property
    def best(self) -> int | None:
        """The kept epoch with the largest score, the earliest of equals.

        Without scores it is the last kept epoch; before any epoch is kept it is None.
        """
        rows = [row for row in self.history if row.epoch in self.checkpoints]
        scored = [(row.score, -row.epoch) for row in rows if row.score is not None]
        if scored:
            return -max(scored)[1]
        return rows[-1].epoch if rows else None


def history_csv(history: Sequence[Epoch]) -> bytes:
    """Return the history as a CSV table with a header.

    Examples
    --------
    >>> print(history_csv([Epoch(1, 10, 0.5, 3e-3, 1.5)]).decode().strip())
    epoch,steps,loss,learning_rate,seconds,score
    1,10,0.5,0.003,1.5,
    """
    text = io.StringIO()
    table = csv.DictWriter(text, [column.name for column in fields(Epoch)], lineterminator="\n")
    table.writeheader()
    table.writerows(asdict(row) for row in history)
    return text.getvalue().encode()
