"""A Gaussian that narrows to the event's sample while a model is trained."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from bdl.kernels.gaussian import Gaussian, SigmaKernel
from bdl.kernels.hard import Hard
from bdl.kernels.kernel import Kernel, Weights


class Narrowing(SigmaKernel):
    """A Gaussian whose width falls linearly to zero during the first part of training.

    Early in training a wide target gives the rough position of an event; later a hard one gives
    the exact position. Outside of training, and for models that are not trained step by step, it
    is the Gaussian halfway: its sigma is half of the initial one.

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
    share: Annotated[float, Field(gt=0, le=1)] = 0.6

    def at(self, progress: float) -> Kernel:
        """Return the kernel after a share of the training."""
        factor = 1 - progress / self.share
        return Gaussian(sigma=self.known_sigma() * factor) if factor > 0 else Hard()

    def weights(self, period: float) -> Weights:
        """Return the weights of the Gaussian halfway."""
        return Gaussian(sigma=self.known_sigma() / 2).weights(period)
