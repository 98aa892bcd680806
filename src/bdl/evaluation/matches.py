"""Kept matches: the statistics from which every score is read without matching again.

Detections stand in the order of `bdl.evaluation.ranking`: by type, then decreasing score, then
time. For each type and tolerance the hits are kept as (row of the detection, index of the truth)
in the order of rank. Recordings are never mixed by matching, so leaving out, repeating or pooling
recordings only reweights rows; and as the best-scored detections are matched first, a higher
cutoff only shortens the lists.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bdl.errors import ConfigError
from bdl.evaluation import precision
from bdl.evaluation.ranking import tie_ends

Ints = NDArray[np.int32]
Longs = NDArray[np.int64]
Floats = NDArray[np.float64]


class Curve(NamedTuple):
    """Precision and recall at each distinct score, highest first."""

    threshold: Floats
    precision: Floats
    recall: Floats


class BestF1(NamedTuple):
    """Best F1 on the curve and the score that reaches it, both (types, tolerances)."""

    f1: Floats
    threshold: Floats


@dataclass(frozen=True)
class LeftOut:
    """Rows that were not scored, and why."""

    truths_without_time: int = 0
    detections_without_time_or_score: int = 0
    detections_in_unknown_recordings: int = 0
    detections_of_unknown_types: int = 0
    detections_in_unscored_recordings: int = 0
    detections_outside_regions: int = 0
    truths_outside_regions: int = 0

    def __add__(self, other: LeftOut) -> LeftOut:
        pairs = {f.name: getattr(self, f.name) + getattr(other, f.name) for f in fields(self)}
        return LeftOut(**pairs)

    def told(self) -> list[str]:
        """One line for each reason that occurred.

        >>> LeftOut(detections_outside_regions=3).told()
        ['3 detections outside regions']
        """
        counts = ((f.name.replace("_", " "), getattr(self, f.name)) for f in fields(self))
        return [f"{count:,} {reason}" for reason, count in counts if count]


@dataclass(frozen=True, eq=False)
class Matches:
    """Kept matches of one set of detections; `bdl.evaluation.match` makes them.

    Parameters
    ----------
    recordings, types : names of what is scored.
    tolerances : seconds, in the order asked for.
    event_free : whether detections in recordings without truths were ignored or counted.
    start : (types + 1,) first detection of each type.
    recording, time, score : (n,) of the ranked detections; ``recording`` indexes ``recordings``.
    truth_start : (types * recordings + 1,) first truth of each type and recording.
    truth_time : (truths,) seconds, increasing within each type and recording.
    count : (types, tolerances) number of hits.
    row, truth : (tolerances, truths) detection and truth of each hit, by rank; the hits of type j
        begin at the first truth of type j.
    left_out : rows that were not scored.
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
    left_out: LeftOut = LeftOut()

    @cached_property
    def first_truth(self) -> Longs:
        """First truth of each type, and the end: (types + 1,)."""
        return np.ascontiguousarray(self.truth_start[:: len(self.recordings)])

    @cached_property
    def end(self) -> Ints:
        """For each detection the row after its run of equal scores: (n,)."""
        return tie_ends(self.start, self.score)

    @property
    def truths(self) -> Longs:
        """Number of truths by (recording, type)."""
        return np.diff(self.truth_start).reshape(len(self.types), len(self.recordings)).T

    @property
    def detections(self) -> Longs:
        """Number of detections by (recording, type)."""
        key = np.repeat(np.arange(len(self.types)), np.diff(self.start)) * len(self.recordings)
        counts = np.bincount(key + self.recording, minlength=len(self.types) * len(self.recordings))
        return counts.reshape(len(self.types), len(self.recordings)).T

    def hits(self, type: str, tolerance: float) -> tuple[Ints, Ints]:
        """Rows of the detections that hit, by rank, and the index of the truth of each."""
        j, k = self.type_index(type), self.tolerance_index(tolerance)
        place = slice(self.first_truth[j], self.first_truth[j] + self.count[j, k])
        return self.row[k, place], self.truth[k, place]

    def average_precision(self) -> Floats:
        """AP by (type, tolerance); NaN for a type without truths."""
        return precision.average_precision(*self._kept)

    def mean_average_precision(self) -> float:
        """Mean of AP over tolerances, then over the types that have truths."""
        return mean(self.average_precision())

    def best_f1(self) -> BestF1:
        """Best F1 by (type, tolerance), and its score threshold (NaN where nothing hits)."""
        f1, where = precision.best_f1(*self._kept)
        padded = np.append(self.score, np.nan)
        return BestF1(f1, padded[where])

    def mean_f1(self) -> float:
        """Mean over tolerances, then types, of the best F1 on the curve."""
        return mean(self.best_f1().f1)

    def f1(self, threshold: float) -> Floats:
        """F1 of the detections with at least this score, by (type, tolerance)."""
        cut = self.cuts([threshold])[0]
        truths = np.diff(self.first_truth)
        with np.errstate(invalid="ignore"):
            f1: Floats = (
                2 * self.hits_before(cut) / (cut - self.start[:-1] + truths)[:, None].astype(float)
            )
        f1[truths == 0] = np.nan
        return f1

    def curve(self, type: str, tolerance: float) -> Curve:
        """Precision and recall at each distinct score of one type and tolerance."""
        j = self.type_index(type)
        rows, _ = self.hits(type, tolerance)
        ends = np.unique(self.end[self.start[j] : self.start[j + 1]])
        hits = np.searchsorted(rows, ends)
        truths = self.first_truth[j + 1] - self.first_truth[j]
        recall = hits / truths if truths else np.full(len(ends), np.nan)
        return Curve(self.score[ends - 1], hits / (ends - self.start[j]), recall)

    def average_precision_above(self, cutoffs: Sequence[float]) -> Floats:
        """AP with only the detections of score >= cutoff: (cutoffs, types, tolerances).

        One matching serves all cutoffs.
        """
        return precision.average_precision_above(*self._kept, self.cuts(cutoffs))

    def mean_average_precision_above(self, cutoffs: Sequence[float]) -> Floats:
        """mAP with only the detections of score >= cutoff, for each cutoff."""
        return np.array([mean(ap) for ap in self.average_precision_above(cutoffs)])

    def above(self, cutoff: float) -> Matches:
        """The same matches with only the detections of score >= cutoff."""
        keep = self.score >= cutoff
        shift = np.append(0, np.cumsum(keep))
        rows = shift[self.row].astype(np.int32)
        return replace(
            self,
            start=shift[self.start],
            recording=self.recording[keep],
            time=self.time[keep],
            score=self.score[keep],
            count=self.hits_before(self.cuts([cutoff])[0]),
            row=rows,
        )

    def cuts(self, cutoffs: Sequence[float]) -> Longs:
        """First row of each type whose score lies below each cutoff: (cutoffs, types)."""
        bounds = zip(self.start[:-1], self.start[1:], strict=True)
        wanted = -np.asarray(cutoffs, dtype=np.float64)
        found = [a + np.searchsorted(-self.score[a:b], wanted, side="right") for a, b in bounds]
        return np.stack(found, axis=1).astype(np.int64)

    def hits_before(self, cut: Longs) -> Longs:
        """Number of hits by (type, tolerance) among the rows before ``cut`` (types,)."""
        out = np.zeros_like(self.count)
        for j in range(len(self.types)):
            for k in range(len(self.tolerances)):
                first = self.first_truth[j]
                rows = self.row[k, first : first + self.count[j, k]]
                out[j, k] = np.searchsorted(rows, cut[j])
        return out

    def type_index(self, type: str) -> int:
        """Place of an event type."""
        if type not in self.types:
            raise ConfigError(f"event type {type!r} is not among the scored ones {self.types}")
        return self.types.index(type)

    def tolerance_index(self, tolerance: float) -> int:
        """Place of a tolerance, to nine digits: 0.3 also finds 3 * 0.1."""
        for k, known in enumerate(self.tolerances):
            if abs(known - tolerance) <= 1e-9 * known:
                return k
        raise ConfigError(f"tolerance {tolerance:g} was not matched; {self.tolerances} were")

    @property
    def _kept(self) -> tuple[Longs, Ints, Longs, Longs, Ints]:
        return self.start, self.end, self.first_truth, self.count, self.row

    @classmethod
    def pool(cls, parts: Iterable[Matches]) -> Matches:
        """The matches of several folds as one: detections ranked together, nothing matched again.

        The parts must have different recordings and the same types, tolerances and rule for
        event-free recordings.
        """
        from bdl.evaluation.pooling import pool  # the one place that builds Matches from Matches

        return pool(list(parts))


def mean(table: Floats) -> float:
    """Mean over tolerances, then over the types whose row is not NaN.

    >>> mean(np.array([[0.5, 1.0], [np.nan, np.nan]]))
    0.75
    """
    rows = table.mean(axis=1)
    known = rows[~np.isnan(rows)]
    return float(known.mean()) if len(known) else float("nan")
