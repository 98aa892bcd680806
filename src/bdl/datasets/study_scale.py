"""Smaller sizes of the studies on a data set."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from bdl.config import Value


class Scale(Value):
    """A smaller size of the studies on a data set: what is simulated, and what is cut down."""

    recordings: int = Field(ge=2)  # number of simulated recordings
    # Number of simulated recordings where groups are split, of which there must be enough; None is
    # ``recordings``.
    grouped: int | None = None
    days: float | None = None  # length of each in days; None is the simulator's own
    seed: int = 0  # seed of the simulation
    # Options of the data set that is simulated.
    options: dict[str, Any] = Field(default_factory=dict)
    # Training epochs. Checkpoints are spread evenly over them, as many as before if there are so
    # many epochs.
    epochs: int = Field(ge=1)
    window: float | None = None  # training window in seconds; None keeps that of the data set
    # batch, rates, seeds, folds: Upper bounds of the batch size and of the numbers of learning
    # rates (the last ones are kept), seeds and folds.
    batch: int = 8
    rates: int = 1
    seeds: int = 1
    folds: int = 5
    tiny: bool = False  # whether encoders are replaced by their tiny versions
    replicates: int = 1000  # bootstrap replicates
