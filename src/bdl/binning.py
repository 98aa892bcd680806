"""Features of a recording: summary statistics of each bin, calendar categories, and scaling.

Bin ``b`` covers samples ``[b * stride, min((b + 1) * stride, samples))``; the last bin may be
partial. Statistics are per channel, in the given order: column ``c * len(statistics) + s`` is
statistic ``s`` of channel ``c``. They are accumulated in double precision over the samples that are
present (NaN is missing); the standard deviation is that of the population. A channel without any
sample in a bin is zero there, also after scaling; a bin without any sample in any channel is marked
as missing. Hour and weekday are local ones at the bin's first sample.

Scaling (`bdl.scaling`) gives the same result as scaling the samples first: ``(x - shift) / scale``
for mean, maximum and minimum, ``x / scale`` for the standard deviation, where ``x`` is a sample or,
for some channels of some scalings, its logarithm.

With ``quality``, samples of flat, clipped, repeated or non-wear stretches (`bdl.quality`) count as
missing, for scaling too.

With ``missing``, a last column has the share of the samples of a bin that are missing, over all
channels: 1 if the bin has no sample.

The work holds no Python lock and no shared state, so that recordings may be binned by threads or
processes; a memory map is read once, in order, one chunk at a time.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bdl.arrays import Flags, Floats, Longs, Singles
from bdl.compiled import compiled
from bdl.errors import InputError
from bdl.features import STATISTICS, Features
from bdl.recording import Recording, Values
from bdl.sampling import bin_count
from bdl.scaling.logarithm import take_logarithms

# Samples of all channels read at a time: a few MiB, so that a memory map is never read into memory
# as a whole.
CHUNK = 1 << 21


@dataclass(frozen=True, eq=False)
class Binned:
    """Features of one recording.

    Parameters
    ----------
    values
        (bins, columns) float32, finite.
    hour, weekday
        (bins,) local hour 0 to 23 and weekday (Monday 0), or None without a calendar.
    missing
        (bins,) True where no channel has a sample.

    Examples
    --------
    >>> recording = Recording.of(np.ones(21), id="a", period=1.0)
    >>> len(bin_features(recording, Features(stride=10, scaling="none")))
    3
    """

    values: Singles
    hour: Longs | None
    weekday: Longs | None
    missing: Flags

    def __len__(self) -> int:
        return len(self.values)

    def __getitem__(self, bins: slice) -> Binned:
        hour = None if self.hour is None else self.hour[bins]
        weekday = None if self.weekday is None else self.weekday[bins]
        return Binned(self.values[bins], hour, weekday, self.missing[bins])


def bin_features(recording: Recording, features: Features, *, blank: int = 0) -> Binned:
    """Compute the features of every bin of a recording.

    Parameters
    ----------
    recording
        The recording; a memory map is read once, in order, and once before if stretches of bad
        data are to be found.
    features
        What to compute, with a learned scaling.
    blank
        Bins without any sample to add after the last one. A model with a lag returns the density of
        the last bins of a recording only after as many further bins.

    Examples
    --------
    >>> recording = Recording.of(np.array([1.0, 3.0, np.nan, np.nan, 5.0]), id="a", period=1.0)
    >>> binned = bin_features(recording, Features(stride=2, scaling="none"))
    >>> binned.values.tolist()
    [[2.0, 3.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0], [5.0, 5.0, 5.0, 0.0]]
    >>> binned.missing.tolist()
    [False, True, False]
    """
    info = recording.info
    channels, stride = len(info.channels), features.bin_samples
    bins = bin_count(info.samples, stride)
    bad_data = None if features.quality is None else features.quality.of(recording)
    if bad_data is not None and features.scaling.needs_whole:
        recording, bad_data = Recording(info, bad_data.mask(recording.values)), None
    try:
        shift, scale = features.scaling.affine(recording)
        unit = features.scaling.units(channels)
    except InputError as error:
        raise InputError(f"recording {info.id!r}: {error}") from error
    places = {name: place for place, name in enumerate(features.statistics)}
    columns = np.array([places.get(name, -1) for name in STATISTICS])
    values = np.zeros((bins + blank, features.width(channels)), dtype=np.float32)
    by_channel = values[:, : channels * len(features.statistics)]
    absent = np.ones(bins + blank, dtype=np.float32)
    step = max(1, CHUNK // (stride * max(channels, 1)))
    for begin in range(0, bins, step):
        rows = slice(begin, min(begin + step, bins))
        part = np.ascontiguousarray(recording.values[begin * stride : rows.stop * stride])
        if bad_data is not None:
            part = bad_data.mask(part, begin * stride)
        if unit.any():
            part = np.array(part, dtype=np.float32)
            take_logarithms(part, unit)
        bad = _bin(part, stride, columns, shift, scale, by_channel[rows], absent[rows])
        if bad >= 0:
            raise InputError(
                f"recording {info.id!r}: infinite or too large values in bin "
                f"{begin + bad}; a missing sample is NaN"
            )
    hour = weekday = None
    if features.calendar:
        hour, weekday = info.local_time(np.arange(bins + blank, dtype=np.int64) * stride)
    if features.missing:
        values[:, -1] = absent
    return Binned(values, hour, weekday, absent == 1)


@compiled
def _bin(
    values: Values,
    stride: int,
    columns: Longs,
    shift: Floats,
    scale: Floats,
    out: Singles,
    absent: Singles,
) -> int:
    """Fill in statistics and the share of missing samples of each bin.

    Returns the first bin that is not finite, or -1.
    """
    samples, channels = values.shape
    width = out.shape[1] // max(channels, 1)
    origin = np.empty(channels, np.float32)
    low = np.empty(channels, np.float32)
    high = np.empty(channels, np.float32)
    total = np.empty(channels)
    squares = np.empty(channels)
    count = np.empty(channels, np.int64)
    bad = -1
    for b in range(len(absent)):
        begin, end = b * stride, min((b + 1) * stride, samples)
        # Deviations from a channel's first present sample: one pass, no cancellation.
        for c in range(channels):
            row = begin
            while row < end - 1 and values[row, c] != values[row, c]:
                row += 1
            origin[c] = low[c] = high[c] = values[row, c]
            total[c] = squares[c] = 0.0
            count[c] = 0
        # Without branches, so that the vector unit processes channels side by side.
        for row in range(begin, end):
            for c in range(channels):
                x = values[row, c]
                present = x == x
                x = x if present else origin[c]
                deviation = np.float64(x) - np.float64(origin[c])
                total[c] += deviation
                squares[c] += deviation * deviation
                count[c] += 1 if present else 0
                low[c] = x if x < low[c] else low[c]
                high[c] = x if x > high[c] else high[c]
        total_count = 0
        for c in range(channels):
            if count[c] == 0:
                continue
            total_count += count[c]
            mean = total[c] / count[c]
            at, by, first = shift[c], scale[c], c * width
            if not (np.isfinite(low[c]) and np.isfinite(high[c])) and bad < 0:
                bad = b
            if columns[0] >= 0:
                out[b, first + columns[0]] = (origin[c] + mean - at) / by
            if columns[1] >= 0:
                out[b, first + columns[1]] = (high[c] - at) / by
            if columns[2] >= 0:
                out[b, first + columns[2]] = (low[c] - at) / by
            if columns[3] >= 0:
                variance = max(squares[c] / count[c] - mean * mean, 0.0)
                out[b, first + columns[3]] = np.sqrt(variance) / by
        absent[b] = 1.0 - total_count / max((end - begin) * channels, 1)
    return bad
