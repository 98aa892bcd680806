"""Settings of a training: optimizer, length, device."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat, PositiveInt, model_validator

from bdl.config import Count, Value
from bdl.durations import Duration
from bdl.errors import ConfigError
from bdl.training.augmentation import Augmentation

SHORT = 600  # steps below which the learning rate is larger by default
UPDATES = 800  # steps where neither epochs nor updates are given
LENGTHS = ("epochs", "updates", "budget")  # one of them gives the length of a training


@dataclass(frozen=True)
class TrainingLength:
    """Epochs and steps of a training on certain data, as `Training.length` gives them."""

    epochs: int  # of the whole training; the last may be shorter than the others
    steps: int  # of the whole training, over which the learning rate follows its schedule
    last: int  # epoch after which training ends
    kept: tuple[int, ...]  # epochs whose weights are kept, in order; ``last`` is always one of them


class Training(Value):
    """Optimizer, budget and device.

    Parameters
    ----------
    epochs
        Passes over the training recordings.
    updates
        Steps of the optimizer, instead of epochs. The number of epochs follows from the batches
        per epoch; the last one may be shorter.
    budget
        Seconds that a whole fit of a detector may take on this machine, such as 10m or 2h, instead
        of epochs or updates. The number of updates follows from the measured time per step, so it
        differs between machines; ``updates`` of the fitted detector repeats a training. If none of
        the three is given, a detector chooses the number of updates by the length of its windows.
    per_length
        Draw as many random windows of a recording per epoch as fit into it, so that long recordings
        count more; otherwise one per recording, as published. None does so unless the length of
        the training is given in epochs.
    batch
        Windows per step.
    learning_rate
        Peak of the learning rate; see `bdl.training.schedule`. None takes 0.006, or 0.01 in
        trainings of fewer than 600 steps.
    clip
        Largest norm of the gradient of a step, or none for no limit.
    jitter
        Largest random shift of a label in training, in samples.
    augmentation
        Random changes of training windows: gain, blanks, reversed time. By default channels have
        random gains (0.2) and a tenth of them is blanked; ``Augmentation()`` changes nothing.
    average
        Share of the training over which weights are averaged: the mean of all steps so far, and
        from that share on an exponential moving average of this horizon. The averaged weights are
        validated, kept and saved. None keeps the weights of the last step.
    seed
        Seed of all random numbers.
    checkpoint_epochs
        Epochs, counted from 1, after which weights are kept and, with validation recordings,
        scored. The last epoch is always one of them.
    checkpoints
        Number of checkpoint epochs, spread evenly over the training, instead of a list of them.
    stop_after
        Epoch after which training ends early, with the learning rates of all epochs: its weights
        are those that a full training has there. None trains to the end.
    accelerator
        Device as in Lightning: auto, cpu, gpu or mps.
    devices
        Number or list of devices, as in Lightning.
    precision
        Floating-point precision, as in Lightning.
    workers
        Processes in which members of an ensemble are trained at the same time. It changes no
        result and is not part of a model file.

    Examples
    --------
    >>> Training(epochs=20, checkpoint_epochs=(5, 10, 15)).length(batches=3)
    TrainingLength(epochs=20, steps=60, last=20, kept=(5, 10, 15, 20))
    >>> Training(updates=100, checkpoints=2).length(batches=3)
    TrainingLength(epochs=34, steps=100, last=34, kept=(17, 34))
    """

    epochs: Count | None = None
    updates: Count | None = None
    budget: Duration | None = None
    per_length: bool | None = None
    batch: Count = 8
    learning_rate: PositiveFloat | None = None
    clip: PositiveFloat | None = 0.1
    jitter: Annotated[int, Field(ge=0, le=10**9)] = 0
    augmentation: Augmentation = Augmentation(gain=0.2, blanks=0.1)
    average: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    checkpoint_epochs: tuple[PositiveInt, ...] = ()
    checkpoints: Count | None = None
    stop_after: Count | None = None
    accelerator: str = "auto"
    devices: PositiveInt | str | tuple[int, ...] = 1
    precision: Literal["32-true", "16-mixed", "bf16-mixed", "bf16-true", "64-true"] = "32-true"

    workers: Annotated[int, Field(gt=0, le=10_000, exclude=True)] = 1

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        lengths = {name: getattr(self, name) for name in LENGTHS}
        texts = [f"{name} {value}" for name, value in lengths.items() if value is not None]
        if len(texts) > 1:
            raise ValueError(
                f"{' and '.join(texts)} are given; keep one (--epochs, --updates or --budget; "
                "in a file the others null)"
            )
        if self.checkpoint_epochs and self.checkpoints is not None:
            raise ValueError("checkpoint_epochs and checkpoints are both given; leave one out")
        if self.epochs is not None:
            self.length(1)
        return self

    def peak_rate(self, steps: int) -> float:
        """Return the peak of the learning rate in a training of this many steps.

        Examples
        --------
        >>> Training().peak_rate(300), Training().peak_rate(900)
        (0.01, 0.006)
        """
        return self.learning_rate or (0.01 if steps < SHORT else 0.006)

    @property
    def draws_by_length(self) -> bool:
        """Whether long recordings give more windows per epoch than short ones."""
        return self.epochs is None if self.per_length is None else self.per_length

    def length(self, batches: int) -> TrainingLength:
        """Return epochs and steps of a training.

        Parameters
        ----------
        batches
            Batches per epoch.

        Raises
        ------
        ConfigError
            If an epoch to stop or to keep weights at is beyond the last.
        """
        if self.epochs is not None:
            epochs, steps = self.epochs, self.epochs * batches
        else:
            steps = self.updates or UPDATES
            epochs = -(-steps // batches)
        last = self.stop_after or epochs
        if last > epochs:
            raise ConfigError(f"stop_after {self.stop_after} is beyond the {epochs} epochs")
        kept = {*self.checkpoint_epochs, last}
        if max(kept) > last:
            raise ConfigError(
                f"checkpoint_epochs {self.checkpoint_epochs} are beyond the {last} epochs"
            )
        if self.checkpoints is not None:
            count = min(self.checkpoints, last)
            kept = {-(-last * (i + 1) // count) for i in range(count)}
        return TrainingLength(epochs, steps, last, tuple(sorted(kept)))
