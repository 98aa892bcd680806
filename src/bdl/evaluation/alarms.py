"""False alarms, where the two ends of an interval are one alarm.

An alarm is a detected interval (an onset and the offset that follows it next, `bdl.pairing`) or a
detection that belongs to no interval. It is false if it has no hit: an interval with one hit is a
detected event that is badly timed at its other end.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.evaluation.matches import Matches
from bdl.events import Events
from bdl.pairing import pair_rows


def false_alarms(matches: Matches, threshold: float, tolerance: float) -> NDArray[np.int64]:
    """False alarms of each recording, all types together, at one threshold: (recordings,).

    Examples
    --------
    A night at the wrong time is one false alarm, though both its ends are false detections:

    >>> from bdl.evaluation import match
    >>> truth = Events.of("a", ["onset", "wakeup"], [0.0, 100.0])
    >>> times = [1.0, 99.0, 500.0, 600.0]
    >>> detections = Events.of("a", ["onset", "wakeup"] * 2, times, score=[0.9, 0.8, 0.7, 0.6])
    >>> false_alarms(match(truth, detections, [5.0]), 0.0, 5.0).tolist()
    [1]
    """
    cut = matches.cuts([threshold])[0]
    rows = np.concatenate(
        [np.arange(a, b) for a, b in zip(matches.start[:-1], cut, strict=True)]
    ).astype(np.int64)
    hit = np.zeros(len(matches.time), dtype=bool)
    for name in matches.types:
        hit[matches.hits(name, tolerance)[0]] = True
    false = ~hit[rows]
    size = len(matches.recordings)
    counts = np.bincount(matches.recording[rows[false]], minlength=size)
    kind = np.repeat(np.arange(len(matches.types), dtype=np.int32), cut - matches.start[:-1])
    events = Events(
        matches.recordings, matches.types, matches.recording[rows], kind, matches.time[rows]
    )
    for interval in matches.intervals:
        onsets, offsets, _ = pair_rows(events, interval, "adjacent")
        # Of an interval with two false ends one is left, of one with a single false end none.
        merged = onsets[false[onsets] | false[offsets]]
        counts -= np.bincount(events.recording_code[merged], minlength=size)
    return counts.astype(np.int64)
