"""A density: what a model says of every time bin of a recording, on the recording's own clock.

Of kind ``events`` a value is the expected number of events of a type in the bin; of kind
``state`` it is the probability that the bin lies inside an interval.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bdl.errors import DensityError, InputError
from bdl.sampling import bin_count

Kind = Literal["events", "state"]


@dataclass(frozen=True, eq=False)
class Density:
    """Values per bin and channel of one recording.

    Parameters
    ----------
    recording : id of the recording.
    values : (bins, types) float32, nonnegative.
    types : event types (kind ``events``) or interval names (kind ``state``), one a column.
    period : seconds from one sample to the next.
    stride : samples a bin; the last bin may hold fewer.
    samples : length of the recording in samples; ``bins == ceil(samples / stride)``.
    kind : ``events`` or ``state``.
    bounded : every value lies in [0, 1] (Bernoulli outputs) rather than being an open-ended mass.

    >>> d = Density("a", np.zeros((3, 1), np.float32), ("beat",), 0.5, stride=4, samples=10)
    >>> d.times.tolist()
    [0.75, 2.75, 4.25]
    """

    recording: str
    values: NDArray[np.float32]
    types: tuple[str, ...]
    period: float
    stride: int
    samples: int
    kind: Kind = "events"
    bounded: bool = False

    def __post_init__(self) -> None:
        expected = (bin_count(self.samples, self.stride), len(self.types))
        where = f"density of recording {self.recording!r}"
        if self.values.shape != expected:
            raise InputError(
                f"{where}: {self.samples} samples at stride {self.stride} and {len(self.types)} "
                f"types need values of shape {expected}, got {self.values.shape}"
            )
        if not np.isfinite(self.values).all() or (self.values < 0).any():
            bad = np.argwhere(~(self.values >= 0) | np.isinf(self.values))[0]
            raise DensityError(
                f"{where}: finite, nonnegative values expected, got {self.values[tuple(bad)]} in "
                f"bin {bad[0]} of {self.types[bad[1]]!r}"
            )
        if self.bounded and (self.values > 1).any():
            bad = np.argwhere(self.values > 1)[0]
            raise InputError(
                f"{where}: declared bounded, but bin {bad[0]} of {self.types[bad[1]]!r} holds "
                f"{self.values[tuple(bad)]} > 1"
            )

    @property
    def edges(self) -> NDArray[np.int64]:
        """First sample of each bin, and the end: (bins + 1,)."""
        return np.minimum(np.arange(len(self.values) + 1) * self.stride, self.samples)

    @property
    def times(self) -> NDArray[np.float64]:
        """Centre of each bin in seconds: the mean time of its samples."""
        edges = self.edges
        centres: NDArray[np.float64] = (edges[:-1] + edges[1:] - 1) / 2 * self.period
        return centres
