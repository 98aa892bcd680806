"""A density in parts as cells of a decoder's clock, smoothed without looking ahead."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.decoding.incremental import Arrays, BinClock
from bdl.decoding.smoothing import gaussian, smooth


class TrailingCells:
    """Values of the cells of each output: one per sample or one per bin.

    Parameters
    ----------
    clock
        Samples and bins of the recording.
    outputs
        Number of columns.
    sigma
        Standard deviation of the trailing Gaussian filter in seconds; 0 for none.
    by_sample
        Whether a cell is a sample; otherwise it is a bin.

    Examples
    --------
    >>> cells = TrailingCells(BinClock(1.0, 2), 1, sigma=0.0, by_sample=True)
    >>> cells.push(np.array([[0.5]], np.float32), None)[0].tolist()
    [0.5, 0.5]
    """

    def __init__(self, clock: BinClock, outputs: int, *, sigma: float, by_sample: bool) -> None:
        self.per_bin = clock.stride if by_sample else 1
        self.sigma = sigma / (clock.period * (1 if by_sample else clock.stride))
        radius = len(gaussian(self.sigma, "trailing")) - 1
        self.reach = -(-radius // self.per_bin)
        self.before = np.zeros((0, outputs), np.float32)  # bins that smoothing reads again

    def push(self, values: NDArray[np.float32], samples: int | None) -> list[NDArray[np.float64]]:
        """Cells of the next bins (bins, outputs); ``samples`` is the recording's length at its end.

        The last bin of a recording may have fewer samples, and so fewer cells.
        """
        joined = np.concatenate([self.before, values])
        old, length = len(self.before), len(joined) * self.per_bin
        if samples is not None and len(values):
            length -= -samples % self.per_bin
        self.before = joined[len(joined) - min(self.reach, len(joined)) :].copy()
        return [
            smooth(column, self.sigma, stride=self.per_bin, samples=length, side="trailing")[
                old * self.per_bin :
            ]
            for column in joined.T.astype(np.float64)
        ]

    def save(self) -> Arrays:
        """The state as named arrays."""
        return {"before": self.before}

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a saved state."""
        self.before = np.array(arrays["before"])


def nested(parts: Mapping[str, Any]) -> Arrays:
    """The states of several parts as one, each array under the name of its part."""
    return {f"{name}.{key}": a for name, part in parts.items() for key, a in part.save().items()}


def restore_nested(parts: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> None:
    """Continue all parts from the state that `nested` made."""
    for name, part in parts.items():
        prefix = f"{name}."
        part.restore({key[len(prefix) :]: a for key, a in arrays.items() if key.startswith(prefix)})
