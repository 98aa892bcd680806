"""A scaling: division by the largest value."""

import numpy as np

from bdl.scaling import Scaling


class LargestValue(Scaling):
    """Division by the largest absolute value of the training recordings."""

    kind: str = "largest-value"
    by: float | None = None

    def fit(self, recordings):
        return self.replace(
            by=max(float(np.abs(recording.values).max()) for recording in recordings)
        )

    def affine(self, recording):
        channels = len(recording.info.channels)
        return np.zeros(channels), np.full(channels, self.by)
