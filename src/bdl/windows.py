"""Windows: crops for training, tiles for inference, and their stitching.

Windows live on the bins of the whole recording: a window is a run of whole bins that starts at a
bin's first sample, so that features are binned once and every crop of them is a slice. A window
of ``size`` bins from bin ``first`` covers the samples ``[first * stride, min((first + size) *
stride, samples))``; what lies past the recording's last bin is padding, zero and masked.

Tiles cover a long recording by windows of one size that overlap. The last one is moved back to
end with the recording, so that all are full; a recording shorter than a tile has one padded tile.
`stitch` joins what a model says of each tile:

- ``discard``: every bin is taken from the one tile in which it lies deepest, that is, an overlap
  is cut in its middle (the odd bin goes to the later tile).
- ``blend``: over an overlap the earlier tile fades out and the later one in, linearly; weights of
  a bin sum to one.

Both leave a bin that only one tile covers exactly as that tile has it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from bdl.errors import ConfigError, InputError

Joining = Literal["discard", "blend"]
Scalar = TypeVar("Scalar", bound=np.generic)


def window_bins(window: float, *, period: float, stride: int) -> int:
    """Bins of a window of ``window`` seconds: the nearest whole number, at least one.

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
            f"{window:g} s; choose a longer window or a smaller stride"
        )
    return max(1, round(window / width))


def random_start(bins: int, size: int, rng: np.random.Generator) -> int:
    """First bin of a random window, uniform over all that fit; 0 where the recording is shorter.

    One number is drawn whatever the lengths, so that one recording's length does not change the
    windows of those after it.

    >>> random_start(5, 10, np.random.default_rng(0))
    0
    >>> rng = np.random.default_rng(0)
    >>> sorted({random_start(12, 10, rng) for _ in range(50)})
    [0, 1, 2]
    """
    free = max(bins - size, 0)
    return min(int(rng.random() * (free + 1)), free)


def span(first: int, size: int, *, stride: int, samples: int) -> tuple[int, int]:
    """First sample and number of samples of a window, without its padding.

    >>> span(2, 3, stride=10, samples=44)
    (20, 24)
    """
    begin = min(first * stride, samples)
    return begin, min((first + size) * stride, samples) - begin


def crop(values: NDArray[Scalar], first: int, size: int) -> NDArray[Scalar]:
    """Bins ``[first, first + size)`` of an array (bins, ...), zeros past its end.

    A view where nothing is padded.

    >>> crop(np.arange(5), 3, 4).tolist()
    [3, 4, 0, 0]
    """
    part = values[first : first + size]
    if len(part) == size:
        return part
    out = np.zeros((size, *values.shape[1:]), dtype=values.dtype)
    out[: len(part)] = part
    return out


def crop_mask(bins: int, first: int, size: int) -> NDArray[np.bool_]:
    """True on the bins of a window that are the recording's, False on padding.

    >>> crop_mask(5, 3, 4).tolist()
    [True, True, False, False]
    """
    return np.arange(first, first + size) < bins


@dataclass(frozen=True)
class Tile:
    """Bins ``[first, stop)`` that a model is shown, and ``[keep, until)`` that are taken of them.

    ``fade_in`` and ``fade_out`` are the lengths of its overlaps with the tiles before and after.

    >>> tiles(7, size=10, overlap=4)
    [Tile(first=0, stop=7, keep=0, until=7, fade_in=0, fade_out=0)]
    """

    first: int
    stop: int
    keep: int
    until: int
    fade_in: int = 0
    fade_out: int = 0


def tiles(bins: int, *, size: int, overlap: int) -> list[Tile]:
    """Overlapping tiles of ``size`` bins that cover a recording; neighbours share ``overlap`` bins.

    Only the last pair may share more. An overlap above half the size is refused: a bin would lie
    in three tiles.

    >>> [(t.first, t.stop, t.keep, t.until) for t in tiles(20, size=10, overlap=4)]
    [(0, 10, 0, 8), (6, 16, 8, 13), (10, 20, 13, 20)]
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
    if bins <= size:
        return [Tile(0, bins, 0, bins)]
    starts = [*range(0, bins - size, size - overlap), bins - size]
    cuts = [0, *((a + size + b) // 2 for a, b in pairwise(starts)), bins]
    shared = [0, *(a + size - b for a, b in pairwise(starts)), 0]
    return [
        Tile(first, first + size, cuts[i], cuts[i + 1], shared[i], shared[i + 1])
        for i, first in enumerate(starts)
    ]


def stitch(
    parts: Iterable[tuple[Tile, NDArray[Any]]],
    *,
    bins: int,
    outputs: int,
    joining: Joining = "discard",
) -> NDArray[np.float32]:
    """One array (bins, outputs) from what was said of each tile, (at least its bins, outputs).

    Rows past a tile's own bins (padding of a fixed-length model) are ignored. Tiles may come in
    any order and one at a time: only the result is held.

    >>> cover = tiles(6, size=4, overlap=2)
    >>> parts = [(t, np.full((4, 1), float(i))) for i, t in enumerate(cover)]
    >>> stitch(parts, bins=6, outputs=1)[:, 0].tolist()
    [0.0, 0.0, 0.0, 1.0, 1.0, 1.0]
    >>> stitch(parts, bins=6, outputs=1, joining="blend")[:, 0]
    array([0.        , 0.        , 0.33333334, 0.6666667 , 1.        , 1.        ], dtype=float32)
    """
    out = np.zeros((bins, outputs), dtype=np.float32)
    weight = np.zeros(bins)
    total = np.zeros((bins, outputs)) if joining == "blend" else None
    for tile, values in parts:
        length = tile.stop - tile.first
        if values.ndim != 2 or len(values) < length or values.shape[1] != outputs:
            raise InputError(
                f"a tile of {length} bins needs values of shape ({length}, {outputs}), "
                f"got {values.shape}"
            )
        if total is None:
            chosen = slice(tile.keep - tile.first, tile.until - tile.first)
            out[tile.keep : tile.until] = values[chosen]
            weight[tile.keep : tile.until] += 1
        else:
            share = fade(tile)
            total[tile.first : tile.stop] += share[:, None] * values[:length]
            weight[tile.first : tile.stop] += share
    if not (weight > 0).all():
        raise InputError(f"no tile covers bin {int(np.flatnonzero(weight <= 0)[0])}")
    return out if total is None else (total / weight[:, None]).astype(np.float32)


def fade(tile: Tile) -> NDArray[np.float64]:
    """Blending weight of each bin of a tile, before they are made to sum to one.

    >>> fade(Tile(0, 5, 0, 4, fade_in=0, fade_out=3)).tolist()
    [1.0, 1.0, 0.75, 0.5, 0.25]
    """
    place = np.arange(1, tile.stop - tile.first + 1)
    rising = np.minimum(place / (tile.fade_in + 1), 1.0)
    falling = np.minimum(place[::-1] / (tile.fade_out + 1), 1.0)
    return np.minimum(rising, falling)
