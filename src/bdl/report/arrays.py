"""Arrays inside the page: small, exact where a number is counted, rounded where it is only drawn.

A packed array is ``{"kind", "data"}``: little-endian numbers, deflated, as base64 text. Curves
that are only looked at are quantised to 256 levels between ``low`` and ``high``; the browser thins
them to the pixels of the plot. What is too long for that is thinned here first, by least and
greatest value of each stretch, so that no peak is lost.
"""

from __future__ import annotations

import base64
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.errors import require

Packed = dict[str, Any]
KINDS = {"f8": "<f8", "f4": "<f4", "u4": "<u4", "u2": "<u2", "u1": "<u1"}


def deflate(data: bytes) -> str:
    """Deflated bytes as base64 text.

    >>> zlib.decompress(base64.b64decode(deflate(b"abc")))
    b'abc'
    """
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def pack(values: NDArray[Any], kind: str) -> Packed:
    """An array whose values arrive in the browser as they are.

    >>> pack(np.array([1, 2]), "u1")["kind"]
    'u1'
    """
    return {"kind": kind, "data": deflate(np.ascontiguousarray(values, KINDS[kind]).tobytes())}


def quantise(values: NDArray[Any]) -> Packed:
    """A curve to look at, in 256 levels; missing values are drawn at the lowest.

    >>> packed = quantise(np.array([0.0, 0.5, 1.0]))
    >>> list(zlib.decompress(base64.b64decode(packed["data"])))
    [0, 128, 255]
    """
    known = values[np.isfinite(values)]
    low, high = (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)
    span = high - low or 1.0
    levels = np.round((np.nan_to_num(values, nan=low) - low) / span * 255).astype(np.uint8)
    return {**pack(levels, "u1"), "low": low, "high": low + span}


def curve(
    name: str, times: NDArray[np.float64], values: NDArray[np.float32], points: int
) -> dict[str, Any]:
    """A named curve of at most ``points`` points, thinned by min and max where it is longer.

    >>> curve("x", np.arange(4.0), np.ones(4, np.float32), points=10)["name"]
    'x'
    """
    if len(values) > points:
        downsampler = require("tsdownsample", "report").MinMaxDownsampler()
        filled = np.ascontiguousarray(np.nan_to_num(values, nan=0.0))
        keep = downsampler.downsample(filled, n_out=max(4, points - points % 2))
        times, values = times[keep], values[keep]
    return {"name": name, "x": pack(times, "f4"), "y": quantise(values)}
