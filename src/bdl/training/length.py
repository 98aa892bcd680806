"""The length of a training on certain data."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class TrainingLength:
    """Epochs and steps of a training, as `bdl.training.Training.length` gives them.

    Parameters
    ----------
    epochs
        Epochs of the whole training; the last may be shorter than the others.
    steps
        Steps of the whole training, over which the learning rate follows its schedule.
    last
        Epoch after which training ends.
    kept
        Epochs whose weights are kept, in order; the last is always one of them.
    """

    epochs: int
    steps: int
    last: int
    kept: tuple[int, ...]
