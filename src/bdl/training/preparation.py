"""From recordings and events to what training needs, with every reason to refuse them.

All recordings of a training have the same channels and the same period. Every event lies on a
known recording, and every event type has at least one event inside its recording.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.features import Features, bin_features
from bdl.intervals import IntervalType
from bdl.labels import Labels, label
from bdl.recording import RecordingInfo, Recordings
from bdl.training.batches import Prepared

# Periods that went through text and back are still the same.
SAME = 1e-6


def prepare(
    recordings: Recordings,
    events: Events,
    features: Features,
    *,
    types: Sequence[str],
    intervals: Sequence[IntervalType] = (),
) -> list[Prepared]:
    """Binned features and labels of every recording, in order."""
    labels = label(events, recordings.infos, types=types, intervals=intervals)
    return [Prepared(bin_features(one, features), labels[one.id]) for one in recordings]


def check_recordings(recordings: Recordings) -> tuple[tuple[str, ...], float]:
    """Channels and period that all recordings share."""
    if not len(recordings):
        raise InputError("the training part has no recordings")
    first = recordings.infos[0]
    for info in recordings.infos:
        if info.samples == 0:
            raise InputError(f"recording {info.id!r} has no samples")
        check_like(info, first.channels, first.period, f"recording {first.id!r}")
    return first.channels, first.period


def check_like(info: RecordingInfo, channels: Sequence[str], period: float, what: str) -> None:
    """Refuse a recording whose channels or period are not those of ``what``."""
    if tuple(info.channels) != tuple(channels):
        lacks = [name for name in channels if name not in info.channels]
        more = [name for name in info.channels if name not in channels]
        told = [f"it lacks {', '.join(lacks)}"] if lacks else []
        told += [f"it has {', '.join(more)} too"] if more else []
        told = told or ["they stand in another order"]
        raise InputError(
            f"recording {info.id!r} has channels {', '.join(info.channels)}, and {what} has "
            f"{', '.join(channels)}: {'; '.join(told)}"
        )
    if not same_period(info.period, period):
        raise InputError(
            f"recording {info.id!r} has a sample every {info.period:g} s, and {what} every "
            f"{period:g} s; resample it, or ask for it (resample=True when detecting)"
        )


def same_period(one: float, other: float) -> bool:
    """Whether two periods in seconds are the same up to rounding.

    >>> same_period(1 / 256, 0.00390625000001)
    True
    """
    return abs(one - other) <= SAME * other


def check_events(
    events: Events, recordings: Recordings, *, unknown: Literal["error", "ignore"]
) -> Events:
    """The events of the given recordings; events of others are an error, or left out."""
    used = {events.recordings[code] for code in np.unique(events.recording_code)}
    strangers = sorted(used - set(recordings.ids))
    if strangers and unknown == "error":
        shown = ", ".join(strangers[:3]) + (", ..." if len(strangers) > 3 else "")
        raise InputError(
            f"events of {len(strangers)} recordings that are not among the {len(recordings)} given "
            f"({shown}): do the ids agree? To train on a part, select its events, or pass "
            "unknown='ignore'"
        )
    return events.select(recordings=recordings.ids) if strangers else events


def choose_types(
    events: Events, intervals: Sequence[IntervalType], types: Sequence[str] | None
) -> tuple[str, ...]:
    """Event types in training order: those given, or endpoints of intervals, then the others.

    >>> sleep = IntervalType("sleep", "onset", "wakeup")
    >>> choose_types(Events.of("a", ["wakeup", "nap", "onset"], [3, 2, 1]), [sleep], None)
    ('onset', 'wakeup', 'nap')
    """
    ends = [name for one in intervals for name in (one.onset, one.offset)]
    if types is None:
        there = [events.types[code] for code in np.unique(events.type_code)]
        types = [*ends, *(name for name in there if name not in ends)]
    if not types:
        raise InputError("the training part has no events, so there is nothing to learn")
    lost = [name for name in ends if name not in types]
    if lost:
        raise ConfigError(f"intervals name the event types {', '.join(lost)}, not among the types")
    return tuple(dict.fromkeys(types))


def check_labels(labels: Iterable[Labels], types: Sequence[str]) -> int:
    """Refuse a type without any visible event; the number of events outside their recordings."""
    counts = np.zeros(len(types), dtype=np.int64)
    outside = 0
    for one in labels:
        counts += [len(places) for places in one.events]
        outside += one.outside
    empty = [name for name, count in zip(types, counts, strict=True) if count == 0]
    beyond = f" ({outside} lie outside their recordings: are the times in seconds?)" * bool(outside)
    if len(empty) == len(types):
        raise InputError(f"the training part has no events{beyond}, so there is nothing to learn")
    if empty:
        raise InputError(
            f"the training part has no events of type {', '.join(empty)}{beyond}; leave it out of "
            "the types, or give recordings that have some"
        )
    return outside


def data_digest(prepared: Sequence[Prepared]) -> str:
    """SHA-256 over all features and labels: the same data give the same run."""
    total = hashlib.sha256()
    for one in prepared:
        total.update(f"{one.labels.recording}\0{one.labels.samples}\0".encode())
        parts = (one.binned.values, one.binned.hour, one.binned.weekday)
        for part in (*parts, *one.labels.events, *one.labels.intervals):
            if part is not None:
                total.update(f"{part.shape}".encode())
                total.update(np.ascontiguousarray(part).data)
    return total.hexdigest()


def events_digest(recordings: Recordings, events: Events) -> str:
    """SHA-256 over the names and lengths of recordings and over a table of events."""
    total = hashlib.sha256(repr([(one.id, one.samples) for one in recordings.infos]).encode())
    rows = zip(events.recording, events.event, events.time.tolist(), strict=True)
    total.update(repr(sorted(rows)).encode())
    return total.hexdigest()


def levels(prepared: Sequence[Prepared], channels: int) -> tuple[float, ...]:
    """Mean absolute feature of each channel over the bins that have samples."""
    width = prepared[0].binned.values.shape[1]
    total, count = np.zeros(width), 0
    for one in prepared:
        there = ~one.binned.missing
        total += np.abs(one.binned.values[there]).sum(axis=0, dtype=np.float64)
        count += int(there.sum())
    return tuple((total / max(count, 1)).reshape(channels, -1).mean(axis=1).tolist())
