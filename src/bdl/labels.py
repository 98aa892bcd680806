"""Labels: a table of events on the sample clocks of recordings.

An event is placed at its nearest sample (`bdl.sampling`); events outside ``[0, samples)`` are
counted and left out. Onsets and offsets are paired by the rule ``adjacent`` of `bdl.pairing` (an
onset directly followed by an offset); any other endpoint is still an event. Pairing uses times in
seconds, before anything is rounded or left out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from bdl.arrays import Flags, Floats, Longs
from bdl.errors import ConfigError, InputError
from bdl.events import Events
from bdl.intervals import Intervals, IntervalType
from bdl.pairing import pair
from bdl.recording import RecordingInfo
from bdl.sampling import bin_count, nearest_sample

Samples = Longs


@dataclass(frozen=True, eq=False)
class Labels:
    """Annotations of one recording on its sample clock."""

    recording: str  # id of the recording
    period: float  # seconds from one sample to the next
    samples: int  # length of the recording in samples
    # For each event type, the sorted samples of the events inside the recording.
    events: tuple[Samples, ...]
    # For each interval type, (n, 2) samples ``[onset, offset)`` inside the recording.
    intervals: tuple[Samples, ...] = ()
    outside: int = 0  # number of events outside the recording, over all types
    # For each event type, the index of the type at the other end of its interval; None for a type
    # without intervals. Empty if no type has any.
    partners: tuple[int | None, ...] = ()
    # (n, 2) samples of the spans in which all events are annotated; None for the whole recording.
    annotated: Samples | None = None

    @property
    def annotated_samples(self) -> int:
        """Number of samples in which all events are annotated."""
        return self.samples if self.annotated is None else int(np.diff(self.annotated).sum())

    def annotated_bins(self, stride: int) -> Flags | None:
        """Return which bins have their middle in an annotated span; None if all are annotated."""
        if self.annotated is None:
            return None
        middle = np.arange(bin_count(self.samples, stride)) * stride + stride // 2
        return _within(middle, self.annotated)

    def reversed(self, first: int, samples: int) -> Labels:
        """Return the labels of a part of the recording in which time runs backwards.

        Sample ``t`` becomes ``first + samples - 1 - t``. Onsets become offsets and offsets onsets;
        events of a type without a partner keep their type.
        """
        last = first + samples - 1
        partners = self.partners or (None,) * len(self.events)
        order = [own if other is None else other for own, other in enumerate(partners)]

        def reverse_events(events: Samples) -> Samples:
            inside = events[(events >= first) & (events <= last)]
            return last - inside[::-1]

        def reverse_pairs(pairs: Samples) -> Samples:
            # [onset, offset) covers the same samples in both directions.
            clipped = np.clip(last + 1 - pairs[::-1, ::-1], 0, samples)
            return clipped[clipped[:, 1] > clipped[:, 0]]

        return replace(
            self,
            samples=samples,
            events=tuple(reverse_events(self.events[k]) for k in order),
            intervals=tuple(reverse_pairs(pairs) for pairs in self.intervals),
        )

    def jittered(self, reach: int, rng: np.random.Generator) -> Labels:
        """Return labels moved by random whole numbers of samples, uniform in ``[-reach, reach]``.

        Events stay inside the recording, so that none is lost; the onset of an interval stays
        before its offset.
        """
        if reach < 0:
            raise ConfigError(f"label jitter is a number of samples, 0 or more, got {reach}")
        if reach == 0:
            return self

        def move(samples: Samples, last: int) -> Samples:
            moved = samples + rng.integers(-reach, reach, size=samples.shape, endpoint=True)
            inside: Samples = np.clip(moved, 0, max(last, 0))
            return inside

        return replace(
            self,
            events=tuple(np.sort(move(events, self.samples - 1)) for events in self.events),
            intervals=tuple(np.sort(move(pairs, self.samples), axis=1) for pairs in self.intervals),
        )


def label(
    events: Events,
    infos: Iterable[RecordingInfo],
    *,
    types: Sequence[str],
    intervals: Sequence[IntervalType] = (),
) -> dict[str, Labels]:
    """Put events on the sample clock of each recording; labels by recording id.

    Rows of recordings not in ``infos`` and of types not in ``types`` are ignored.
    """
    for what, names in (("event types", types), ("intervals", [i.name for i in intervals])):
        if len(set(names)) != len(names):
            raise ConfigError(f"{what} repeat: {', '.join(names)}")
    order = np.argsort(events.recording_code, kind="stable")
    bounds = np.searchsorted(events.recording_code[order], np.arange(len(events.recordings) + 1))
    recording_code = {name: code for code, name in enumerate(events.recordings)}
    type_code = {name: code for code, name in enumerate(events.types)}
    paired = pair(events, intervals) if intervals else Intervals.empty()
    partners = _partners(types, intervals)
    labels: dict[str, Labels] = {}
    for info in infos:
        code = recording_code.get(info.id)
        rows = order[:0] if code is None else order[bounds[code] : bounds[code + 1]]

        def times(name: str, rows: Samples = rows) -> Floats:
            return np.sort(events.time[rows[events.type_code[rows] == type_code.get(name, -1)]])

        placed = [nearest_sample(times(name), info.period) for name in types]
        annotated = None if info.annotated is None else _clip(np.array(info.annotated), info)
        inside = [
            samples[(samples >= 0) & (samples < info.samples) & _within(samples, annotated)]
            for samples in placed
        ]
        spans = [paired.of_recording(info.id, interval.name) for interval in intervals]
        outside = sum(map(len, placed)) - sum(map(len, inside))
        labels[info.id] = Labels(
            info.id,
            info.period,
            info.samples,
            tuple(inside),
            tuple(_clip(pairs, info) for pairs in spans),
            outside,
            partners,
            annotated,
        )
    return labels


def _partners(types: Sequence[str], intervals: Sequence[IntervalType]) -> tuple[int | None, ...]:
    """The index of the other endpoint of each type; None without one, or with several.

    >>> _partners(["on", "spike", "off"], [IntervalType("spell", "on", "off")])
    (2, None, 0)
    """
    others: dict[str, set[str]] = {name: set() for name in types}
    for interval in intervals:
        others.setdefault(interval.onset, set()).add(interval.offset)
        others.setdefault(interval.offset, set()).add(interval.onset)
    places = {name: place for place, name in enumerate(types)}
    return tuple(
        places.get(next(iter(others[name]))) if len(others[name]) == 1 else None for name in types
    )


def mean_spacing(labels: Iterable[Labels]) -> float:
    """Return recorded seconds per event of a type, averaged over types."""
    listed = [*labels]
    events = sum(len(samples) for recording in listed for samples in recording.events)
    types = len(listed[0].events) if listed else 0
    if events == 0:
        raise InputError(
            "no events in the training part: there is nothing to learn, and no spacing of events "
            "to estimate; check recording ids and event types"
        )
    seconds = sum(recording.period * recording.annotated_samples for recording in listed)
    return seconds * types / events


def common_period(labels: Sequence[Labels]) -> float:
    """Return the sampling period that all labels share, in seconds."""
    periods = {recording.period for recording in labels}
    if len(periods) != 1:
        raise InputError(
            f"one training part needs recordings of one sampling period, got {sorted(periods)} s"
        )
    return periods.pop()


def _within(samples: Samples, spans: Samples | None) -> Flags:
    """Return which samples are in one of some spans; all without spans."""
    inside: Flags = np.full(len(samples), spans is None)
    for first, last in () if spans is None else spans.tolist():
        inside |= (samples >= first) & (samples < last)
    return inside


def _clip(spans: Floats, info: RecordingInfo) -> Samples:
    """Return intervals in samples inside the recording, without those entirely outside."""
    clipped = nearest_sample(np.clip(spans, -info.period, info.duration + info.period), info.period)
    inside = np.clip(clipped, 0, info.samples)
    return inside[(inside[:, 1] > inside[:, 0])]
