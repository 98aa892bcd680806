"""The incremental form of `bdl.decoding.peaks.Peaks`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bdl.decoding.candidates import steps
from bdl.decoding.incremental import (
    Arrays,
    BinClock,
    FinalByType,
    FinalDetections,
    IncrementalDecoder,
)
from bdl.decoding.incremental_cells import TrailingCells, nested, restore_nested
from bdl.decoding.incremental_maxima import MaximaStream

if TYPE_CHECKING:
    from bdl.decoding.peaks import Peaks


class IncrementalPeaks(IncrementalDecoder):
    """Peaks of each event type as they become final, with trailing smoothing or none.

    Examples
    --------
    >>> from bdl.decoding import Peaks
    >>> decoder = IncrementalPeaks(Peaks(), BinClock(1.0, 10), ("beat",))
    >>> parts = [decoder.push(np.array([[v]], np.float32)) for v in (0.0, 0.5, 0.25)]
    >>> [part["beat"].time.tolist() for part in parts]
    [[], [], [14.0]]
    """

    def __init__(self, decoder: Peaks, clock: BinClock, types: tuple[str, ...]) -> None:
        self.decoder, self.clock, self.types = decoder, clock, types
        bins = decoder.clock == "bins"
        step = clock.period * (clock.stride if bins else 1)
        smooth = decoder.smooth
        # Without smoothing all samples of a bin are equal, and it is one cell of many places.
        self.cells = TrailingCells(
            clock, len(types), sigma=smooth, by_sample=not bins and smooth > 0
        )
        width = 1 if bins or smooth > 0 else clock.stride
        distance = steps(decoder.separation, step)
        self.maxima = {
            event: MaximaStream(width=width, distance=distance, keep=decoder.keep)
            for event in types
        }

    def push(self, values: NDArray[np.float32]) -> FinalByType:
        return self._push(values, None)

    def finish(self, values: NDArray[np.float32], samples: int) -> FinalByType:
        return self._push(values, samples)

    def _push(self, values: NDArray[np.float32], samples: int | None) -> FinalByType:
        final = {}
        columns = self.cells.push(values, samples)
        for (event, maxima), cells in zip(self.maxima.items(), columns, strict=True):
            place, height, cell = maxima.push(cells, last=samples is not None)
            if self.decoder.clock == "samples":
                time = (place * self.clock.period).astype(np.float64)
            else:
                time = self.clock.centres(place, samples)
            final_peaks = FinalDetections(time, height, cell // self.cells.per_bin)
            final[event] = final_peaks.above(self.decoder.threshold)
        return final

    def save(self) -> Arrays:
        return nested({"@cells": self.cells, **self.maxima})

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        restore_nested({"@cells": self.cells, **self.maxima}, arrays)
