"""Long columns of ISO 8601 times of one width that mostly differ in minutes and seconds.

The first row of each hour is parsed, and minutes and seconds of the others are added: half the time
that Arrow takes for all rows.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from bdl.arrow import from_numpy
from bdl.compiled import compiled
from bdl.errors import InputError

Longs = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Parsed = tuple[Longs, Longs | None]
LONG = 4096  # rows from which compiled code, which takes time to load, pays


def parse_runs(texts: pa.Array, parse: Callable[[pa.Array], Parsed]) -> Parsed | None:
    """Times and offsets, by ``parse`` for the first rows of hours; None if texts are not such."""
    _, ends, data = texts.buffers()
    ends = np.frombuffer(ends, np.int32)[texts.offset :][: len(texts) + 1]
    width = ends[1] - ends[0] if len(texts) >= LONG else 0
    if width < 19 or (np.diff(ends) != width).any():
        return None
    compared = np.full(width, 255, np.uint8)
    compared[[14, 15, 17, 18]] = 0  # minutes and seconds
    times, changes = np.empty(len(texts), np.int64), np.empty(len(texts), np.uint8)
    valid = _since_the_hour(np.frombuffer(data, np.uint8)[ends[0] :], compared, times, changes)
    changes[0] = 1
    first = np.flatnonzero(changes)
    if not valid or len(first) > len(texts) // 8:
        return None
    try:
        starts, offsets = parse(texts.take(from_numpy(first)))
    except InputError:
        return None
    rows = np.diff(first, append=len(texts))
    times += np.repeat(starts - times[first], rows)
    return times, None if offsets is None else np.repeat(offsets, rows)


@compiled
def _since_the_hour(text: Bytes, compared: Bytes, times: Longs, changes: Bytes) -> bool:
    """Fill in nanoseconds since the hour, and where a compared byte differs from the row before."""
    width, before = np.uint64(len(compared)), np.uint64(0)  # unsigned: no test for negative ones
    for row in range(len(times)):
        start, other, total = np.uint64(row) * width, np.uint8(0), 0
        for i in range(width):
            other |= (text[start + i] ^ text[before + i]) & compared[i]
        changes[row], before = other, start
        for place, largest, unit in ((14, 5, 600), (15, 9, 60), (17, 5, 10), (18, 9, 1)):
            digit = int(text[start + np.uint64(place)]) - 48
            if digit < 0 or digit > largest:
                return False
            total += unit * digit
        times[row] = total * 1_000_000_000
    return True
