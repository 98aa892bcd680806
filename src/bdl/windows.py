"""Windows: crops for training, tiles for inference, and their stitching.

Windows are defined on the bins of the whole recording: a window is a run of whole bins that starts
at a bin's first sample, so that features are binned once and every crop of them is a slice. A
window of ``size`` bins from bin ``first`` covers the samples ``[first * stride, min((first + size)
* stride, samples))``; anything past the recording's last bin is padding, zero and masked.

Tiles cover a long recording by windows of one size that overlap. The last one is moved back to end
with the recording, so that all are full; a recording shorter than a tile has one padded tile.
`stitch` joins the outputs of the tiles: every bin is taken from the tile in which it is furthest
from an edge, that is, an overlap is cut in its middle (the odd bin goes to the later tile).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import Singles
from bdl.errors import ConfigError, InputError


def window_bins(window: float, *, period: float, stride: int) -> int:
    """Return the bins of a window: the nearest whole number, at least one.

    Parameters
    ----------
    window
        Length of the window in seconds.
    period
        Seconds from one sample to the next.
    stride
        Samples per bin.

    Examples
    --------
    >>> window_bins(7 * 86400.0, period=5.0, stride=10)
    12096
    """
    if not window > 0:
        raise ConfigError(f"a window is a positive number of seconds, got {window}")
    if not (period > 0 and stride >= 1):
        raise ConfigError(f"a positive period and stride expected, got {period} s and {stride}")
    width = stride * period
    if width > window * (1 + 1e-9):
        raise ConfigError(
            f"the stride of {stride} samples ({width:g} s) is longer than the window of "
            f"{window:g} s; choose a longer window (--window) or a "
            "smaller stride (--stride)"
        )
    return max(1, round(window / width))


def lag_bins(lag: float | None, *, period: float, stride: int) -> int:
    """Return the whole bins of a lag, rounded down: no density is later than the lag.

    Parameters
    ----------
    lag
        Seconds; None and 0 are no bins.
    period, stride
        As in `window_bins`.

    Examples
    --------
    >>> lag_bins(1800.0, period=5.0, stride=10), lag_bins(0.5, period=0.02, stride=10)
    (36, 2)
    >>> lag_bins(0.1, period=0.02, stride=10)
    Traceback (most recent call last):
    bdl.errors.ConfigError: the lag of 0.1 s is shorter than a bin of 0.2 s...
    """
    if not lag:
        return 0
    width = stride * period
    bins = math.floor(lag / width + 1e-9)
    if bins < 1:
        raise ConfigError(
            f"the lag of {lag:g} s is shorter than a bin of {width:g} s; give a lag of 0, a longer "
            "one, or a smaller stride"
        )
    return bins


def random_start(bins: int, size: int, rng: np.random.Generator) -> int:
    """Return the first bin of a random window, uniform over all windows that fit.

    One number is drawn for any length, so that the length of one recording does not change the
    windows of the next ones.

    Parameters
    ----------
    bins
        Bins of the recording.
    size
        Bins of the window; a recording that is not longer gives 0.
    rng
        Random generator.

    Examples
    --------
    >>> random_start(5, 10, np.random.default_rng(0))
    0
    >>> rng = np.random.default_rng(0)
    >>> sorted({random_start(12, 10, rng) for _ in range(50)})
    [0, 1, 2]
    """
    free = max(bins - size, 0)
    return min(int(rng.random() * (free + 1)), free)


def span(first: int, size: int, *, stride: int, samples: int) -> tuple[int, int]:
    """Return the first sample and the number of samples of a window, without its padding.

    Parameters
    ----------
    first, size
        First bin and number of bins of the window.
    stride
        Samples per bin.
    samples
        Length of the recording in samples.

    Examples
    --------
    >>> span(2, 3, stride=10, samples=44)
    (20, 24)
    """
    begin = min(first * stride, samples)
    return begin, min((first + size) * stride, samples) - begin


@dataclass(frozen=True)
class Tile:
    """Bins ``[first, stop)`` go into a model; bins ``[keep, until)`` of its output are used.

    Examples
    --------
    >>> tiles(7, size=10, overlap=4)
    [Tile(first=0, stop=7, keep=0, until=7)]
    """

    first: int
    stop: int
    keep: int
    until: int


def tiles(bins: int, *, size: int, overlap: int, shift: int = 0) -> list[Tile]:
    """Return overlapping tiles that cover a recording.

    Parameters
    ----------
    bins
        Bins of the recording.
    size
        Bins per tile.
    overlap
        Bins that neighbours share; only the last two tiles may share more. An overlap above half
        the size is an error, because a bin would be in three tiles.
    shift
        Bins by which all tiles but the first and the last are moved, below ``size - overlap``: the
        borders are elsewhere, and the first two tiles share more.

    Examples
    --------
    >>> [(t.first, t.stop, t.keep, t.until) for t in tiles(20, size=10, overlap=4)]
    [(0, 10, 0, 8), (6, 16, 8, 13), (10, 20, 13, 20)]
    >>> [(t.first, t.stop, t.keep, t.until) for t in tiles(20, size=10, overlap=4, shift=3)]
    [(0, 10, 0, 6), (3, 13, 6, 11), (9, 19, 11, 14), (10, 20, 14, 20)]
    >>> [(t.first, t.stop) for t in tiles(7, size=10, overlap=4)]
    [(0, 7)]
    """
    if bins < 1:
        raise InputError(f"tiles need a recording of at least one bin, got {bins}")
    if size < 1 or overlap < 0 or 2 * overlap > size:
        raise ConfigError(
            f"tiles of at least one bin with an overlap of at most half of it expected, got size "
            f"{size} and overlap {overlap}"
        )
    if not 0 <= shift < size - overlap:
        raise ConfigError(f"a shift of 0 to {size - overlap - 1} bins expected, got {shift}")
    if bins <= size:
        return [Tile(0, bins, 0, bins)]
    starts = sorted({0, *range(shift, bins - size, size - overlap), bins - size})
    cuts = [0, *((left + size + right) // 2 for left, right in pairwise(starts)), bins]
    return [
        Tile(first, first + size, keep, until)
        for first, (keep, until) in zip(starts, pairwise(cuts), strict=True)
    ]


def tile_shifts(bins: int, *, size: int, tilings: int) -> list[int]:
    """Return by how many bins each of several tilings of a recording is shifted.

    Parameters
    ----------
    bins
        Bins of the recording; one that fits into a tile has one tiling.
    size
        Bins per tile; tiles overlap by half.
    tilings
        Number of tilings.

    Examples
    --------
    >>> tile_shifts(90, size=20, tilings=3)
    [0, 3, 6]
    >>> tile_shifts(20, size=20, tilings=3)
    [0]
    """
    if tilings < 1:
        raise ConfigError(f"tilings: at least 1 expected, got {tilings}")
    if bins <= size:
        return [0]
    distance = size - size // 2
    return sorted({k * distance // tilings for k in range(tilings)})


def stitch(parts: Iterable[tuple[Tile, NDArray[Any]]], *, bins: int, outputs: int) -> Singles:
    """Join the outputs of tiles to one array.

    Tiles may come in any order and one at a time; only the result is held in memory.

    Parameters
    ----------
    parts
        Each tile with its values, (at least its bins, outputs). Rows past a tile's own bins
        (padding of a fixed-length model) are ignored.
    bins
        Bins of the recording.
    outputs
        Columns of the values.

    Returns
    -------
    ndarray
        (bins, outputs) float32.

    Examples
    --------
    >>> cover = tiles(6, size=4, overlap=2)
    >>> parts = [(t, np.full((4, 1), float(i))) for i, t in enumerate(cover)]
    >>> stitch(parts, bins=6, outputs=1)[:, 0].tolist()
    [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    """
    joined = np.zeros((bins, outputs), dtype=np.float32)
    covered = np.zeros(bins, dtype=np.bool_)
    for tile, values in parts:
        length = tile.stop - tile.first
        if values.ndim != 2 or len(values) < length or values.shape[1] != outputs:
            raise InputError(
                f"a tile of {length} bins needs values of shape ({length}, {outputs}), "
                f"got {values.shape}"
            )
        used = slice(tile.keep - tile.first, tile.until - tile.first)
        joined[tile.keep : tile.until] = values[used]
        covered[tile.keep : tile.until] = True
    if not covered.all():
        raise InputError(f"no tile covers bin {int(np.flatnonzero(~covered)[0])}")
    return joined
