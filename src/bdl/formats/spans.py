"""Spans: the rows of annotation files, each a label with a start and perhaps an end.

Files that annotate (BIDS, DCASE, EDF+) have rows of two kinds: points and intervals. A label
whose rows have an end after their start, or that the user names as an interval type, becomes an
onset and an offset event; any other label becomes point events of its own name. On the way back,
types called ``<label>:onset`` and ``<label>:offset`` (or named by the user) are paired, all
others are points with start = end.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np

from bdl.errors import InputError
from bdl.events import Events
from bdl.intervals import IntervalType
from bdl.pairing import pair_rows


@dataclass
class Spans:
    """Rows of (recording, label, start, end, score, score of the end); end None is unknown."""

    recording: list[str] = field(default_factory=list)
    label: list[str] = field(default_factory=list)
    start: list[float] = field(default_factory=list)
    end: list[float | None] = field(default_factory=list)
    score: list[float | None] = field(default_factory=list)
    end_score: list[float | None] = field(default_factory=list)

    def add(
        self,
        recording: str,
        label: str,
        start: float,
        end: float | None,
        score: float | None = None,
        end_score: float | None = None,
    ) -> None:
        """One more row."""
        self.recording.append(recording)
        self.label.append(label)
        self.start.append(start)
        self.end.append(end)
        self.score.append(score)
        self.end_score.append(end_score if end_score is not None else score)

    def __len__(self) -> int:
        return len(self.start)


def to_events(
    spans: Spans, source: object, intervals: Iterable[IntervalType] | None = None
) -> Events:
    """Events of annotation rows.

    >>> spans = Spans()
    >>> spans.add("a", "sleep", 1.0, 5.0)
    >>> spans.add("a", "cough", 2.0, None)
    >>> to_events(spans, "a.tsv").types
    ('cough', 'sleep:offset', 'sleep:onset')
    """
    named = {kind.name: kind for kind in intervals or ()}
    for label, start, end in zip(spans.label, spans.start, spans.end, strict=True):
        if label not in named and end is not None and end > start:
            named[label] = IntervalType.named(label)
    recordings: list[str] = []
    types: list[str] = []
    times: list[float] = []
    scores: list[float | None] = []
    for row, label in enumerate(spans.label):
        start, end = spans.start[row], spans.end[row]
        kind = named.get(label)
        if kind is not None and end is None:
            raise InputError(
                f"{source}: row {row}: {label!r} is an interval and has no end or duration here"
            )
        if end is not None and end < start:
            raise InputError(
                f"{source}: row {row}: {label!r} ends at {end} s, before its start at {start} s"
            )
        recordings.append(spans.recording[row])
        types.append(label if kind is None else kind.onset)
        times.append(start)
        scores.append(spans.score[row])
        if kind is not None and end is not None:
            recordings.append(spans.recording[row])
            types.append(kind.offset)
            times.append(end)
            scores.append(spans.end_score[row])
    known = [score for score in scores if score is not None]
    if known and len(known) < len(scores):
        raise InputError(f"{source}: {len(known)} of {len(scores)} rows have a score; all or none")
    if not times:
        return Events.empty()
    return Events.of(recordings, types, times, known or None)


def found_types(events: Events) -> tuple[IntervalType, ...]:
    """Interval types that the names of the events themselves tell.

    >>> found_types(Events.of("a", ["x:onset", "x:offset", "y"], [1.0, 2.0, 3.0]))
    (IntervalType(name='x', onset='x:onset', offset='x:offset'),)
    """
    usual = [IntervalType.named(t[: -len(":onset")]) for t in events.types if t.endswith(":onset")]
    return tuple(kind for kind in usual if kind.offset in events.types and kind.name)


def from_events(events: Events, intervals: Iterable[IntervalType] | None = None) -> Spans:
    """Annotation rows of events, sorted by recording, start and label."""
    kinds = found_types(events) if intervals is None else tuple(intervals)
    point = np.ones(len(events), dtype=bool)
    rows: list[tuple[str, float, str, float, int, int]] = []
    for kind in kinds:
        first, last, _ = pair_rows(events, kind, "in-order")
        if kind.name in events.types and kind.name not in (kind.onset, kind.offset):
            raise InputError(
                f"{kind.name!r} names both an interval and a point event; a table of intervals "
                "cannot keep them apart: rename one"
            )
        point[first] = point[last] = False
        for i, j in zip(first.tolist(), last.tolist(), strict=True):
            recording = events.recordings[events.recording_code[i]]
            start, end = float(events.time[i]), float(events.time[j])
            if end < start:
                raise InputError(
                    f"recording {recording!r}: {kind.name!r} would end at {end} s, before its "
                    f"start at {start} s; an onset or offset is missing"
                )
            rows.append((recording, start, kind.name, end, i, j))
    for i in np.flatnonzero(point).tolist():
        recording = events.recordings[events.recording_code[i]]
        start = float(events.time[i])
        rows.append((recording, start, events.types[events.type_code[i]], start, i, i))
    spans = Spans()
    for recording, start, label, end, i, j in sorted(rows):
        scores = (None, None) if events.score is None else (events.score[i], events.score[j])
        spans.add(recording, label, start, end, *(None if s is None else float(s) for s in scores))
    return spans
