"""A pyramid of minima and maxima: any stretch of a recording is drawn from a few thousand values.

Entry ``i`` of stored level ``k`` is the minimum and the maximum of the samples ``i * 16**k`` to
``(i + 1) * 16**k - 1`` of each channel; missing samples are left out, and an entry without any
sample is NaN. All levels together take 2/15 of the space of the samples.

What is read are *tiles* of `TILE` entries. Their levels are powers of 4: level 0 are the samples
themselves, an even level ``2 * k`` is stored level ``k``, and an odd one is made from the level
below. A drawing that chooses among them never reads more than four entries per pixel.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bdl.arrays import Singles
from bdl.compiled import compiled
from bdl.errors import InputError
from bdl.formats.atomic_files import atomic
from bdl.formats.files import reading

FACTOR = 16
STEP = 4
TILE = 2048
FEWEST = 1024  # entries; a level of fewer has no level above it

Progress = Callable[[int, int], None]


@dataclass(frozen=True, eq=False)
class Pyramid:
    """Tiles of one recording.

    Examples
    --------
    >>> values = np.arange(40_000, dtype=np.float32)[:, None]
    >>> pyramid = Pyramid(values, build([values], 40_000, 1))
    >>> pyramid.levels, pyramid.tile(2, 0, [0])[0, 1].tolist()
    (6, [16.0, 31.0])
    """

    values: Singles = field(repr=False)  # (samples, channels), NaN where a sample is missing
    entries: Singles = field(repr=False)  # (n, 2, channels): the stored levels, by `build`

    @property
    def levels(self) -> int:
        """Number of levels of tiles: powers of 4, level 0 included."""
        return 2 * len(level_sizes(len(self.values))) + 2

    def size(self, level: int) -> int:
        """Number of entries of a level of tiles."""
        return -(-len(self.values) // int(STEP**level))

    def tile(self, level: int, index: int, channels: Iterable[int]) -> Singles:
        """The entries of a level from ``index * TILE`` on; each stands for ``4**level`` samples.

        The tile has (channels, entries) samples for level 0, otherwise (channels, entries, 2)
        minima and maxima; the last tile may have fewer entries than `TILE`.
        """
        if not 0 <= level < self.levels or not 0 <= index * TILE < max(self.size(level), 1):
            raise InputError(f"no tile {index} of level {level}")
        columns = [*channels]
        first, last = index * TILE, min((index + 1) * TILE, self.size(level))
        if level == 0:
            return np.ascontiguousarray(self.values[first:last, columns].T)
        stored, odd = divmod(level, 2)
        if odd:
            first, last = first * STEP, last * STEP
        if stored == 0:
            low = high = self.values[first:last, columns]
        else:
            sizes = [0, *level_sizes(len(self.values))]
            begin, end = sum(sizes[:stored]), sum(sizes[: stored + 1])
            part = self.entries[begin:end][first:last][:, :, columns]
            low, high = part[:, 0], part[:, 1]
        if odd:
            reduced = extremes(low, high, STEP)
            low, high = reduced[:, 0], reduced[:, 1]
        return np.ascontiguousarray(np.stack([low.T, high.T], axis=2))

    def spread(self) -> list[tuple[float, float]]:
        """A range that holds nearly all values of each channel, to scale a drawing."""
        sizes = level_sizes(len(self.values))
        top = self.entries[-sizes[-1] :] if sizes else np.stack([self.values, self.values], 1)
        ranges = []
        for channel in range(self.values.shape[1]):
            present = top[:, :, channel][np.isfinite(top[:, 0, channel])]
            low, high = 0.0, 1.0
            if len(present):
                low = float(np.quantile(present[:, 0], 0.02))
                high = float(np.quantile(present[:, 1], 0.98))
            ranges.append((low, high) if high > low else (low - 0.5, high + 0.5))
        return ranges


def level_sizes(samples: int) -> list[int]:
    """Entries of each stored level, finest first.

    Examples
    --------
    >>> level_sizes(1_000_000)
    [62500, 3907, 245]
    """
    sizes: list[int] = []
    size = samples
    while size > FEWEST:
        size = -(-size // FACTOR)
        sizes.append(size)
    return sizes


def build(
    chunks: Iterable[Singles],
    samples: int,
    channels: int,
    *,
    into: Singles | None = None,
    progress: Progress | None = None,
) -> Singles:
    """Compute all stored levels, (n, 2, channels); chunks of the values are read once, in order.

    The array ``into``, such as a memory map, is filled; by default a new one. ``progress`` is
    called with the number of samples done and their total.
    """
    sizes = level_sizes(samples)
    entries = np.empty((sum(sizes), 2, channels), np.float32) if into is None else into
    if not sizes:
        return entries
    row = done = 0
    for block in _whole_blocks(chunks):
        reduced = extremes(block, block, FACTOR)
        entries[row : row + len(reduced)] = reduced
        row += len(reduced)
        done += len(block)
        if progress is not None:
            progress(done, samples)
    if done != samples:
        raise InputError(f"{samples} samples expected, got {done}: the recording has changed")
    begin = 0
    for size, above in pairwise(sizes):
        level = entries[begin : begin + size]
        begin += size
        entries[begin : begin + above] = extremes(level[:, 0], level[:, 1], FACTOR)
    return entries


def stored(
    file: Path,
    chunks: Callable[[], Iterable[Singles]],
    samples: int,
    channels: int,
    progress: Progress | None = None,
) -> Singles:
    """Stored levels in a file, which is written first if it is absent or damaged.

    The file is an NPY file followed by the CRC-32 of the values.
    """
    shape = (sum(level_sizes(samples)), 2, channels)
    if not shape[0] or not channels:
        return np.empty(shape, np.float32)
    entries = _read_entries(file, shape)
    if entries is not None:
        return entries
    with atomic(file) as temporary:
        into = np.lib.format.open_memmap(temporary, "w+", np.float32, shape)
        build(chunks(), samples, channels, into=into, progress=progress)
        into.flush()
        with temporary.open("ab") as end:
            end.write(_checksum(into))
    with reading(file, "an index of tiles"):
        return np.load(file, mmap_mode="r", allow_pickle=False)  # type: ignore[no-any-return]


def _read_entries(file: Path, shape: tuple[int, ...]) -> Singles | None:
    """The levels in a file; None if it is absent, of another shape, or damaged."""
    try:
        with reading(file, "an index of tiles"), file.open("rb") as whole:
            entries: np.memmap[Any, Any] = np.load(file, mmap_mode="r", allow_pickle=False)
            whole.seek(entries.offset + entries.nbytes)
            checksum = whole.read(5)  # a fifth byte would be damage
    except InputError:
        return None
    same = entries.shape == shape and entries.dtype == np.float32
    return entries if same and _checksum(entries) == checksum else None


def _checksum(entries: Singles) -> bytes:
    return zlib.crc32(entries.data).to_bytes(4, "little")


def _whole_blocks(chunks: Iterable[Singles]) -> Iterator[Singles]:
    """The same rows in chunks whose lengths are multiples of `FACTOR`, except the last."""
    remainder: Singles | None = None
    for chunk in chunks:
        rows = chunk if remainder is None else np.concatenate([remainder, chunk])
        cut = len(rows) - len(rows) % FACTOR
        remainder = rows[cut:] if cut < len(rows) else None
        if cut:
            yield rows[:cut]
    if remainder is not None:
        yield remainder


def extremes(low: Singles, high: Singles, factor: int) -> Singles:
    """Minimum of ``low`` and maximum of ``high``, both (rows, channels), over blocks of rows.

    The result is (blocks, 2, channels), NaN where a block has no value.

    Examples
    --------
    >>> values = np.array([[1.0], [np.nan], [3.0], [2.0], [np.nan]], np.float32)
    >>> extremes(values, values, 2).tolist()
    [[[1.0], [1.0]], [[2.0], [3.0]], [[nan], [nan]]]
    """
    out = np.empty((-(-len(low) // factor), 2, low.shape[1]), np.float32)
    _extremes(low, high, factor, out)
    return out


@compiled
def _extremes(low: Singles, high: Singles, factor: int, out: Singles) -> None:
    rows, channels = low.shape
    for block in range(len(out)):
        begin, end = block * factor, min((block + 1) * factor, rows)
        for channel in range(channels):
            least, most = np.float32(np.inf), np.float32(-np.inf)
            for row in range(begin, end):
                if low[row, channel] < least:
                    least = low[row, channel]
                if high[row, channel] > most:
                    most = high[row, channel]
            if least > most:
                least = most = np.float32(np.nan)
            out[block, 0, channel] = least
            out[block, 1, channel] = most
