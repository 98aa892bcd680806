"""Incremental decoding of many recordings, one row of the state per recording.

Recordings that run at the same time are decoded together: `DecoderRows` takes the next bins of any
of them. A decoder with a compiled form keeps the state of all rows in common arrays; any other is
called once per row. Either way a row is decoded as if it were alone.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Floats, Longs, Singles
from bdl.decoding.incremental import (
    Arrays,
    FinalByType,
    FinalDetections,
    IncrementalDecoder,
)


class FinalRows(NamedTuple):
    """Detections of several rows that are final."""

    place: Longs  # which of the given rows each belongs to
    type: Longs  # its event type
    time: Floats  # seconds
    score: Floats
    known: Longs  # the bin whose density made each final

    def select(self, rows: NDArray[Any]) -> FinalRows:
        """The rows of a mask or of an index array."""
        return FinalRows(*(column[rows] for column in self))


class DecoderRows(ABC):
    """Decodes the densities of many recordings in parts; made by `Decoder.incremental_rows`.

    Attributes
    ----------
    types : tuple of str
        Event types of the detections.
    """

    types: tuple[str, ...]

    @abstractmethod
    def grow(self, rows: int) -> None:
        """Make room for this many rows."""

    @abstractmethod
    def clear(self, row: int) -> None:
        """Begin a recording."""

    @abstractmethod
    def push(
        self, rows: Longs, counts: Longs, values: Singles, samples: int | None = None
    ) -> FinalRows:
        """Detections that the next bins make final.

        Parameters
        ----------
        rows, counts
            Rows, each once, and the number of new bins of each.
        values
            (bins, outputs) density of the new bins of all rows, in their order.
        samples
            Length of the recording of a single row in samples, if it ends with these bins.
        """

    def finish(self, row: int, values: Singles, samples: int) -> FinalRows:
        """Detections that the last bins and the end of a recording of ``samples`` make final."""
        return self.push(np.array([row]), np.array([len(values)]), values, samples)

    @abstractmethod
    def save(self, row: int) -> Arrays:
        """The state of a row as named arrays, from which `restore` continues."""

    @abstractmethod
    def restore(self, row: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a state of a decoder with the same settings."""


class SeparateRows(DecoderRows):
    """One decoder per row, which ``make`` gives.

    Examples
    --------
    >>> from bdl.decoding import Peaks
    >>> from bdl.decoding.incremental import BinClock
    >>> rows = SeparateRows(lambda: Peaks().incremental(BinClock(1.0, 10), ("beat",)))
    >>> rows.grow(1)
    >>> rows.push(np.array([0]), np.array([3]), np.array([[0.0], [0.5], [0.25]])).time.tolist()
    [14.0]
    """

    def __init__(self, make: Callable[[], IncrementalDecoder]) -> None:
        self.make, self.types = make, make().types
        self.decoders: list[IncrementalDecoder] = []

    def grow(self, rows: int) -> None:
        self.decoders += [self.make() for _ in range(rows - len(self.decoders))]

    def clear(self, row: int) -> None:
        self.decoders[row] = self.make()

    def push(
        self, rows: Longs, counts: Longs, values: Singles, samples: int | None = None
    ) -> FinalRows:
        if samples is not None:
            return _in_rows([self.decoders[rows[0]].finish(values, samples)])
        parts = np.split(values, np.cumsum(counts)[:-1])
        return _in_rows(
            [self.decoders[row].push(part) for row, part in zip(rows, parts, strict=True)]
        )

    def save(self, row: int) -> Arrays:
        return self.decoders[row].save()

    def restore(self, row: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.decoders[row].restore(arrays)


class SingleRow(IncrementalDecoder):
    """One recording, decoded by a decoder of many."""

    def __init__(self, rows: DecoderRows) -> None:
        self.rows, self.types = rows, rows.types
        rows.grow(1)
        rows.clear(0)

    def push(self, values: Singles, samples: int | None = None) -> FinalByType:
        if samples is not None:
            final = self.rows.finish(0, values, samples)
        else:
            final = self.rows.push(np.zeros(1, np.int64), np.array([len(values)]), values)
        detections = FinalDetections(final.time, final.score, final.known)
        return {event: detections.select(final.type == i) for i, event in enumerate(self.types)}

    def save(self) -> Arrays:
        return self.rows.save(0)

    def restore(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.rows.restore(0, arrays)


def grown(array: NDArray[Any], rows: int) -> NDArray[Any]:
    """An array with more rows, of which the first are those of the given one.

    >>> grown(np.ones((1, 2)), 2).tolist()
    [[1.0, 1.0], [0.0, 0.0]]
    """
    more = np.zeros((rows, *array.shape[1:]), array.dtype)
    more[: len(array)] = array
    return more


def within(counts: Longs) -> Longs:
    """Numbers from 0 on for each count, one after the other.

    >>> within(np.array([2, 3])).tolist()
    [0, 1, 0, 1, 2]
    """
    numbers = np.arange(int(counts.sum()))
    starts: Longs = np.repeat(np.cumsum(counts) - counts, counts)
    return numbers - starts


def _in_rows(finals: list[FinalByType]) -> FinalRows:
    """What each row gave, as one table."""
    parts = [
        FinalRows(np.full(len(part.time), place), np.full(len(part.time), type), *part)
        for place, final in enumerate(finals)
        for type, part in enumerate(final.values())
        if len(part.time)
    ]
    if not parts:
        none = np.zeros(0, np.int64)
        return FinalRows(none, none, np.zeros(0), np.zeros(0), none)
    return FinalRows(*map(np.concatenate, zip(*parts, strict=True)))
