"""Scores of the seizure community: by overlap of events and by sample, with false alarms per day.

Event scoring follows the SzCORE rules. Events of one recording that are less than ``merge`` apart
become one; events longer than ``longest`` are split. Each true event is extended by ``before`` and
``after`` and is a hit if more than the share ``overlap`` of it (zero: any part) is detected. A
detected event that touches no hit is a false positive. Times are rounded to tenths of a second.
``ANY_OVERLAP`` is the same without extension, merging and splitting.

Counts are summed over recordings before sensitivity, precision, F1 and the rate are taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bdl.config import Value
from bdl.errors import InputError
from bdl.evaluation.estimate import plain
from bdl.evaluation.tally import Tally
from bdl.frames import Tabular
from bdl.intervals import Intervals
from bdl.table_plots import Drawing

Span = tuple[float, float]
_RATE = 10  # ticks per second
_MORE = 1e-6  # an overlap must exceed the asked share by this, against rounding


class EventRule(Value):
    """Parameters of event scoring."""

    # before, after: Seconds by which a true event is extended.
    before: Annotated[float, Field(ge=0)] = 30.0
    after: Annotated[float, Field(ge=0)] = 60.0
    # Share of a true event that must be exceeded by detections; zero: any overlap.
    overlap: Annotated[float, Field(ge=0, lt=1)] = 0.0
    # Seconds above which events are split; None never splits.
    longest: Annotated[float, Field(gt=0)] | None = 300.0
    merge: Annotated[float, Field(ge=0)] = 90.0  # seconds; events less than this apart are merged


ANY_OVERLAP = EventRule(before=0.0, after=0.0, longest=None, merge=0.0)


@dataclass(frozen=True)
class Overlap(Tally[float], Tabular):
    """Counts over all recordings; precision, recall and F1 follow from them."""

    drawing = Drawing("false_positives_per_day", "sensitivity", mode="markers")

    seconds: float  # recorded seconds

    @property
    def false_positives_per_day(self) -> float:
        """False positives per day of recording."""
        return self.false / (self.seconds / 86400)

    def to_dict(self) -> dict[str, float | None]:
        """Counts and rates as plain data, ready for JSON."""
        return {
            "hits": self.hits,
            "truths": self.truths,
            "false_positives": self.false,
            "sensitivity": plain(self.recall),
            "precision": plain(self.precision),
            "F1": plain(self.f1),
            "false_positives_per_day": plain(self.false_positives_per_day),
        }

    def columns(self) -> dict[str, list[float]]:
        """The columns of the table by name: the counts and rates in one row."""
        rates = self.to_dict().items()
        return {name: [np.nan if value is None else value] for name, value in rates}


def event_overlap(
    truth: Intervals,
    detections: Intervals,
    durations: Mapping[str, float],
    rule: EventRule = EventRule(),  # noqa: B008  an immutable value
) -> Overlap:
    """Event scoring of intervals of one type, over the recordings of these durations (seconds).

    Examples
    --------
    >>> true = Intervals.of("a", "seizure", 100.0, 150.0)
    >>> detected = Intervals.of("a", "seizure", [170.0, 900.0], [200.0, 950.0])
    >>> event_overlap(true, detected, {"a": 3600.0})
    Overlap(hits=1, detections=2, truths=1, seconds=3600.0)
    >>> event_overlap(true, detected, {"a": 3600.0}, ANY_OVERLAP).hits
    0
    """
    _check(truth, detections, durations)
    hits = truths = false = 0
    total = 0.0
    for name, duration in durations.items():
        ticks = round(duration * _RATE)
        true, detected = (
            _split(_merge(_listed(part, name), rule.merge), rule.longest)
            for part in (truth, detections)
        )
        covered = _mask(detected, ticks, _RATE)
        claimed = np.zeros(ticks, dtype=bool)
        for start, end in true:
            a, b = max(0.0, start - rule.before), min(ticks / _RATE, end + rule.after)
            place = slice(round(a * _RATE), round(b * _RATE))
            share = covered[place].sum() / _RATE / (b - a) if b > a else 0.0
            if share > rule.overlap + _MORE:
                hits += 1
                claimed[place] = True
        truths += len(true)
        false += sum(not claimed[round(a * _RATE) : round(b * _RATE)].any() for a, b in detected)
        total += ticks / _RATE
    return Overlap(hits, hits + false, truths, total)


def sample_overlap(
    truth: Intervals, detections: Intervals, durations: Mapping[str, float]
) -> Overlap:
    """Sample scoring, one sample per second: every sample counts for itself.

    Examples
    --------
    >>> true = Intervals.of("a", "seizure", 100.0, 150.0)
    >>> detected = Intervals.of("a", "seizure", 120.0, 160.0)
    >>> sample_overlap(true, detected, {"a": 3600.0})
    Overlap(hits=30, detections=40, truths=50, seconds=3600.0)
    """
    _check(truth, detections, durations)
    hits = truths = false = samples = 0
    for name, duration in durations.items():
        size = round(duration)
        annotated = _mask(_listed(truth, name), size)
        detected = _mask(_listed(detections, name), size)
        hits += int((annotated & detected).sum())
        truths += int(annotated.sum())
        false += int((~annotated & detected).sum())
        samples += size
    return Overlap(hits, hits + false, truths, float(samples))


def _listed(intervals: Intervals, name: str) -> list[Span]:
    return [(float(a), float(b)) for a, b in intervals.of_recording(name)]


def _merge(spans: Iterable[Span], gap: float) -> list[Span]:
    """Spans less than ``gap`` apart as one."""
    merged: list[Span] = []
    for start, end in spans:
        if merged and start - merged[-1][1] < gap:
            merged[-1] = (merged[-1][0], end)
        else:
            merged.append((start, end))
    return merged


def _split(spans: Iterable[Span], longest: float | None) -> list[Span]:
    """Spans cut into pieces of at most ``longest`` seconds."""
    if longest is None:
        return [*spans]
    pieces: list[Span] = []
    for start, end in spans:
        at = start
        while end - at > longest:
            pieces.append((at, at + longest))
            at += longest
        pieces.append((at, end))
    return pieces


def _mask(spans: Iterable[Span], size: int, rate: int = 1) -> NDArray[np.bool_]:
    mask = np.zeros(size, dtype=bool)
    for start, end in spans:
        mask[max(round(start * rate), 0) : max(round(end * rate), 0)] = True
    return mask


def _check(truth: Intervals, detections: Intervals, durations: Mapping[str, float]) -> None:
    for part, what in ((truth, "true"), (detections, "detected")):
        lacking = [name for name in part.recordings if name not in durations]
        if lacking:
            raise InputError(
                f"{what} intervals in {len(lacking)} recordings without a duration, such as "
                f"{lacking[0]!r}"
            )
