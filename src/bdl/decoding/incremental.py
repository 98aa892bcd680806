"""Decoding bin by bin: the incremental form of a decoder.

A decoder whose look-ahead is bounded makes an `IncrementalDecoder` for one recording. It takes the
density in parts, in order, and gives every detection once, as soon as nothing that follows can
change it. All detections together are those of the finished recording, and which bin made each of
them final does not depend on the parts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.sampling import bin_centres

Arrays = dict[str, NDArray[Any]]


class FinalDetections(NamedTuple):
    """Detections of one event type that are final, in the order in which they became so."""

    time: NDArray[np.float64]  # seconds
    score: NDArray[np.float64]
    known: NDArray[np.int64]  # the bin whose density made each final

    def select(self, rows: NDArray[Any]) -> FinalDetections:
        """The rows of a mask or of an index array."""
        return FinalDetections(*(column[rows] for column in self))


FinalByType = dict[str, FinalDetections]


@dataclass(frozen=True)
class BinClock:
    """Samples and bins of a recording whose length is not known yet.

    Parameters
    ----------
    period
        Seconds from one sample to the next.
    stride
        Samples per bin.

    Examples
    --------
    >>> BinClock(0.5, 4).centres(np.array([0, 1])).tolist()
    [0.75, 2.75]
    """

    period: float
    stride: int

    def centres(self, bins: NDArray[np.int64], samples: int | None = None) -> NDArray[np.float64]:
        """Centres of bins in seconds; the last bin of ``samples`` samples may be partial."""
        return bin_centres(bins, self.stride, self.period, samples)


class IncrementalDecoder(ABC):
    """Decodes the density of one recording in parts; made by `Decoder.incremental`.

    Attributes
    ----------
    types : tuple of str
        Event types of the detections, in the order in which they are given.
    """

    types: tuple[str, ...]

    @abstractmethod
    def push(self, values: NDArray[np.float32], samples: int | None = None) -> FinalByType:
        """Detections that the next bins make final.

        Parameters
        ----------
        values
            (bins, outputs) density of the next bins; only the last of a recording may be partial.
        samples
            Length of the recording in samples, if it ends with these bins.
        """

    def finish(self, values: NDArray[np.float32], samples: int) -> FinalByType:
        """Detections that the last bins and the end of the recording make final; see `push`."""
        return self.push(values, samples)

    @abstractmethod
    def save(self) -> Arrays:
        """The state as named arrays, from which `restore` continues."""

    @abstractmethod
    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a state of a decoder with the same settings."""
