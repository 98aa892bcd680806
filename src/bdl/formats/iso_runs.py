"""Long columns of ISO 8601 times of which most differ from the one before in minutes and seconds.

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
Parsed = tuple[Longs, Longs | None]
LONG = 4096  # rows from which compiled code, which takes time to load, pays


def parse_runs(texts: pa.Array, parse: Callable[[pa.Array], Parsed]) -> Parsed | None:
    """Times and offsets of a column of text without nulls.

    None if there are few rows, they are not such times, change by the hour too often, or one is
    invalid. ``parse`` gives times and offsets of the first rows of the hours.
    """
    if len(texts) < LONG:
        return None
    _, ends, data = texts.buffers()
    ends = np.frombuffer(ends, np.int32)[texts.offset :][: len(texts) + 1]
    first, times = np.empty(len(texts) // 8, np.int64), np.empty(len(texts), np.int64)
    count = _find_runs(np.frombuffer(data, np.uint8), ends, first, times)
    if count < 0:
        return None
    first = first[:count]
    try:
        starts, offsets = parse(texts.take(from_numpy(first)))
    except InputError:
        return None
    rows = np.diff(first, append=len(texts))
    times += np.repeat(starts - times[first], rows)
    return times, None if offsets is None else np.repeat(offsets, rows)


@compiled
def _find_runs(text: NDArray[np.uint8], ends: NDArray[np.int32], first: Longs, times: Longs) -> int:
    """Number of runs in which only minutes and seconds change, or -1 if there are none such.

    Fills ``first`` with the first row of each run and ``times`` with nanoseconds since the hour.
    """
    runs, width = 0, -1
    before = np.uint64(0)
    for row in range(len(ends) - 1):
        start = np.uint64(ends[row])  # unsigned indices spare a test for negative ones
        length = ends[row + 1] - ends[row]
        if length < 19:
            return -1
        total = 0
        for place, largest, unit in ((14, 5, 600), (15, 9, 60), (17, 5, 10), (18, 9, 1)):
            digit = int(text[start + np.uint64(place)]) - 48
            if digit < 0 or digit > largest:
                return -1
            total += unit * digit
        times[row] = total * 1_000_000_000
        changed = length != width
        if not changed:
            other = text[start + np.uint64(16)] ^ text[before + np.uint64(16)]
            for i in range(np.uint64(14)):
                other |= text[start + i] ^ text[before + i]
            for i in range(np.uint64(19), np.uint64(width)):
                other |= text[start + i] ^ text[before + i]
            changed = other != 0
        if changed:
            if runs == len(first):
                return -1
            first[runs] = row
            runs += 1
        before, width = start, length
    return runs
