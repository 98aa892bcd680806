"""Samples of streams, placed on their clocks and gathered into bins, one row per stream.

Sample ``i`` is at ``i * period`` seconds from the start. Without times, samples follow each other.
With times, each belongs to its nearest place; places that are left out are missing samples, as in
a file. A sample that is late, repeated or out of order, so that its place is not after all places
so far, is left out and counted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bdl.arrays import Floats, Longs, Singles
from bdl.compiled import compiled
from bdl.decoding.incremental_rows import grown
from bdl.encoders.encoder import CARRIED
from bdl.errors import InputError
from bdl.limits import SAMPLES
from bdl.recording import RecordingInfo
from bdl.sampling import nearest_sample

Values = Singles


class Samples(NamedTuple):
    """Samples of several streams, one after the other."""

    counts: Longs  # samples of each stream
    values: Values  # (samples, channels)
    times: Floats  # seconds of each sample; NaN in a stream whose samples have none


class SampleIntake:
    """Gathers samples of many streams into bins.

    Parameters
    ----------
    stride
        Samples per bin.
    channels
        Number of channels.
    period
        Seconds from one sample to the next.
    """

    def __init__(self, *, stride: int, channels: int, period: float) -> None:
        self.stride, self.period = stride, period
        self.samples = np.zeros(0, np.int64)  # places so far, missing ones included
        self.late = np.zeros(0, np.int64)  # samples that were left out
        self.pending: Values = np.zeros((0, stride, channels), np.float32)  # of the next bin

    def grow(self, rows: int) -> None:
        """Make room for this many rows."""
        for name in ("samples", "late", "pending"):
            setattr(self, name, grown(getattr(self, name), rows))

    def clear(self, row: int) -> None:
        """Begin a stream."""
        self.samples[row] = self.late[row] = 0

    def in_order(self, rows: Longs, samples: Samples) -> bool:
        """Whether no sample is late or after a gap, and no stream has too many to take at once."""
        if samples.counts.max(initial=0) > CARRIED * self.stride:
            return False
        untimed = np.isnan(samples.times)
        if untimed.all():
            return True
        places = nearest_sample(np.where(untimed, 0.0, samples.times), self.period)
        starts = np.cumsum(samples.counts) - samples.counts
        expected = np.repeat(self.samples[rows] - starts, samples.counts) + np.arange(len(places))
        return bool(((places == expected) | untimed).all())

    def place(
        self, row: int, values: Values, times: Floats, longest: float, name: str
    ) -> tuple[int, list[int], list[Values]]:
        """Return the number of late samples, the missing places before each run, and the runs.

        A run has no gaps. ``longest`` is the longest gap in seconds; ``name`` that of the stream,
        for errors.
        """
        if not len(times) or np.isnan(times[0]):
            return 0, [0], [values]
        places = nearest_sample(times, self.period)
        before = int(self.samples[row]) - 1
        furthest = np.maximum.accumulate(np.concatenate([[before], places]))
        in_time = places > furthest[:-1]
        steps = np.diff(np.concatenate([[before], places[in_time]])) - 1
        if len(steps) and steps.max() * self.period > longest:
            jump = int(np.argmax(steps))
            raise InputError(
                f"stream {name!r}: the time {times[in_time][jump]:.15g} s is "
                f"{steps[jump] * self.period:g} s after the sample before it, more than "
                f"longest_gap ({longest:g} s); is the clock right? Finish this stream "
                "and start another, or allow longer gaps"
            )
        starts = np.flatnonzero(steps > 0)
        starts = starts if len(starts) and starts[0] == 0 else np.concatenate([[0], starts])
        runs = np.split(values[in_time], starts[1:])
        late = int(len(in_time) - in_time.sum())
        return late, [int(steps[first]) if len(steps) else 0 for first in starts], runs

    def pieces(self, gaps: list[int], runs: list[Values]) -> Iterator[Values]:
        """Samples with the missing ones, in pieces of at most `CARRIED` bins."""
        size = CARRIED * self.stride
        for gap, run in zip(gaps, runs, strict=True):
            for first in range(0, gap, size):
                yield np.full((min(size, gap - first), run.shape[1]), np.nan, np.float32)
            for first in range(0, len(run), size):
                yield run[first : first + size]

    def gather(self, rows: Longs, counts: Longs, values: Values) -> tuple[Longs, Values]:
        """Number of bins that samples in order complete in each row, and the samples of all."""
        bins = (self.samples[rows] % self.stride + counts) // self.stride
        complete = np.empty((int(bins.sum()) * self.stride, values.shape[1]), np.float32)
        _gather(rows, counts, values, self.samples, self.pending, complete)
        return bins, complete

    def partial_bin(self, row: int) -> Values:
        """The samples of the last, partial bin."""
        return self.pending[row, : self.samples[row] % self.stride]

    def save(self, row: int) -> dict[str, NDArray[Any]]:
        """The state of a row as named arrays."""
        samples = int(self.samples[row])
        numbers = np.array([samples, self.late[row], samples // self.stride], np.int64)
        return {"numbers": numbers, "pending": self.partial_bin(row).copy()}

    def restore(self, row: int, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Continue from a saved state."""
        samples, late, _ = arrays["numbers"]
        pending = arrays["pending"]
        if not 0 <= samples <= SAMPLES or late < 0 or len(pending) != samples % self.stride:
            raise ValueError(f"{samples} samples, of which {len(pending)} are pending")
        self.samples[row], self.late[row] = samples, late
        self.pending[row, : len(pending)] = pending


