"""Features: summary statistics of each output bin, calendar categories, and scaling.

Bin ``b`` covers samples ``[b * stride, min((b + 1) * stride, samples))``; the last, partial bin is
kept. Statistics are per channel, in the order asked for: column ``c * len(statistics) + s`` is
statistic ``s`` of channel ``c``. They are accumulated in double precision over the samples that
are there (NaN is missing); the standard deviation is the population one. A channel without any
sample in a bin is zero there, after scaling too; a bin without any sample in any channel is
flagged as missing. Hour and weekday are local ones at the bin's first sample.

Scaling is affine per channel and equal to scaling the samples first: ``(x - shift) / scale`` for
mean, maximum and minimum, ``x / scale`` for the standard deviation.

The work holds no Python lock and no shared state, so that recordings may be binned by threads or
processes; a memory map is read once, in order, a chunk at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat, PositiveInt

from bdl.compiled import compiled
from bdl.config import Value
from bdl.errors import ConfigError, InputError
from bdl.quartiles import quartiles
from bdl.recording import Recording, Recordings, Values
from bdl.sampling import bin_count

Statistic = Literal["mean", "max", "min", "std"]
STATISTICS: tuple[Statistic, ...] = ("mean", "max", "min", "std")

# Samples of all channels read at a time: a few MiB, so that a memory map never lies in memory
# as a whole.
CHUNK = 1 << 21


class NoScaling(Value):
    """Values as they come.

    >>> NoScaling()
    NoScaling(kind='none')
    """

    kind: Literal["none"] = "none"


class Divisor(Value):
    """All channels divided by one number, such as 100 for EEG in microvolts.

    >>> Divisor(by=0.0)
    Traceback (most recent call last):
    bdl.errors.ConfigError: Divisor: by: Input should be greater than 0, got 0.0
    """

    kind: Literal["divisor"] = "divisor"
    by: PositiveFloat


class Robust(Value):
    """Median subtracted, divided by the interquartile range; learned by `fit_scaling`.

    Parameters
    ----------
    median, spread : one number a channel, or None before they are learned. A channel whose
        interquartile range is zero has a spread of one.

    >>> Robust(median=(1.0, 2.0), spread=(1.0, 1.0)).median
    (1.0, 2.0)
    """

    kind: Literal["robust"] = "robust"
    median: tuple[float, ...] | None = None
    spread: tuple[PositiveFloat, ...] | None = None


Scaling = Annotated[NoScaling | Divisor | Robust, Field(discriminator="kind")]


class Features(Value):
    """What a model sees of each bin.

    Parameters
    ----------
    stride : samples a bin.
    statistics : which of mean, max, min and std, in the order of the columns.
    calendar : whether local hour and weekday are given as categories.
    scaling : `NoScaling`, `Divisor` or `Robust`.

    >>> Features(stride=10, statistics=("mean", "std")).names(["enmo"])
    ('enmo:mean', 'enmo:std')
    """

    stride: PositiveInt
    statistics: Annotated[tuple[Statistic, ...], Field(min_length=1)] = STATISTICS
    calendar: bool = False
    scaling: Scaling = NoScaling()

    def names(self, channels: list[str] | tuple[str, ...]) -> tuple[str, ...]:
        """Name of each column."""
        return tuple(f"{channel}:{name}" for channel in channels for name in self.statistics)

    def width(self, channels: int) -> int:
        """Number of columns."""
        return channels * len(self.statistics)


@dataclass(frozen=True, eq=False)
class Binned:
    """Features of one recording.

    Parameters
    ----------
    values : (bins, columns) float32, finite.
    hour, weekday : (bins,) local hour 0 to 23 and weekday (Monday 0), or None without a calendar.
    missing : (bins,) True where no channel has a sample.

    >>> len(bin_features(Recording.of(np.ones(21), id="a", period=1.0), Features(stride=10)))
    3
    """

    values: NDArray[np.float32]
    hour: NDArray[np.int64] | None
    weekday: NDArray[np.int64] | None
    missing: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.values)


def bin_features(recording: Recording, features: Features) -> Binned:
    """Features of every bin of a recording.

    >>> recording = Recording.of(np.array([1.0, 3.0, np.nan, np.nan, 5.0]), id="a", period=1.0)
    >>> binned = bin_features(recording, Features(stride=2))
    >>> binned.values.tolist()
    [[2.0, 3.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0], [5.0, 5.0, 5.0, 0.0]]
    >>> binned.missing.tolist()
    [False, True, False]
    """
    info = recording.info
    channels = len(info.channels)
    bins = bin_count(info.samples, features.stride)
    shift, scale = _affine(features.scaling, channels, info.id)
    column: dict[str, int] = dict.fromkeys(STATISTICS, -1)
    for place, name in enumerate(features.statistics):
        if column[name] >= 0:
            raise ConfigError(f"statistics repeat: {', '.join(features.statistics)}")
        column[name] = place
    order = np.array([column[name] for name in STATISTICS])
    out = np.zeros((bins, features.width(channels)), dtype=np.float32)
    missing = np.zeros(bins, dtype=np.bool_)
    step = max(1, CHUNK // (features.stride * max(channels, 1)))
    for first in range(0, bins, step):
        rows = slice(first, min(first + step, bins))
        part = recording.values[first * features.stride : rows.stop * features.stride]
        bad = _bin(
            _contiguous(part), features.stride, order, shift, scale, out[rows], missing[rows]
        )
        if bad >= 0:
            raise InputError(
                f"recording {info.id!r}: infinite or too large values in bin {first + bad}; "
                "a missing sample is NaN"
            )
    hour = weekday = None
    if features.calendar:
        hour, weekday = info.local_time(np.arange(bins, dtype=np.int64) * features.stride)
    return Binned(out, hour, weekday, missing)


def fit_scaling(recordings: Recordings, features: Features) -> Features:
    """The features with their scaling learned from the given (training) recordings.

    Only `Robust` learns anything. Quartiles are exact, by linear interpolation between the two
    neighbouring samples, over all samples of all recordings, and take two passes in memory that
    does not grow with the data. Give it the training part and nothing else.

    >>> parts = [Recording.of(np.arange(5.0) + i, id=str(i), period=1.0) for i in (0, 4)]
    >>> fit_scaling(Recordings.of(parts), Features(stride=2, scaling=Robust())).scaling
    Robust(kind='robust', median=(4.0,), spread=(3.5,))
    """
    if not isinstance(features.scaling, Robust):
        return features
    values = quartiles(recordings)
    spread = values[:, 2] - values[:, 0]
    spread = np.where(spread > 0, spread, 1.0)
    learned = Robust(median=tuple(values[:, 1].tolist()), spread=tuple(spread.tolist()))
    return features.replace(scaling=learned)


def _affine(
    scaling: Scaling, channels: int, recording: str
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Shift and scale of each channel."""
    shift, scale = np.zeros(channels), np.ones(channels)
    if isinstance(scaling, Divisor):
        scale[:] = scaling.by
    elif isinstance(scaling, Robust):
        if scaling.median is None or scaling.spread is None:
            raise ConfigError("robust scaling is not learned yet: call fit_scaling first")
        if not len(scaling.median) == len(scaling.spread) == channels:
            raise InputError(
                f"recording {recording!r} has {channels} channels, and the scaling was learned on "
                f"{len(scaling.median)}"
            )
        shift[:], scale[:] = scaling.median, scaling.spread
    return shift, scale


