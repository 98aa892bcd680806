"""Annotation files: rows of a label with a start and perhaps an end.

A label whose rows have an end after their start, or that the user names as an interval type,
becomes an onset and an offset event; any other label becomes point events of its own name. When
events are written, types called ``<label>:onset`` and ``<label>:offset`` (or named by the user) are
paired, all others are points with start = end.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from decimal import Context, Decimal
from pathlib import Path
from typing import Annotated, NamedTuple

import numpy as np
from pydantic import BeforeValidator

from bdl.errors import InputError
from bdl.events import Events
from bdl.formats.events.event_format import EventFormat
from bdl.intervals import IntervalType
from bdl.pairing import pair_rows
from bdl.recording import Recordings

_EXACT = Context(prec=100)  # digits enough for the sum of any two times


class Annotation(NamedTuple):
    """One row of an annotation file; times are in seconds, an end of None is unknown."""

    recording: str
    label: str
    start: float
    end: float | None
    score: float | None = None
    end_score: float | None = None


def _parsed(given: object) -> object:
    return IntervalType.parse(given) if isinstance(given, str) else given


IntervalTypes = tuple[Annotated[IntervalType, BeforeValidator(_parsed)], ...] | None


class AnnotationFormat(EventFormat):
    """A format whose rows are points and intervals.

    Parameters
    ----------
    intervals
        Interval type: NAME=ONSET,OFFSET (event types), or NAME for NAME:onset, NAME:offset. By
        default every label with an end is one, and types NAME:onset, NAME:offset are paired.
    """

    intervals: IntervalTypes = None

    @property
    def named_intervals(self) -> Sequence[IntervalType]:
        return self.intervals or ()

    @abstractmethod
    def annotations(self, path: Path) -> Iterable[Annotation]:
        """The rows of a file or folder."""

    def read(self, path: Path) -> Events:
        """The events of a file or folder."""
        return to_events([*self.annotations(path)], path, self.intervals)


def to_events(
    rows: Sequence[Annotation], source: object, intervals: Iterable[IntervalType] | None = None
) -> Events:
    """Events of annotation rows; ``<label>:onset`` and ``<label>:offset`` are the default names.

    Examples
    --------
    >>> rows = [Annotation("a", "sleep", 1.0, 5.0), Annotation("a", "cough", 2.0, None)]
    >>> to_events(rows, "a.tsv").types
    ('cough', 'sleep:offset', 'sleep:onset')
    """
    kinds = {kind.name: kind for kind in intervals or ()}
    for row in rows:
        if row.label not in kinds and row.end is not None and row.end > row.start:
            kinds[row.label] = IntervalType.named(row.label)
    events: list[tuple[str, str, float, float | None]] = []
    for number, row in enumerate(rows):
        kind = kinds.get(row.label)
        where = f"{source}: row {number}: {row.label!r}"
        if kind is not None and row.end is None:
            raise InputError(f"{where} is an interval and has no end or duration here")
        if row.end is not None and row.end < row.start:
            raise InputError(
                f"{where} ends at {row.end} s, before its start at {row.start} s; are they "
                "swapped, or is a date wrong?"
            )
        events.append((row.recording, kind.onset if kind else row.label, row.start, row.score))
        if kind is not None and row.end is not None:
            end_score = row.score if row.end_score is None else row.end_score
            events.append((row.recording, kind.offset, row.end, end_score))
    if not events:
        return Events.empty()
    recordings, types, times, scores = zip(*events, strict=True)
    present = [score for score in scores if score is not None]
    if present and len(present) < len(scores):
        raise InputError(
            f"{source}: {len(present)} of {len(scores)} rows have a score; all or none"
        )
    return Events.of(recordings, types, times, present or None)


def found_types(events: Events) -> tuple[IntervalType, ...]:
    """Interval types by the names of the event types: ``<label>:onset`` and ``<label>:offset``.

    Examples
    --------
    >>> found_types(Events.of("a", ["x:onset", "x:offset", "y"], [1.0, 2.0, 3.0]))
    (IntervalType(name='x', onset='x:onset', offset='x:offset'),)
    """
    names = [kind.removesuffix(":onset") for kind in events.types if kind.endswith(":onset")]
    kinds = [IntervalType.named(name) for name in names if name]
    return tuple(kind for kind in kinds if kind.offset in events.types)


def to_annotations(
    events: Events, intervals: Iterable[IntervalType] | None = None
) -> list[Annotation]:
    """Annotation rows of events, sorted by recording, start and label; ``end`` is never None.

    By default ``<label>:onset`` and ``<label>:offset`` are the ends of an interval.
    """
    point = np.ones(len(events), dtype=bool)
    pairs: list[tuple[str, int, int]] = []
    for kind in found_types(events) if intervals is None else intervals:
        onsets, offsets, _ = pair_rows(events, kind, "in-order")
        if kind.name in events.types and kind.name not in (kind.onset, kind.offset):
            raise InputError(
                f"{kind.name!r} names both an interval and a point event; a table of intervals "
                "cannot keep them apart: rename one"
            )
        point[onsets] = point[offsets] = False
        pairs += [
            (kind.name, *ends) for ends in zip(onsets.tolist(), offsets.tolist(), strict=True)
        ]
    pairs += [(events.types[events.type_code[i]], i, i) for i in np.flatnonzero(point).tolist()]
    rows = []
    for label, i, j in pairs:
        recording = events.recordings[events.recording_code[i]]
        start, end = float(events.time[i]), float(events.time[j])
        if end < start:
            raise InputError(
                f"recording {recording!r}: {label!r} would end at {end} s, before its start at "
                f"{start} s; an onset or offset is missing"
            )
        scores = () if events.score is None else (float(events.score[i]), float(events.score[j]))
        rows.append(
            (recording, start, label, end, i, Annotation(recording, label, start, end, *scores))
        )
    return [row[-1] for row in sorted(rows, key=lambda row: row[:-1])]


def rows_by_recording(
    events: Events, intervals: Iterable[IntervalType] | None, recordings: Recordings | None
) -> dict[str, list[Annotation]]:
    """Annotation rows of each recording, the given ones first; those without events have none."""
    rows: dict[str, list[Annotation]] = {id: [] for id in (recordings.ids if recordings else ())}
    for row in to_annotations(events, intervals):
        rows.setdefault(row.recording, []).append(row)
    return rows


def duration_of(row: Annotation) -> Decimal:
    """End minus start in decimal arithmetic, so that `end_after` gives the end back."""
    assert row.end is not None
    return _EXACT.subtract(Decimal(repr(row.end)), Decimal(repr(row.start)))


def end_after(start: Decimal, duration: Decimal) -> float:
    """The end of an interval in decimal arithmetic.

    Examples
    --------
    >>> 0.1 + 0.2, end_after(Decimal("0.1"), Decimal("0.2"))
    (0.30000000000000004, 0.3)
    """
    return float(_EXACT.add(start, duration))