@compiled
def _gather(
    rows: Longs, counts: Longs, values: Values, samples: Longs, pending: Values, complete: Values
) -> None:
    """Fill in the samples of whole bins; the others are pending."""
    stride = pending.shape[1]
    first = place = 0
    for i in range(len(rows)):
        row, count = rows[i], counts[i]
        old = samples[row] % stride
        size = (old + count) // stride * stride
        taken = 0
        if size:
            taken = size - old
            complete[place : place + old] = pending[row, :old]
            complete[place + old : place + size] = values[first : first + taken]
            old = 0
        pending[row, old : old + count - taken] = values[first + taken : first + count]
        samples[row] += count
        first += count
        place += size


def sample_rows(values: ArrayLike, info: RecordingInfo) -> Values:
    """Values of one stream as rows of one sample each; of one channel or one sample, also flat."""
    channels = len(info.channels)
    try:
        array = np.asarray(values, dtype=np.float32)
    except (TypeError, ValueError) as error:
        raise InputError(f"stream {info.id!r}: numbers expected: {error}") from error
    if array.ndim < 2:
        is_single = array.ndim == 0 or (channels > 1 and array.shape[0] == channels)
        array = array.reshape(1, -1) if is_single else array.reshape(-1, 1)
    if array.ndim != 2 or (len(array) and array.shape[1] != channels):
        raise InputError(
            f"stream {info.id!r}: samples of {channels} channels ({', '.join(info.channels)}) "
            f"expected, got an array of shape {np.shape(values)}"
        )
    return array.reshape(-1, channels)


def sample_times(times: ArrayLike | None, samples: int, info: RecordingInfo) -> Floats:
    """Seconds of each sample of one stream; NaN without times."""
    if times is None:
        return np.full(samples, np.nan)
    seconds = np.asarray(times, dtype=np.float64).reshape(-1)
    if len(seconds) != samples:
        raise InputError(
            f"stream {info.id!r}: one time per sample expected, got {len(seconds)} times for "
            f"{samples} samples"
        )
    if not np.isfinite(seconds).all():
        place = int(np.flatnonzero(~np.isfinite(seconds))[0])
        raise InputError(
            f"stream {info.id!r}: a finite time in seconds expected, got {seconds[place]}"
        )
    return seconds
