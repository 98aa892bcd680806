"""A kernel that is chosen among others on held-out recordings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from bdl.kernels.gaussian import Gaussian
from bdl.kernels.hard import Hard
from bdl.kernels.kernel import Kernel, Weights


class AutomaticKernel(Kernel):
    """The kernel that detects best in recordings that a detector holds out of its training.

    Which kernel is best depends on the precision of the labels: a hard one if every event is at
    its exact sample, a wider one if annotators differ. `bdl.Detector` replaces this kernel by its
    choice. If nothing is held out, and outside of a detector, it is the first of the kernels.

    Parameters
    ----------
    among
        Kernels to choose from, of different kinds. The first is used unless another is better by
        0.005 mAP.

    Examples
    --------
    >>> [kernel.kind for kernel in AutomaticKernel().candidates]
    ['gaussian', 'hard']
    """

    kind: Literal["automatic"] = "automatic"
    among: Annotated[tuple[Kernel, ...], Field(min_length=2)] = (Gaussian(), Hard())

    @model_validator(mode="after")
    def _different(self) -> Self:
        kinds = [kernel.kind for kernel in self.among]
        if len({*kinds}) < len(kinds) or self.kind in kinds:
            raise ValueError(f"kernels of different kinds expected, got {', '.join(kinds)}")
        return self

    @property
    def candidates(self) -> tuple[Kernel, ...]:
        return self.among

    def complete(self, *, sigma: float | None = None, tolerances: Sequence[float] = ()) -> Self:
        """Return a copy whose kernels are complete."""
        among = [kernel.complete(sigma=sigma, tolerances=tolerances) for kernel in self.among]
        return self.replace(among=tuple(among))

    def at(self, progress: float) -> Kernel:
        """Return the first kernel after a share of the training."""
        return self.among[0].at(progress)

    def weights(self, period: float) -> Weights:
        """Return the weights of the first kernel."""
        return self.among[0].weights(period)
