"""False alarms, where the two ends of an interval are one alarm.

An alarm is a detected interval (an onset and the offset that follows it next, `bdl.pairing`) or a
detection that belongs to no interval. It is false if it has no hit: an interval with one hit is a
detected event that is badly timed at its other end.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bdl.arrays import Longs
from bdl.evaluation.matches import Matches
from bdl.events import Events
from bdl.pairing import adjacent, endpoints


def false_alarms(matches: Matches, thresholds: Sequence[float], tolerance: float) -> Longs:
    """False alarms, all types together: (thresholds, recordings).

    The ends of intervals are sorted once for all thresholds.

    Examples
    --------
    A night at the wrong time is one false alarm, though both its ends are false detections:

    >>> from bdl.evaluation import match
    >>> truth = Events.of("a", ["onset", "wakeup"], [0.0, 100.0])
    >>> times = [1.0, 99.0, 500.0, 600.0]
    >>> detections = Events.of("a", ["onset", "wakeup"] * 2, times, score=[0.9, 0.8, 0.7, 0.6])
    >>> false_alarms(match(truth, detections, [5.0]), [0.0, 0.7, 0.8], 5.0).tolist()
    [[1], [1], [0]]
    """
    size = len(matches.recordings)
    false = np.ones(len(matches.time), dtype=bool)
    for name in matches.types:
        false[matches.hits(name, tolerance)[0]] = False
    kind = np.repeat(np.arange(len(matches.types), dtype=np.int32), np.diff(matches.start))
    events = Events(matches.recordings, matches.types, matches.recording, kind, matches.time)
    ends = [endpoints(events, interval) for interval in matches.intervals]
    counts = np.empty((len(thresholds), size), dtype=np.int64)
    for count, threshold in zip(counts, thresholds, strict=True):
        counted = matches.score >= threshold
        count[:] = np.bincount(matches.recording[counted & false], minlength=size)
        for rows, is_onset in ends:
            kept = counted[rows]
            onsets, offsets = adjacent(events, rows[kept], is_onset[kept])
            # Of an interval with two false ends one is left, of one with a single false end none.
            merged = onsets[false[onsets] | false[offsets]]
            count -= np.bincount(matches.recording[merged], minlength=size)
    return counts
