"""From recordings and events to the input of training, with all checks of the data.

All recordings of a training have the same channels and the same period. Every event belongs to a
known recording, and every event type has at least one event inside its recording.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from bdl.binning import bin_features
from bdl.errors import ConfigError, InputError, some
from bdl.events import Events
from bdl.features import Features
from bdl.intervals import IntervalType
from bdl.labels import Labels, label
from bdl.recording import RecordingInfo, Recordings
from bdl.training.feature_file import keep

if TYPE_CHECKING:
    from bdl.training.batches import TrainingRecording

# Relative difference of periods that were written as text and read again.
SAME = 1e-6


def prepare(
    recordings: Recordings,
    events: Events,
    features: Features,
    *,
    types: Sequence[str],
    intervals: Sequence[IntervalType] = (),
    lag: int = 0,
) -> list[TrainingRecording]:
    """Return features and labels of every recording, in order, for outputs ``lag`` bins late."""
    from bdl.training.batches import TrainingRecording  # imports torch

    labels = label(events, recordings.infos, types=types, intervals=intervals)
    stored = keep(bin_features(recording, features, blank=lag) for recording in recordings)
    prepared = [
        TrainingRecording(binned, labels[id], labels[id].annotated_bins(features.bin_samples), lag)
        for id, binned in zip(recordings.ids, stored, strict=True)
    ]
    if all(recording.binned.missing.all() for recording in prepared):
        raise InputError(
            f"all values of the {len(prepared)} training recordings are missing, so there is "
            "nothing to learn; are the channels right?"
        )
    return prepared


def check_recordings(recordings: Recordings) -> tuple[tuple[str, ...], float]:
    """Return the channels and the period that all recordings share."""
    if not len(recordings):
        raise InputError("the training part has no recordings")
    first = recordings.infos[0]
    for info in recordings.infos:
        if info.samples == 0:
            raise InputError(f"recording {info.id!r} has no samples")
        check_like(info, first.channels, first.period, f"recording {first.id!r}")
    return first.channels, first.period


def check_like(info: RecordingInfo, channels: Sequence[str], period: float, what: str) -> None:
    """Raise an error if the channels or the period of a recording are not those of ``what``."""
    if tuple(info.channels) != tuple(channels):
        missing = [name for name in channels if name not in info.channels]
        extra = [name for name in info.channels if name not in channels]
        problems = [f"it lacks {', '.join(missing)}"] if missing else []
        problems += [f"it also has {', '.join(extra)}"] if extra else []
        raise InputError(
            f"recording {info.id!r} has channels {', '.join(info.channels)}, and {what} has "
            f"{', '.join(channels)}: {'; '.join(problems) or 'their order differs'}; choose the "
            "same channels (--channel), or name those that are called otherwise (--alias "
            "LABEL=NAME)"
        )
    if not same_period(info.period, period):
        raise InputError(
            f"recording {info.id!r} has a sample every {info.period:g} s, and {what} every "
            f"{period:g} s; resample it (`bdl prepare --rate {1 / period:g}`; when detecting "
            "--resample or resample=True)"
        )


def same_period(period: float, other: float) -> bool:
    """Return whether two periods in seconds are the same up to rounding.

    Examples
    --------
    >>> same_period(1 / 256, 0.00390625000001)
    True
    """
    return abs(period - other) <= SAME * other


def events_of(
    events: Events, recordings: Recordings, *, unknown: Literal["error", "ignore"]
) -> Events:
    """Return the events of the given recordings; events of others are an error, or left out."""
    used = {events.recordings[code] for code in np.unique(events.recording_code)}
    others = sorted(used - set(recordings.ids))
    if others and unknown == "error":
        raise InputError(
            f"events of {len(others)} recordings that are not among the {len(recordings)} given "
            f"({some(others)}): do the ids agree with {some(recordings.ids)}? To train on a part, "
            "select its events, or leave out the others (unknown='ignore', --incomplete drop)"
        )
    return events.select(recordings=recordings.ids) if others else events


def choose_types(
    events: Events, intervals: Sequence[IntervalType], types: Sequence[str] | None
) -> tuple[str, ...]:
    """Return event types in training order.

    By default these are the endpoints of intervals, then all others that occur.

    Examples
    --------
    >>> sleep = IntervalType("sleep", "onset", "wakeup")
    >>> choose_types(Events.of("a", ["wakeup", "nap", "onset"], [3, 2, 1]), [sleep], None)
    ('onset', 'wakeup', 'nap')
    """
    ends = [name for interval in intervals for name in (interval.onset, interval.offset)]
    if types is None:
        occurring = [events.types[code] for code in np.unique(events.type_code)]
        types = [*ends, *(name for name in occurring if name not in ends)]
    if not types:
        raise InputError("the training part has no events, so there is nothing to learn")
    if absent := [name for name in types if name not in events.types]:
        raise InputError(
            f"the training part has no events of type {', '.join(absent)}; it has "
            f"{some(events.types, 10)}: change the types or intervals (types:, intervals: in "
            "bdl.yaml, or types=, intervals=)"
        )
    missing = [name for name in ends if name not in types]
    if missing:
        raise ConfigError(
            f"intervals name the event types {', '.join(missing)}, which are not among the types"
        )
    return tuple(dict.fromkeys(types))


def check_labels(labels: Iterable[Labels], types: Sequence[str]) -> int:
    """Raise an error for a type without events; return the number of events outside recordings."""
    counts = np.zeros(len(types), dtype=np.int64)
    outside = 0
    for recording in labels:
        counts += [len(samples) for samples in recording.events]
        outside += recording.outside
    empty = [name for name, count in zip(types, counts, strict=True) if count == 0]
    hint = f" ({outside} are outside their recordings: are the times in seconds?)" * bool(outside)
    if len(empty) == len(types):
        raise InputError(f"the training part has no events{hint}, so there is nothing to learn")
    if empty:
        raise InputError(
            f"the training part has no events of type {', '.join(empty)}{hint}; leave it out of "
            "the types, or give recordings that have some"
        )
    return outside


def data_digest(recordings: Sequence[TrainingRecording]) -> str:
    """Return a SHA-256 digest of all features and labels: the same data give the same run."""
    digest = hashlib.sha256()
    for recording in recordings:
        binned, labels = recording.binned, recording.labels
        digest.update(f"{labels.recording}\0{labels.samples}\0".encode())
        arrays = (binned.values, binned.hour, binned.weekday, *labels.events, *labels.intervals)
        for array in (*arrays, recording.annotated):
            if array is not None:
                digest.update(f"{array.shape}".encode())
                digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def training_events_digest(recordings: Recordings, events: Events) -> str:
    """Return a SHA-256 digest of the ids and lengths of recordings and of a table of events."""
    digest = hashlib.sha256(repr([(info.id, info.samples) for info in recordings.infos]).encode())
    rows = zip(events.recording, events.event, events.time.tolist(), strict=True)
    digest.update(repr(sorted(rows)).encode())
    return digest.hexdigest()


def levels(recordings: Sequence[TrainingRecording], features: Features) -> tuple[float, ...]:
    """Return the mean absolute feature of each channel over the bins that have samples."""
    width = recordings[0].binned.values.shape[1]
    total, count = np.zeros(width), 0
    for recording in recordings:
        present = ~recording.binned.missing
        total += np.abs(recording.binned.values[present]).sum(axis=0, dtype=np.float64)
        count += int(present.sum())
    return tuple(features.per_channel(total / max(count, 1)).mean(axis=1).tolist())
