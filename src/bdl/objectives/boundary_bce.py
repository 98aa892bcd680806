"""Binary cross-entropy on event targets."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

import numpy as np

from bdl.arrays import Floats
from bdl.labels import Labels
from bdl.objectives.boundary import BoundaryObjective
from bdl.objectives.objective import BernoulliObjective
from bdl.targets import Crop


class BoundaryBCE(BernoulliObjective, BoundaryObjective):
    """Binary cross-entropy on the same targets, clipped to [0, 1], with the same sparse prior.

    The prior shifts the logits by logit(rate); a rate above one half counts as one half.

    Parameters
    ----------
    kernel, reference_spacing, prior, rate
        As in `bdl.objectives.boundary.BoundaryObjective`.

    Examples
    --------
    >>> import torch
    >>> round(BoundaryBCE(rate=0.01).density(torch.zeros(1)).item(), 6)
    0.01
    """

    prefix: ClassVar[str] = "bce"

    kind: Literal["bce"] = "bce"

    def exact_target(self, labels: Labels, crop: Crop) -> Floats:
        """Return the event mass of each bin, at most one."""
        return np.minimum(super().exact_target(labels, crop), 1.0)

    def _shift(self) -> float:
        rate = min(self.known_rate(), 0.5) if self.prior else 0.5
        return math.log(rate / (1 - rate))
