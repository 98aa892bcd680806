"""Exact quantiles of every channel over any amount of data, in bounded memory.

Floats sort as integers once their sign is folded in. One pass counts the high halves of all
values, which gives the high half of every requested rank; a second pass counts the low halves of
the values that share it. The counts of three quantiles take 3 MiB per channel for any number of
samples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Floats, Longs
from bdl.compiled import compiled
from bdl.errors import InputError
from bdl.recording import Recordings


def quartiles(recordings: Recordings) -> Floats:
    """Compute lower quartile, median and upper quartile of each channel.

    See `quantiles`.

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> parts = [Recording.of(np.arange(5.0) + i, id=str(i), period=1.0) for i in (0, 4)]
    >>> quartiles(Recordings.of(parts)).tolist()
    [[2.25, 4.0, 5.75]]
    """
    return quantiles(recordings, (0.25, 0.5, 0.75))


def quantiles(recordings: Recordings, shares: Sequence[float]) -> Floats:
    """Compute quantiles of each channel.

    All samples of all recordings have the same weight; missing ones (NaN) are left out. Between two
    samples the quantile is interpolated linearly, as in numpy.

    ``shares`` are the shares of the samples below each quantile, from 0 (the minimum) to 1 (the
    maximum). The recordings have the same channels. The result is (channels, shares).

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> ramp = Recordings.of([Recording.of(np.arange(101.0), id="a", period=1.0)])
    >>> quantiles(ramp, (0.0, 0.99)).tolist()
    [[0.0, 99.0]]
    """
    names = _same_channels(recordings)
    counts = np.zeros((len(names), 1 << 16), dtype=np.int64)
    for part in _chunks(recordings):
        _count_high(part, counts)
    present = counts.sum(axis=1)
    if (present == 0).any():
        empty = ", ".join(name for name, n in zip(names, present, strict=True) if n == 0)
        raise InputError(
            f"quartiles need samples, but channel {empty} has only missing ones; leave it out by "
            "naming the others (--channel NAME, or channels under layout in bdl.yaml)"
        )
    # Ranks below and above each quantile. The float of each rank is found exactly by its high half
    # (first pass) and its low half (second pass).
    exact = np.array(shares) * (present[:, None] - 1)
    ranks = np.stack([np.floor(exact), np.ceil(exact)], axis=2).astype(np.int64)
    rank_count = 2 * len(shares)
    ranks = ranks.reshape(len(names), rank_count)
    sums = np.cumsum(counts, axis=1)
    high = np.stack([np.searchsorted(s, r, side="right") for s, r in zip(sums, ranks, strict=True)])
    before = np.take_along_axis(sums - counts, high, axis=1)
    slot = np.full((len(names), 1 << 16), -1, dtype=np.int8)
    for channel, buckets in enumerate(high):
        slot[channel, buckets] = np.arange(rank_count)
    low_counts = np.zeros((len(names), rank_count, 1 << 16), dtype=np.int64)
    for part in _chunks(recordings):
        _count_low(part, slot, low_counts)
    ranked = np.empty((len(names), rank_count))
    for channel, buckets in enumerate(high):
        for i, bucket in enumerate(buckets):
            inner = np.cumsum(low_counts[channel, slot[channel, bucket]])
            low = np.searchsorted(inner, ranks[channel, i] - before[channel, i], side="right")
            ranked[channel, i] = _from_key(int(bucket) << 16 | int(low))
    pairs = ranked.reshape(len(names), len(shares), 2)
    values: Floats = pairs[:, :, 0]
    values += (exact - np.floor(exact)) * (pairs[:, :, 1] - pairs[:, :, 0])
    return values


def _same_channels(recordings: Recordings) -> tuple[str, ...]:
    if not len(recordings):
        raise InputError("quartiles need at least one recording")
    names = recordings.infos[0].channels
    for info in recordings.infos:
        if info.channels != names:
            raise InputError(
                f"recording {info.id!r} has channels {', '.join(info.channels)}, and "
                f"{recordings.infos[0].id!r} has {', '.join(names)}; a scaling needs the same ones"
            )
    return names


def _chunks(recordings: Recordings) -> Iterator[NDArray[np.uint32]]:
    for id in recordings.ids:
        for chunk in recordings.chunks(id):
            yield np.ascontiguousarray(chunk, dtype=np.float32).view(np.uint32)


def _from_key(key: int) -> float:
    """Return the float32 whose rank among all floats is ``key``."""
    bits = key & 0x7FFFFFFF if key & 0x80000000 else ~key & 0xFFFFFFFF
    return float(np.array([bits], dtype=np.uint32).view(np.float32)[0])


@compiled
def _key(bits: np.uint32) -> np.uint32:
    # Unsigned integers in the order of the floats that they represent.
    return ~bits if bits & np.uint32(0x80000000) else bits | np.uint32(0x80000000)


@compiled
def _count_high(bits: NDArray[np.uint32], counts: Longs) -> None:
    for row in range(bits.shape[0]):
        for channel in range(bits.shape[1]):
            if bits[row, channel] & np.uint32(0x7FFFFFFF) <= np.uint32(0x7F800000):
                counts[channel, _key(bits[row, channel]) >> np.uint32(16)] += 1


@compiled
def _count_low(bits: NDArray[np.uint32], slot: NDArray[np.int8], counts: Longs) -> None:
    for row in range(bits.shape[0]):
        for channel in range(bits.shape[1]):
            if bits[row, channel] & np.uint32(0x7FFFFFFF) <= np.uint32(0x7F800000):
                key = _key(bits[row, channel])
                place = slot[channel, key >> np.uint32(16)]
                if place >= 0:
                    counts[channel, place, key & np.uint32(0xFFFF)] += 1
