"""A decoder, with its grid: the largest bins of a recording."""

from typing import ClassVar

import numpy as np

from bdl.decoding import Decoder, Grid
from bdl.decoding.candidates import Candidates


class Largest(Decoder):
    """The largest bins of each event type.

    Parameters
    ----------
    threshold
        Least score of a detection.
    alternate
        Keep the best alternating sequence.
    most
        Most detections per recording and type.
    """

    kind: str = "largest"
    reads: ClassVar[str] = "events"
    most: int = 20

    def candidates(self, density, intervals):
        candidates = {}
        for column, event in enumerate(density.types):
            bins = np.sort(np.argsort(-density.values[:, column], kind="stable")[: self.most])
            candidates[event] = Candidates(density.times[bins], density.values[bins, column])
        return candidates


class LargestGrid(Grid):
    """Numbers of bins to try.

    Parameters
    ----------
    thresholds
        Least scores to try.
    alternations
        Whether to alternate.
    counts
        Values of ``most``.
    """

    kind: str = "largest"
    decoder: ClassVar[type[Decoder]] = Largest
    axes: ClassVar[dict[str, str]] = {"counts": "most"}
    counts: tuple[int, ...] = (5, 10)
