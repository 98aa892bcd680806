"""Checking events against their recordings."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bdl.errors import InputError, some
from bdl.events import Events
from bdl.recording import Recordings
from bdl.sampling import nearest_sample


def check_events(events: Events, recordings: Recordings, source: str = "events") -> None:
    """Raise an error if an event names an unknown recording or is outside its recording.

    Parameters
    ----------
    events
        The events.
    recordings
        The recordings that they belong to.
    source
        Where the events come from, for messages.

    Examples
    --------
    >>> from bdl.recording import Recording
    >>> ten = Recordings.of([Recording.of(np.zeros(10), id="a", period=1.0)])
    >>> check_events(Events.of("a", "beat", [10.5]), ten)
    Traceback (most recent call last):
    bdl.errors.InputError: events: row 0: 'beat' at 10.5 s is outside recording 'a'
    """
    used = [events.recordings[code] for code in np.unique(events.recording_code)]
    unknown = [name for name in used if name not in recordings]
    if unknown:
        raise InputError(
            f"{source}: events name {len(unknown)} unknown recording(s), first {unknown[0]!r}; "
            f"there are {len(recordings)} ({some(recordings.ids)}); do the ids "
            "differ by a suffix?"
        )
    out = outside(events, recordings)
    if out.any():
        row = int(np.argmax(out))
        id = events.recordings[events.recording_code[row]]
        raise InputError(
            f"{source}: row {row}: {events.types[events.type_code[row]]!r} at {events.time[row]} s "
            f"is outside recording {id!r} (0 to {recordings.info(id).duration:g} s); "
            f"{int(out.sum())} such rows"
        )


def outside(events: Events, recordings: Recordings) -> NDArray[np.bool_]:
    """Which events of known recordings have no nearest sample in their recording: (n,)."""
    if not len(events):
        return np.zeros(0, dtype=bool)
    infos = [recordings.info(id) if id in recordings else None for id in events.recordings]
    period = np.array([1.0 if info is None else info.period for info in infos])
    length = np.array([np.inf if info is None else info.samples for info in infos])
    sample = nearest_sample(events.time, period[events.recording_code])
    length = length[events.recording_code]
    result: NDArray[np.bool_] = ((sample < 0) | (sample >= length)) & np.isfinite(length)
    return result
