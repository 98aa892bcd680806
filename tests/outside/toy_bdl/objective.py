"""An objective: squared error of the event mass per bin."""

from bdl import targets
from bdl.kernels import Hard
from bdl.objectives import Objective


class SquaredMass(Objective):
    """Squared error of the event mass per bin."""

    kind: str = "squared-mass"

    def density(self, logits):
        return logits.float().clamp(min=0)

    def scores(self, logits, target):
        return (logits.float() - target) ** 2

    def exact_target(self, labels, crop):
        return targets.event_targets(labels.events, Hard(), crop, period=labels.period)
