r"""Matches: the statistics from which every score is read without matching again.

Detections are in the order of `bdl.evaluation.ranking`: by type, then decreasing score, then time.
For each type and tolerance the hits are kept as (row of the detection, index of the event) in the
order of rank. Recordings are never mixed by matching, so leaving out or repeating recordings only
reweights rows; and as the best-scored detections are matched first, a higher threshold only
shortens the lists.

Precision and recall are read only at distinct scores: detections of equal score enter together.
With :math:`P_n` and :math:`R_n` after the n-th distinct score,

.. math:: \mathrm{AP} = \sum_n (R_n - R_{n-1}) P_n, \qquad
          F_1 = \max_n \frac{2\,\mathrm{hits}_n}{\mathrm{detections}_n + \mathrm{truths}}.

A type without events has no recall and therefore NaN for both.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from bdl.arrays import Floats, Ints, Longs
from bdl.errors import ConfigError
from bdl.evaluation import replicates
from bdl.evaluation.curves import BestThreshold, PrecisionRecall, mean
from bdl.evaluation.left_out import LeftOut
from bdl.evaluation.ranking import tie_ends
from bdl.evaluation.rounding import find_tolerance, is_nearer
from bdl.evaluation.tally import Tallies, Tally
from bdl.intervals import IntervalType


@dataclass(frozen=True, eq=False)
class Matches:
    """Matches of one set of detections, made by `bdl.evaluation.match`.

    Parameters
    ----------
    recordings, types
        Names of what is scored.
    tolerances
        Seconds, in the order given.
    event_free
        Whether detections in recordings without events were ignored or counted.
    start
        (types + 1,) first detection of each type.
    recording, time, score
        (n,) of the ranked detections; ``recording`` is an index into ``recordings``.
    truth_start
        (types * recordings + 1,) first event of each type and recording.
    truth_time
        (events,) seconds, increasing within each type and recording.
    count
        (types, tolerances) number of hits.
    row, truth
        (tolerances, events) detection and event of each hit, by rank; the hits of type j begin at
        the first event of type j.
    left_out
        Rows that were not scored.
    durations
        Scored seconds of each recording, needed for false alarms per day only.
    ranked
        Whether detections have scores; without them there is no average precision.
    intervals
        Interval types whose two ends are one alarm.
    issued
        (n,) seconds at which the ranked detections were issued; None where that is not known.
    """

    recordings: tuple[str, ...]
    types: tuple[str, ...]
    tolerances: tuple[float, ...]
    event_free: str
    start: Longs = field(repr=False)
    recording: Ints = field(repr=False)
    time: Floats = field(repr=False)
    score: Floats = field(repr=False)
    truth_start: Longs = field(repr=False)
    truth_time: Floats = field(repr=False)
    count: Longs = field(repr=False)
    row: Ints = field(repr=False)
    truth: Ints = field(repr=False)
    left_out: LeftOut = field(default_factory=LeftOut)
    durations: Mapping[str, float] | None = field(default=None, repr=False)
    ranked: bool = True
    intervals: tuple[IntervalType, ...] = ()
    issued: Floats | None = field(default=None, repr=False)

    @cached_property
    def first_truth(self) -> Longs:
        """First event of each type, and the end: (types + 1,)."""
        return np.ascontiguousarray(self.truth_start[:: len(self.recordings)])

    @cached_property
    def end(self) -> Ints:
        """For each detection the row after its run of equal scores: (n,)."""
        return tie_ends(self.start, self.score)

    @property
    def truths(self) -> Longs:
        """Number of annotated events by (recording, type)."""
        return np.diff(self.truth_start).reshape(len(self.types), len(self.recordings)).T

    @property
    def detections(self) -> Longs:
        """Number of detections by (recording, type)."""
        key = np.repeat(np.arange(len(self.types)), np.diff(self.start)) * len(self.recordings)
        counts = np.bincount(key + self.recording, minlength=len(self.types) * len(self.recordings))
        return counts.reshape(len(self.types), len(self.recordings)).T

    @property
    def undetected(self) -> tuple[str, ...]:
        """Recordings with events but without any detection."""
        alone = (self.truths.sum(axis=1) > 0) & (self.detections.sum(axis=1) == 0)
        return tuple(self.recordings[i] for i in np.flatnonzero(alone))

    @property
    def seconds(self) -> Floats:
        """Scored seconds of each recording, (recordings,); an error where one is unknown."""
        if self.durations is None:
            raise ConfigError(
                "false alarms per day need the duration of every scored recording in seconds: "
                "give durations (--recordings on the command line)"
            )
        lacking = [name for name in self.recordings if name not in self.durations]
        if lacking:
            raise ConfigError(
                f"durations of {len(lacking)} scored recordings are missing, such as {lacking[0]!r}"
            )
        return np.array([self.durations[name] for name in self.recordings], dtype=np.float64)

    def hits(
        self, type: str, tolerance: float, threshold: float | None = None
    ) -> tuple[Ints, Ints]:
        """Rows of the detections that hit, by rank, and the index of the event of each.

        With a threshold, only those of at least this score.
        """
        rows, truths = self._hits(self.type_index(type), self.tolerance_index(tolerance))
        if threshold is None:
            return rows, truths
        counted = self.score[rows] >= threshold
        return rows[counted], truths[counted]

    def _hits(self, j: int, k: int) -> tuple[Ints, Ints]:
        place = slice(self.first_truth[j], self.first_truth[j] + self.count[j, k])
        return self.row[k, place], self.truth[k, place]

    def _tally(self, j: int, ends: Ints, hits: Longs) -> Tallies:
        truths = np.full(len(ends), self.first_truth[j + 1] - self.first_truth[j])
        return Tally(hits, ends - self.start[j], truths)

    @cached_property
    def _average_precision(self) -> Floats:
        if not self.ranked:
            return np.full(self.count.shape, np.nan)
        table: Floats = replicates.average_precision(self, np.ones((1, len(self.recordings))))[0]
        return table

    def average_precision(self) -> Floats:
        """AP by (type, tolerance); NaN for a type without events, or without scores."""
        return self._average_precision.copy()

    def mean_average_precision(self) -> float:
        """Mean of AP over tolerances, then over the types that have events."""
        return mean(self._average_precision)

    @cached_property
    def _f1(self) -> Floats:
        table: Floats = replicates.best_f1(self, np.ones((1, len(self.recordings))))[0]
        return table

    @cached_property
    def _best_threshold(self) -> Floats:
        threshold = np.full(self._f1.shape, np.nan)
        for j, k in zip(*np.nonzero(self._f1 > 0), strict=True):
            rows, _ = self._hits(j, k)
            tally = self._tally(j, self.end[rows], np.searchsorted(rows, self.end[rows]))
            threshold[j, k] = self.score[rows[np.argmax(tally.f1)]]
        return threshold

    def best_f1(self) -> BestThreshold:
        """Best F1 by (type, tolerance), and the highest threshold that has it (NaN: no hits)."""
        return BestThreshold(self._f1.copy(), self._best_threshold.copy())

    def mean_f1(self) -> float:
        """Mean over tolerances, then types, of the best F1."""
        return mean(self._f1)

    def curve(self, type: str, tolerance: float) -> PrecisionRecall:
        """Precision and recall at each distinct score of one type and tolerance."""
        threshold, tally = self.tallies(type, tolerance)
        return PrecisionRecall(threshold, tally.precision, tally.recall)

    def tallies(self, type: str, tolerance: float) -> tuple[Floats, Tallies]:
        """Each distinct score of one type, highest first, and the counts down to it."""
        j = self.type_index(type)
        rows, _ = self.hits(type, tolerance)
        ends = np.unique(self.end[self.start[j] : self.start[j + 1]])
        return self.score[ends - 1], self._tally(j, ends, np.searchsorted(rows, ends))

    def tally(self, threshold: float) -> Tallies:
        """Counts of the detections with at least this score, by (type, tolerance)."""
        cut = self.cuts([threshold])[0]
        shape = self.count.shape
        return Tally(
            self.hits_before(cut),
            np.broadcast_to((cut - self.start[:-1])[:, None], shape),
            np.broadcast_to(np.diff(self.first_truth)[:, None], shape),
        )

    def above(self, threshold: float) -> Matches:
        """The same matches with only the detections of at least this score."""
        chosen = self.score >= threshold
        shift = np.append(0, np.cumsum(chosen))
        return replace(
            self,
            start=shift[self.start],
            recording=self.recording[chosen],
            time=self.time[chosen],
            score=self.score[chosen],
            issued=None if self.issued is None else self.issued[chosen],
            count=self.hits_before(self.cuts([threshold])[0]),
            row=shift[self.row].astype(np.int32),
        )

    def hit_errors(self, rows: Ints, truths: Ints) -> Floats:
        """Seconds from events to the detections in some rows: positive is late."""
        return self.time[rows] - self.truth_time[truths]

    def hit_delays(self, rows: Ints, truths: Ints) -> Floats:
        """Seconds from events to the times at which the detections in some rows were issued."""
        if self.issued is None:
            raise ConfigError(
                "delays need the time at which each detection was issued: a column 'issued' is "
                "missing; `bdl live`, and `bdl detect` of a model with a lag, write it"
            )
        return self.issued[rows] - self.truth_time[truths]

    def within(self, delay: float) -> Matches:
        """The same matches with only the hits that were issued at most ``delay`` s after the event.

        The other hits become false detections, and their events are missed.

        Examples
        --------
        >>> from bdl.evaluation import match
        >>> from bdl.events import Events
        >>> detections = Events.of("a", "beat", [10.0, 20.0], score=[0.9, 0.8], issued=[14.0, 50.0])
        >>> matches = match(Events.of("a", "beat", [10.0, 20.0]), detections, [5.0])
        >>> matches.within(4.0).mean_average_precision()
        0.5
        """
        count, row, truth = self.count.copy(), self.row.copy(), self.truth.copy()
        for j, k in np.ndindex(count.shape):
            rows, truths = self._hits(j, k)
            late = is_nearer(delay, self.hit_delays(rows, truths), self.truth_time[truths])
            first, left = int(self.first_truth[j]), int((~late).sum())
            row[k, first : first + left] = rows[~late]
            truth[k, first : first + left] = truths[~late]
            count[j, k] = left
        return replace(self, count=count, row=row, truth=truth)

    def cuts(self, thresholds: Sequence[float]) -> Longs:
        """First row of each type whose score is below each threshold: (thresholds, types)."""
        bounds = zip(self.start[:-1], self.start[1:], strict=True)
        limits = -np.asarray(thresholds, dtype=np.float64)
        rows = [a + np.searchsorted(-self.score[a:b], limits, side="right") for a, b in bounds]
        return np.stack(rows, axis=1).astype(np.int64)

    def hits_before(self, cut: Longs) -> Longs:
        """Number of hits by (type, tolerance) among the rows before ``cut`` (types,)."""
        counts = np.zeros_like(self.count)
        for j, k in np.ndindex(counts.shape):
            counts[j, k] = np.searchsorted(self._hits(j, k)[0], cut[j])
        return counts

    def type_index(self, type: str) -> int:
        """Place of an event type."""
        if type not in self.types:
            raise ConfigError(
                f"event type {type!r} is not among the scored ones, {', '.join(self.types)}"
            )
        return self.types.index(type)

    def tolerance_index(self, tolerance: float) -> int:
        """Place of a tolerance, to nine digits: 0.3 also finds 3 * 0.1."""
        place = find_tolerance(self.tolerances, tolerance)
        if place is None:
            matched = ", ".join(f"{known:g}" for known in self.tolerances)
            raise ConfigError(
                f"tolerance {tolerance:g} was not matched, only {matched}: add --tolerance "
                f"{tolerance:g}"
            )
        return place