def _contiguous(part: Values) -> Values:
    return np.ascontiguousarray(np.asarray(part))


@compiled
def _bin(
    values: Values,
    stride: int,
    order: NDArray[np.int64],
    shift: NDArray[np.float64],
    scale: NDArray[np.float64],
    out: NDArray[np.float32],
    missing: NDArray[np.bool_],
) -> int:
    """Statistics of each bin; returns the first bin that is not finite, or -1."""
    samples, channels = values.shape
    width = out.shape[1] // max(channels, 1)
    origin = np.empty(channels, np.float32)
    low = np.empty(channels, np.float32)
    high = np.empty(channels, np.float32)
    total = np.empty(channels)
    squares = np.empty(channels)
    count = np.empty(channels, np.int64)
    bad = -1
    for b in range(len(missing)):
        begin, end = b * stride, min((b + 1) * stride, samples)
        # Deviations are from a channel's first sample that is there: one pass, no cancellation.
        for c in range(channels):
            row = begin
            while row < end - 1 and values[row, c] != values[row, c]:
                row += 1
            origin[c] = low[c] = high[c] = values[row, c]
            total[c] = squares[c] = 0.0
            count[c] = 0
        # Without branches, so that channels go through the vector unit side by side.
        for row in range(begin, end):
            for c in range(channels):
                x = values[row, c]
                there = x == x
                x = x if there else origin[c]
                deviation = np.float64(x) - np.float64(origin[c])
                total[c] += deviation
                squares[c] += deviation * deviation
                count[c] += 1 if there else 0
                low[c] = x if x < low[c] else low[c]
                high[c] = x if x > high[c] else high[c]
        seen = False
        for c in range(channels):
            if count[c] == 0:
                continue
            seen = True
            mean = total[c] / count[c]
            at, by, first = shift[c], scale[c], c * width
            if not (np.isfinite(low[c]) and np.isfinite(high[c])) and bad < 0:
                bad = b
            if order[0] >= 0:
                out[b, first + order[0]] = (origin[c] + mean - at) / by
            if order[1] >= 0:
                out[b, first + order[1]] = (high[c] - at) / by
            if order[2] >= 0:
                out[b, first + order[2]] = (low[c] - at) / by
            if order[3] >= 0:
                variance = max(squares[c] / count[c] - mean * mean, 0.0)
                out[b, first + order[3]] = np.sqrt(variance) / by
        missing[b] = not seen
    return bad
