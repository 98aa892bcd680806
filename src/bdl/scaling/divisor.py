"""Division by a constant."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import PositiveFloat

from bdl.recording import Recording
from bdl.scaling.scaling import Affine, Scaling


class Divisor(Scaling):
    """All channels are divided by one number, such as 100 for EEG in microvolts.

    Parameters
    ----------
    by
        The number, above 0.

    Examples
    --------
    >>> Divisor(by=0.0)
    Traceback (most recent call last):
    bdl.errors.ConfigError: Divisor: by: more than 0.0 expected, got 0.0
    """

    kind: Literal["divisor"] = "divisor"
    by: PositiveFloat

    def affine(self, recording: Recording) -> Affine:
        """Return zero shift and the divisor for every channel."""
        channels = len(recording.info.channels)
        return np.zeros(channels), np.full(channels, self.by)
