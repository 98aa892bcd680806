"""Arrays inside the page: exact where numbers are counted, rounded where they are only drawn.

A packed array is ``{"kind", "data"}``: little-endian numbers, deflated, as base64 text. Curves
that are only drawn are quantised to 255 levels between ``low`` and ``high`` (level 255 means
missing) and carry no times: their points are evenly spaced. A curve that is too long for the page
is reduced to the minimum and maximum of each segment, so that no peak is lost; the browser reduces
it again, to the pixels of the plot.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bdl.errors import require

Packed = dict[str, Any]
KINDS = {"f8": "<f8", "u4": "<u4", "u1": "<u1"}
MISSING = 255
FEWEST = 500  # points that a curve keeps, however little space there is


def deflate(data: bytes) -> str:
    """Deflated bytes as base64 text."""
    return base64.b64encode(zlib.compress(data, 9)).decode("ascii")


def pack(values: NDArray[Any], kind: str) -> Packed:
    """Pack an array so that the browser reads exactly its values."""
    return {"kind": kind, "data": deflate(np.ascontiguousarray(values, KINDS[kind]).tobytes())}


def quantise(values: NDArray[Any]) -> Packed:
    """Pack a curve that is only drawn, in 255 levels; a value that is not finite becomes a gap."""
    finite = np.isfinite(values)
    drawn = values[finite].astype(np.float64)
    low, high = (float(drawn.min()), float(drawn.max())) if len(drawn) else (0.0, 0.0)
    span = high - low or 1.0
    levels = np.full(len(values), MISSING, np.uint8)
    levels[finite] = np.round((drawn - low) / span * (MISSING - 1))
    return {**pack(levels, "u1"), "low": low, "high": low + span}


@dataclass(frozen=True, eq=False)
class DrawnCurve:
    """Evenly spaced values to draw.

    Examples
    --------
    >>> DrawnCurve("x", 0.0, 1.0, np.arange(100, dtype=np.float32)).thinned(10).values.tolist()
    [0.0, 19.0, 20.0, 39.0, 40.0, 59.0, 60.0, 79.0, 80.0, 99.0]
    """

    name: str  # channel or event type
    first: float  # time of the first point in seconds
    step: float  # seconds between points
    values: NDArray[np.float32]  # one value per point

    def thinned(self, points: int) -> DrawnCurve:
        """Reduce to at most ``points`` points: minimum and maximum of each segment, in order."""
        count = len(self.values)
        if count <= points:
            return self
        even = max(4, points - points % 2)
        downsampler = require("tsdownsample", "report").MinMaxDownsampler()
        indices = downsampler.downsample(np.ascontiguousarray(self.values), n_out=even)
        # Two points per segment, drawn at a quarter of its length from its ends.
        step = self.step * count / even
        first = self.first + (step - self.step) / 2
        return replace(self, first=first, step=step, values=self.values[indices])

    def packed(self) -> dict[str, Any]:
        """The curve as the page's script reads it."""
        return {
            "name": self.name,
            "first": self.first,
            "step": self.step,
            "y": quantise(self.values),
        }


def fit_curves(curves: Sequence[DrawnCurve], room: int) -> list[dict[str, Any]]:
    """Pack curves into about ``room`` characters, reduced as little as necessary."""
    points = max((len(curve.values) for curve in curves), default=0)
    # Curves rarely deflate to less than an eighth, so more points than this are not tried.
    points = min(points, max(FEWEST, 8 * room // max(len(curves), 1)))
    while True:
        packed = [curve.thinned(points).packed() for curve in curves]
        size = sum(len(curve["y"]["data"]) for curve in packed)
        if size <= room or points <= FEWEST:
            return packed
        points = max(FEWEST, int(0.95 * points * room / size))
