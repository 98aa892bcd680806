"""Scores of the seizure community: by overlap of events and by sample, with false alarms per day.

Event scoring follows the SzCORE rules. Events of one recording that lie less than ``merge`` apart
become one; events longer than ``longest`` are split. Each true event is extended by ``before`` and
``after`` and is found if more than the share ``overlap`` of it (zero: any part) is detected. A
detected event that touches no found one is a false positive. Times are rounded to tenths of a
second. ``ANY_OVERLAP`` is the same without extension, merging and splitting.

Counts are summed over recordings before sensitivity, precision, F1 and the rate are taken.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Annotated, NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bdl.config import Value
from bdl.errors import InputError
from bdl.intervals import Intervals

Span = tuple[float, float]
_RATE = 10  # ticks a second
_MORE = 1e-6  # an overlap must exceed the asked share by this, against rounding


class EventRule(Value):
    """Parameters of event scoring, in seconds but for ``overlap`` (a share).

    >>> EventRule().merge
    90.0
    """

    before: Annotated[float, Field(ge=0)] = 30.0
    after: Annotated[float, Field(ge=0)] = 60.0
    overlap: Annotated[float, Field(ge=0, lt=1)] = 0.0
    longest: Annotated[float, Field(gt=0)] | None = 300.0
    merge: Annotated[float, Field(ge=0)] = 90.0


ANY_OVERLAP = EventRule(before=0.0, after=0.0, longest=None, merge=0.0)


class Overlap(NamedTuple):
    """Counts over all recordings, and the figures that follow from them."""

    hits: int
    truths: int
    false_positives: int
    seconds: float

    @property
    def sensitivity(self) -> float:
        """Share of truths that were found; NaN without truths."""
        return self.hits / self.truths if self.truths else float("nan")

    @property
    def precision(self) -> float:
        """Hits over hits and false positives; NaN without either."""
        total = self.hits + self.false_positives
        return self.hits / total if total else float("nan")

    @property
    def f1(self) -> float:
        """Harmonic mean of both; NaN without truths and false positives."""
        if self.truths + self.false_positives == 0:
            return float("nan")
        missed = self.truths - self.hits
        return 2 * self.hits / (2 * self.hits + self.false_positives + missed)

    @property
    def false_positives_per_day(self) -> float:
        """False positives per 24 hours of recording."""
        return self.false_positives / (self.seconds / 86400)


def event_overlap(
    truth: Intervals,
    detections: Intervals,
    durations: Mapping[str, float],
    rule: EventRule = EventRule(),  # noqa: B008  an immutable value
) -> Overlap:
    """Event scoring over the recordings in ``durations`` (seconds of each).

    >>> true = Intervals.of("a", "seizure", 100.0, 150.0)
    >>> found = Intervals.of("a", "seizure", [170.0, 900.0], [200.0, 950.0])
    >>> event_overlap(true, found, {"a": 3600.0})
    Overlap(hits=1, truths=1, false_positives=1, seconds=3600.0)
    >>> event_overlap(true, found, {"a": 3600.0}, ANY_OVERLAP).hits
    0
    """
    _check(truth, detections, durations)
    hits = truths = false = 0
    total = 0.0
    for name, duration in durations.items():
        ticks = round(duration * _RATE)
        true, found = (
            _split(_merge(_listed(part, name), rule.merge), rule.longest)
            for part in (truth, detections)
        )
        detected = _mask(found, ticks, _RATE)
        claimed = np.zeros(ticks, dtype=bool)
        for start, end in true:
            a, b = max(0.0, start - rule.before), min(ticks / _RATE, end + rule.after)
            place = slice(round(a * _RATE), round(b * _RATE))
            share = detected[place].sum() / _RATE / (b - a) if b > a else 0.0
            if share > rule.overlap + _MORE:
                hits += 1
                claimed[place] = True
        truths += len(true)
        false += sum(not claimed[round(a * _RATE) : round(b * _RATE)].any() for a, b in found)
        total += ticks / _RATE
    return Overlap(hits, truths, false, total)


def sample_overlap(
    truth: Intervals, detections: Intervals, durations: Mapping[str, float], *, rate: int = 1
) -> Overlap:
    """Sample scoring: every sample of ``rate`` Hz counts for itself.

    >>> true = Intervals.of("a", "seizure", 100.0, 150.0)
    >>> found = Intervals.of("a", "seizure", 120.0, 160.0)
    >>> sample_overlap(true, found, {"a": 3600.0})
    Overlap(hits=30, truths=50, false_positives=10, seconds=3600.0)
    """
    _check(truth, detections, durations)
    hits = truths = false = samples = 0
    for name, duration in durations.items():
        size = round(duration * rate)
        wanted = _mask(_listed(truth, name), size, rate)
        found = _mask(_listed(detections, name), size, rate)
        hits += int((wanted & found).sum())
        truths += int(wanted.sum())
        false += int((~wanted & found).sum())
        samples += size
    return Overlap(hits, truths, false, samples / rate)


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


def _mask(spans: Iterable[Span], size: int, rate: int) -> NDArray[np.bool_]:
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
