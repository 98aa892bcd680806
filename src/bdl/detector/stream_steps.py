"""The interface of encoders that are stepped bin by bin, and the states of many streams."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Longs, Singles
from bdl.decoding.incremental_rows import grown

State = list[NDArray[Any]]  # the first axis of each array is that of the streams


class Steps(ABC):
    """A causal encoder that runs bin by bin, for one stream or for many together."""

    outputs: int

    @abstractmethod
    def initial_state(self) -> State:
        """State of one stream before its first bin."""

    @abstractmethod
    def step(
        self, values: Singles, hour: Longs | None, weekday: Longs | None, state: State
    ) -> tuple[Singles, State]:
        """Densities (streams, bins, outputs) of the next bins, and the state after them.

        Parameters
        ----------
        values
            (streams, bins, columns) features of the next bins of each stream, at least one bin.
        hour, weekday
            (streams, bins) of a calendar, or None.
        state
            State of the streams; not changed.
        """


class StateRows:
    """States of an encoder, one row per stream.

    Rows share arrays while their states have the shapes of the initial one. Trees keep the last
    bins, of which there are fewer at the start: such a state is kept beside them.

    Examples
    --------
    >>> states = StateRows([np.zeros((1, 2))])
    >>> states.grow(3)
    >>> states.put(np.array([0, 2]), [np.array([[1.0, 2.0], [3.0, 4.0]])])
    >>> states.get(np.array([2]))[0].tolist()
    [[3.0, 4.0]]
    """

    def __init__(self, initial: State) -> None:
        self.initial = initial
        self.arrays = [part[:0] for part in initial]
        self.others: dict[int, State] = {}

    def grow(self, rows: int) -> None:
        """Make room for this many rows."""
        self.arrays = [grown(array, rows) for array in self.arrays]

    def clear(self, row: int) -> None:
        """Set the state before the first bin."""
        self.put(np.array([row]), self.initial)

    def groups(self, rows: Longs) -> Iterator[Longs]:
        """Places of rows, in groups whose states have equal shapes."""
        if not self.others:
            yield np.arange(len(rows))
            return
        places: dict[object, list[int]] = {}
        for place, row in enumerate(rows.tolist()):
            shapes = tuple(part.shape for part in self.others.get(row, []))
            places.setdefault(shapes, []).append(place)
        yield from map(np.array, places.values())

    def get(self, rows: Longs) -> State:
        """States of rows, which are of one group."""
        if int(rows[0]) in self.others:
            states = [self.others[row] for row in rows.tolist()]
            return [np.concatenate(parts) for parts in zip(*states, strict=True)]
        return [array[rows] for array in self.arrays]

    def put(self, rows: Longs, state: State) -> None:
        """Set the states of rows."""
        shared = all(
            part.shape[1:] == array.shape[1:]
            for part, array in zip(state, self.arrays, strict=True)
        )
        if shared:
            for array, part in zip(self.arrays, state, strict=True):
                array[rows] = part
            if self.others:
                for row in rows.tolist():
                    self.others.pop(row, None)
            return
        for place, row in enumerate(rows.tolist()):
            # Copies, so that the state of one stream does not keep those of all others.
            self.others[row] = [part[place : place + 1].copy() for part in state]
