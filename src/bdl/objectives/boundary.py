"""Objectives on event targets: boundary density likelihood, cross-entropy and squared error."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import ClassVar, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import PositiveFloat
from torch import Tensor
from torch.nn import functional as F

from bdl import targets
from bdl.errors import ConfigError
from bdl.kernels import Hard, Kernel
from bdl.labels import Labels
from bdl.objectives.base import Base, estimated_spacing, full, one_period


class Sparse(Base):
    """Objectives on event targets whose output starts near the frequency of events.

    Parameters
    ----------
    kernel : how an event's unit is spread.
    reference_spacing : seconds from one event of a type to the next, the sparse prior; None to
        estimate it from the training labels (recorded time over events, averaged over types).
    prior : whether the output starts there; off for the ablation.
    rate : events a bin at the start, bin width over reference spacing; filled by `resolve`.
    """

    kernel: Kernel = Hard()
    reference_spacing: PositiveFloat | None = None
    prior: bool = True
    rate: PositiveFloat | None = None

    def resolve(self, labels: Iterable[Labels], *, stride: int) -> Self:
        """A copy that knows its reference spacing and prior rate."""
        listed = [*labels]
        spacing = self.reference_spacing or estimated_spacing(listed)
        return self.replace(reference_spacing=spacing, rate=stride * one_period(listed) / spacing)

    def _rate(self) -> float:
        if self.rate is None:
            raise ConfigError(f"{self!r} does not know its prior rate yet: call resolve first")
        return self.rate

    def _target(self, labels: Labels, stride: int, first: int, samples: int) -> NDArray[np.float64]:
        return targets.event_targets(
            labels.events,
            self.kernel,
            period=labels.period,
            stride=stride,
            first=first,
            samples=samples,
        )


class BDL(Sparse):
    r"""Boundary density likelihood: a Poisson score on event mass.

    .. math:: \lambda = \mathrm{softplus}(z + \mathrm{softplus}^{-1}(\lambda_0)) + \epsilon,
        \qquad \ell = \lambda - Y\log\lambda

    For whole counts this is the Poisson negative log-likelihood up to a constant, for fractional
    mass a quasi-likelihood; either way its minimum is the conditional mean of the target.

    Parameters
    ----------
    kernel, reference_spacing, prior, rate : see `bdl.objectives.boundary.Sparse`.
    floor : the smallest density, epsilon.

    >>> round(BDL(prior=False).density(torch.zeros(1)).item(), 6)
    0.693147
    >>> round(BDL(rate=0.01).density(torch.zeros(1)).item(), 6)
    0.01
    """

    kind: Literal["bdl"] = "bdl"
    floor: PositiveFloat = 1e-8

    def density(self, logits: Tensor) -> Tensor:
        """Expected events a bin."""
        shift = softplus_inverse(self._rate()) if self.prior else 0.0
        return F.softplus(full(logits) + shift) + self.floor

    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Poisson score of every bin and output, without the constant of the target."""
        rate = self.density(logits)
        return rate - target * rate.log()


class BoundaryBCE(Sparse):
    """Binary cross-entropy on the same targets, clipped to [0, 1], with the same sparse prior.

    The prior is a shift of the logits by logit(rate); a rate above one half counts as one half.

    >>> round(BoundaryBCE(rate=0.01).density(torch.zeros(1)).item(), 6)
    0.01
    """

    kind: Literal["bce"] = "bce"
    bounded: ClassVar[bool] = True

    def _target(self, labels: Labels, stride: int, first: int, samples: int) -> NDArray[np.float64]:
        return np.minimum(super()._target(labels, stride, first, samples), 1.0)

    def density(self, logits: Tensor) -> Tensor:
        """Probability of an event in the bin."""
        return torch.sigmoid(self._shifted(logits))

    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Cross-entropy of every bin and output."""
        return F.binary_cross_entropy_with_logits(self._shifted(logits), target, reduction="none")

    def _shifted(self, logits: Tensor) -> Tensor:
        rate = min(self._rate(), 0.5) if self.prior else 0.5
        return full(logits) + math.log(rate / (1 - rate))


class LocalizedMSE(Sparse):
    """Squared error on unit-peak proximity maps, the formulation before BDL.

    The map of `bdl.targets.event_maps` is divided by its expected root mean square over the bins
    (``scale``), so that predicting nothing costs about one whatever the kernel. The link is the
    identity, cut at zero. ``prior`` only says whether the map is so divided.

    >>> round(LocalizedMSE(scale=0.5).density(torch.tensor([3.0, -1.0])).tolist()[0], 3)
    1.5
    """

    kind: Literal["mse"] = "mse"
    scale: PositiveFloat | None = None

    def resolve(self, labels: Iterable[Labels], *, stride: int) -> Self:
        """A copy that knows its spacing, rate and the scale of its map."""
        listed = [*labels]
        known = super().resolve(listed, stride=stride)
        period = one_period(listed)
        first, weights = self.kernel.weights(period)
        reach = -(-max(-first, first + len(weights)) // stride) * stride
        centre = np.array([reach + stride // 2])
        one = targets.event_maps(
            [centre], self.kernel, period=period, stride=stride, first=0, samples=2 * reach + stride
        )
        return known.replace(scale=math.sqrt(known._rate() * float((one**2).sum())))

    def _target(self, labels: Labels, stride: int, first: int, samples: int) -> NDArray[np.float64]:
        maps = targets.event_maps(
            labels.events,
            self.kernel,
            period=labels.period,
            stride=stride,
            first=first,
            samples=samples,
        )
        return maps / self._scale()

    def density(self, logits: Tensor) -> Tensor:
        """Proximity to an event, one at its peak."""
        return (full(logits) * self._scale()).clamp(min=0)

    def scores(self, logits: Tensor, target: Tensor) -> Tensor:
        """Squared error of every bin and output."""
        return (full(logits) - target) ** 2

    def _scale(self) -> float:
        if not self.prior:
            return 1.0
        if self.scale is None:
            raise ConfigError(f"{self!r} does not know its scale yet: call resolve first")
        return self.scale


def softplus_inverse(rate: float) -> float:
    """The number whose softplus is ``rate``, for rates small and large.

    >>> softplus_inverse(math.log(2))
    0.0
    """
    return rate + math.log(-math.expm1(-rate))
