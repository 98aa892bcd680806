"""Intervals made of onset and offset events, for scores that compare intervals.

Within a recording the events of both types stand in order of time, an offset before an onset at
the same time. An onset and the next event make an interval if that event is an offset; any other
event stands alone and makes none. The score of an interval is the lower of its two.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bdl.errors import ConfigError
from bdl.events import Events, IntervalType

Floats = NDArray[np.float64]
Spans = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Intervals:
    """Intervals of one type in several recordings.

    Parameters
    ----------
    spans : for each recording (n, 2) start and end in seconds, in order.
    scores : for each recording (n,) scores, where the events had them.
    unpaired : events that found no partner.
    """

    spans: dict[str, Spans] = field(repr=False)
    scores: dict[str, Floats] = field(repr=False)
    unpaired: int = 0

    def of(self, recording: str) -> Spans:
        """Spans of one recording, (n, 2); none if it is not known."""
        return self.spans.get(recording, np.zeros((0, 2)))

    def __len__(self) -> int:
        return sum(len(spans) for spans in self.spans.values())


def paired(events: Events, interval: IntervalType, *, threshold: float = -np.inf) -> Intervals:
    """Intervals from onset and offset events.

    Parameters
    ----------
    threshold : events with a lower score are left out before pairing.

    >>> sleep = IntervalType("sleep", onset="onset", offset="wakeup")
    >>> events = Events.of("a", ["onset", "onset", "wakeup", "wakeup"], [1.0, 2.0, 5.0, 8.0])
    >>> found = paired(events, sleep)
    >>> found.of("a").tolist(), found.unpaired
    ([[2.0, 5.0]], 2)
    """
    if interval.onset == interval.offset:
        raise ConfigError(f"onset and offset of {interval.name!r} have one name: {interval.onset}")
    names = np.array(events.types, dtype=object)
    kind = np.where(names == interval.onset, 1, np.where(names == interval.offset, 0, -1))
    chosen = kind[events.type_code] if len(names) else np.zeros(0, np.int64)
    keep = chosen >= 0
    if events.score is not None:
        keep &= events.score >= threshold
    rows = np.flatnonzero(keep)
    order = rows[np.lexsort((chosen[rows], events.time[rows], events.recording_code[rows]))]
    code, is_onset, time = events.recording_code[order], chosen[order] == 1, events.time[order]
    first = np.flatnonzero(is_onset[:-1] & ~is_onset[1:] & (code[:-1] == code[1:]))
    spans = np.stack([time[first], time[first + 1]], axis=1)
    score = np.full(len(order), np.nan) if events.score is None else events.score[order]
    lower = np.minimum(score[first], score[first + 1])
    where = {events.recordings[c]: code[first] == c for c in np.unique(code[first])}
    return Intervals(
        {name: spans[mine] for name, mine in where.items()},
        {} if events.score is None else {name: lower[mine] for name, mine in where.items()},
        len(order) - 2 * len(first),
    )
