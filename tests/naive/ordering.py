"""One order for tables of events whose rows may come in any."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bdl.events import Events


def in_order(events: Events) -> Events:
    """The same events by recording, time, type and decreasing score."""
    falling = -events.score if events.score is not None else np.zeros(len(events))
    order = np.lexsort((falling, events.type_code, events.time, events.recording_code))
    return replace(
        events,
        recording_code=events.recording_code[order],
        type_code=events.type_code[order],
        time=events.time[order],
        score=None if events.score is None else events.score[order],
    )
