"""How a model is trained: the published optimiser settings are the defaults."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, NonNegativeInt, PositiveFloat, PositiveInt, model_validator

from bdl.config import Value


class Training(Value):
    """Optimiser, budget and device.

    Parameters
    ----------
    epochs : passes; in each, every recording gives one random window.
    batch : windows a step.
    learning_rate : its peak; see `bdl.training.schedule`.
    clip : largest norm of a step's gradient, or None for no limit.
    jitter : largest random shift of a label in training, in samples.
    seed : all that is random follows from it.
    checkpoint_epochs : epochs, counted from 1, after which weights are kept and, with a
        validation part, scored. The last epoch is always one of them.
    stop_after : epoch after which training ends early, on the learning rates of all ``epochs``: its
        weights are those a full training has there. None trains to the end.
    accelerator, devices, precision : as Lightning takes them.

    >>> Training(epochs=20, checkpoint_epochs=(5, 10, 15)).kept
    (5, 10, 15, 20)
    >>> Training(epochs=20, stop_after=5).kept
    (5,)
    """

    epochs: PositiveInt = 20
    batch: PositiveInt = 32
    learning_rate: PositiveFloat = 3e-3
    clip: PositiveFloat | None = 0.1
    jitter: NonNegativeInt = 0
    seed: Annotated[int, Field(ge=0, lt=1 << 63)] = 0
    checkpoint_epochs: tuple[PositiveInt, ...] = ()
    stop_after: PositiveInt | None = None
    accelerator: str = "auto"
    devices: PositiveInt | str | tuple[int, ...] = 1
    precision: Literal["32-true", "16-mixed", "bf16-mixed", "bf16-true", "64-true"] = "32-true"

    @model_validator(mode="after")
    def _reachable(self) -> Self:
        if self.last > self.epochs:
            raise ValueError(f"stop_after {self.stop_after} goes beyond the {self.epochs} epochs")
        if self.checkpoint_epochs and max(self.checkpoint_epochs) > self.last:
            raise ValueError(
                f"checkpoint_epochs {self.checkpoint_epochs} go beyond the {self.last} epochs"
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
