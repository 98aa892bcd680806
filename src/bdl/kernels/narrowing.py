"""A Gaussian that narrows to the event's sample while a model is trained."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import Field, PositiveFloat

from bdl.kernels.gaussian import Gaussian, known_sigma
from bdl.kernels.hard import Hard
from bdl.kernels.kernel import Kernel, Weights


class Narrowing(Kernel):
    """A Gaussian whose width falls linearly to zero during the first part of training.

    Early in training a wide target tells a model roughly where events are; later a hard one tells
    it exactly where. Outside of training, and for models that are not trained step by step, it is
    the Gaussian half way: its sigma is half of the first one.

    Parameters
    ----------
    sigma
        Standard deviation at the start, in seconds. None is completed as that of a Gaussian.
    share
        Share of the training after which the kernel is hard, in (0, 1].

    Examples
    --------
    >>> kernel = Narrowing(sigma=10.0, share=0.5)
    >>> kernel.at(0.25).sigma, kernel.at(0.75).kind
    (5.0, 'hard')
    """

    kind: Literal["narrowing"] = "narrowing"
    sigma: PositiveFloat | None = None
    share: Annotated[float, Field(gt=0, le=1)] = 0.6

    def complete(self, *, sigma: float | None = None, tolerances: Sequence[float] = ()) -> Self:
        """Return a copy that has a sigma."""
        return self if self.sigma is not None else self.replace(sigma=known_sigma(self.kind, sigma))

    def at(self, progress: float) -> Kernel:
        """Return the kernel after a share of the training."""
        left = 1 - progress / self.share
        return Gaussian(sigma=known_sigma(self.kind, self.sigma) * left) if left > 0 else Hard()

    def weights(self, period: float) -> Weights:
        """Return the weights of the Gaussian half way."""
        return Gaussian(sigma=known_sigma(self.kind, self.sigma) / 2).weights(period)
