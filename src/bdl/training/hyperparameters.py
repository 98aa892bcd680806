"""How a model is trained; the published settings of the optimizer are the defaults."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from bdl.config import Value
from bdl.training.augmentation import Augmentation


class Training(Value):
    """Optimizer, budget and device.

    Parameters
    ----------
    epochs
        Passes over the training recordings.
    per_length
        Draw as many random windows of a recording per epoch as fit into it, so that long recordings
        count more; otherwise one per recording, as published.
    batch
        Windows per step.
    learning_rate
        Peak of the learning rate; see `bdl.training.schedule`.
    clip
        Largest norm of the gradient of a step, or none for no limit.
    jitter
        Largest random shift of a label in training, in samples.
    augmentation
        Random changes of training windows: gain, blanks, reversed time. None by default.
    average
        Share of the training over which weights are averaged: the mean of all steps so far, and
        from that share on an exponential moving average of this horizon. The averaged weights are
        validated, kept and saved. None keeps the weights of the last step.
    seed
        Seed of all random numbers.
    checkpoint_epochs
        Epochs, counted from 1, after which weights are kept and, with validation recordings,
        scored. The last epoch is always one of them.
    stop_after
        Epoch after which training ends early, with the learning rates of all epochs: its weights
        are those that a full training has there. None trains to the end.
    accelerator
        Device as in Lightning: auto, cpu, gpu or mps.
    devices
        Number or list of devices, as in Lightning.
    precision
        Floating-point precision, as in Lightning.

    Examples
    --------
    >>> Training(epochs=20, checkpoint_epochs=(5, 10, 15)).kept
    (5, 10, 15, 20)
    >>> Training(epochs=20, stop_after=5).kept
    (5,)
    """

    epochs: PositiveInt = 20
    per_length: bool = False
    batch: PositiveInt = 32
    learning_rate: PositiveFloat = 3e-3
    clip: PositiveFloat | None = 0.1
    jitter: NonNegativeInt = 0
    augmentation: Augmentation = Augmentation()
    average: Annotated[float, Field(gt=0, le=1)] | None = None
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    checkpoint_epochs: tuple[PositiveInt, ...] = ()
    stop_after: PositiveInt | None = None
    accelerator: str = "auto"
    devices: PositiveInt | str | tuple[int, ...] = 1
    precision: Literal["32-true", "16-mixed", "bf16-mixed", "bf16-true", "64-true"] = "32-true"

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.last > self.epochs:
            raise ValueError(f"stop_after {self.stop_after} is beyond the {self.epochs} epochs")
        if self.checkpoint_epochs and max(self.checkpoint_epochs) > self.last:
            raise ValueError(
                f"checkpoint_epochs {self.checkpoint_epochs} are beyond the {self.last} epochs"
            )
        return self

    @property
    def last(self) -> int:
        """The epoch after which training ends."""
        return self.stop_after or self.epochs

    @property
    def kept(self) -> tuple[int, ...]:
        """Epochs whose weights are kept, in order."""
        return tuple(sorted({*self.checkpoint_epochs, self.last}))
