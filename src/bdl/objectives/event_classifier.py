"""The samplewise classifier of point events."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, Self

from bdl import targets
from bdl.arrays import Floats
from bdl.labels import Labels, mean_spacing
from bdl.objectives.objective import BernoulliObjective
from bdl.targets import Crop


class EventClassifier(BernoulliObjective):
    """Samplewise classifier of point events: cross-entropy with target one in the event's bin.

    The counterpart of segmentation for events without duration: no prior and no kernel.

    Examples
    --------
    >>> import torch
    >>> EventClassifier().density(torch.zeros(1)).item()
    0.5
    """

    kind: Literal["classifier"] = "classifier"

    def resolve(self, labels: Iterable[Labels], *, stride: int) -> Self:
        """Check that there are events; nothing is filled in."""
        mean_spacing(labels)
        return self

    def exact_target(self, labels: Labels, crop: Crop) -> Floats:
        """Return one in bins that contain an event."""
        return targets.event_points(labels.events, crop)
