"""What objectives on event targets share: a kernel and a sparse prior."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Self

from pydantic import PositiveFloat, model_validator

from bdl import targets
from bdl.arrays import Floats
from bdl.errors import ConfigError
from bdl.kernels import Kernel
from bdl.kernels.hard import Hard
from bdl.labels import Labels, common_period, mean_spacing
from bdl.objectives.objective import Objective
from bdl.targets import Crop


class BoundaryObjective(Objective):
    """Base class of objectives on event targets, whose output starts near the event rate.

    Parameters
    ----------
    kernel
        How the unit mass of an event is spread; a value or a name of `bdl.kernels`.
    reference_spacing
        Mean seconds between events of one type, the sparse prior. None estimates it from the
        training labels (recorded time divided by events, averaged over types).
    prior
        Whether the output starts at that rate; False for the ablation.
    rate
        Events per bin at the start: bin width divided by reference spacing; set by `resolve`.
    """

    prefix: ClassVar[str] = ""

    kernel: Kernel = Hard()
    reference_spacing: PositiveFloat | None = None
    prior: bool = True
    rate: PositiveFloat | None = None

    @classmethod
    def shorthands(cls) -> Mapping[str, Mapping[str, Any]]:
        """One name per kernel: ``bdl-hard``, ``bdl-gaussian`` and so on."""
        return {f"{cls.prefix}-{name}": {"kernel": name} for name in Kernel.names()}

    @model_validator(mode="after")
    def _used(self) -> Self:
        if not self.prior and (self.reference_spacing is not None or self.rate is not None):
            raise ValueError("reference_spacing and rate have no effect with prior false")
        both = self.reference_spacing is not None and self.rate is not None
        if both and {"reference_spacing", "rate"} <= self.given:
            raise ValueError("rate follows from reference_spacing: leave one of them out")
        return self

    def complete(
        self,
        *,
        sigma: float | None = None,
        tolerances: Sequence[float] = (),
        reference_spacing: float | None = None,
    ) -> Self:
        """Return a copy with a complete kernel and, if one is given, a reference spacing."""
        spacing = self.reference_spacing or reference_spacing
        return self.replace(
            kernel=self.kernel.complete(sigma=sigma, tolerances=tolerances),
            reference_spacing=spacing if self.prior else None,
        )

    def resolve(self, labels: Iterable[Labels], *, stride: int) -> Self:
        """Return a copy with reference spacing and prior rate."""
        listed = [*labels]
        spacing = self.reference_spacing or mean_spacing(listed)
        rate = stride * common_period(listed) / spacing
        if not self.prior:
            return self
        if self.rate is not None and not math.isclose(self.rate, rate, rel_tol=1e-6):
            raise ConfigError(
                f"objective: a rate of {self.rate:g} events per bin contradicts the reference "
                f"spacing of {spacing:g} s, which gives {rate:g}; leave rate out"
            )
        return self.replace(reference_spacing=spacing, rate=rate)

    @property
    def candidates(self) -> tuple[Self, ...]:
        """The objective with each kernel to choose from."""
        return tuple(self.replace(kernel=kernel) for kernel in self.kernel.candidates)

    def at(self, progress: float) -> Self:
        """Return a copy with the kernel to train with after a share of the training."""
        kernel = self.kernel.at(progress)
        return self if kernel is self.kernel else self.replace(kernel=kernel)

    def known_rate(self) -> float:
        """Return the prior rate, or raise an error before `resolve`."""
        if self.rate is None:
            raise ConfigError(f"{self!r} has no prior rate yet: call resolve first")
        return self.rate

    def exact_target(self, labels: Labels, crop: Crop) -> Floats:
        """Return the event mass of each bin."""
        return targets.event_targets(labels.events, self.kernel, crop, period=labels.period)
