"""Rates on held-out recordings at each threshold, and the reliability of scores.

Detections are matched from the highest score down, so the counts down to a threshold are those of
the detections above it, and differences of them those of the detections between two thresholds.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bdl.config import Value
from bdl.errors import ConfigError
from bdl.evaluation import Matches
from bdl.evaluation.alarms import false_alarms
from bdl.evaluation.curves import is_allowed
from bdl.evaluation.tally import Tallies, Tally
from bdl.frames import Tabular
from bdl.intervals import IntervalType
from bdl.table_plots import Drawing

POINTS = 100
BANDS = 12


class ScoreBand(Value):
    """Held-out detections whose scores are in a band.

    Parameters
    ----------
    low, high
        Ends of the band, both inclusive.
    detections
        Number of detections.
    right
        Share of them that were right within each tolerance.
    """

    low: float
    high: float
    detections: int
    right: tuple[float, ...]


@dataclass(frozen=True)
class Reliability(Tabular):
    """What scores mean: bands of scores, highest first; made by `OperatingCurve.reliability`.

    Parameters
    ----------
    tolerances
        Tolerances in seconds.
    bands
        The bands.
    """

    tolerances: tuple[float, ...]
    bands: tuple[ScoreBand, ...]

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per band, one share per tolerance."""
        bands = self.bands
        return {
            "low": [band.low for band in bands],
            "high": [band.high for band in bands],
            "detections": [band.detections for band in bands],
            **{
                f"right within {tolerance:g} s": [band.right[k] for band in bands]
                for k, tolerance in enumerate(self.tolerances)
            },
        }

    def __len__(self) -> int:
        return len(self.bands)

    def __iter__(self) -> Iterator[ScoreBand]:
        return iter(self.bands)

    def __getitem__(self, place: int) -> ScoreBand:
        return self.bands[place]


class OperatingCurve(Tabular, Value):
    """Counts on held-out recordings down to each of some thresholds.

    Parameters
    ----------
    types, tolerances
        Event types, and tolerances in seconds.
    days
        Days of the held-out recordings.
    truths
        (types,) number of annotated events.
    thresholds
        (thresholds,) scores, falling.
    highest
        Highest score.
    detections
        (thresholds, types) detections of at least that score.
    hits
        (thresholds, types, tolerances) those of them that are right.
    alarms
        (thresholds,) false alarms within the largest tolerance, where the two ends of an interval
        are one (`bdl.evaluation.alarms`). None in files of older versions.

    Examples
    --------
    >>> from bdl.events import Events
    >>> from bdl.evaluation import match
    >>> detections = Events.of("a", "beat", [10.0, 15.0, 20.0], score=[0.9, 0.8, 0.7])
    >>> truth = Events.of("a", "beat", [10.0, 20.0])
    >>> curve = OperatingCurve.of(match(truth, detections, [1.0], durations={"a": 43200.0}))
    >>> curve.sensitivity().tolist(), curve.false_alarms_per_day().tolist()
    ([0.5, 0.5, 1.0], [0.0, 2.0, 2.0])
    """

    drawing: ClassVar[Drawing] = Drawing("threshold", "F1", mode="lines")

    types: tuple[str, ...]
    tolerances: tuple[float, ...]
    days: float
    truths: tuple[int, ...]
    thresholds: tuple[float, ...]
    highest: float
    detections: tuple[tuple[int, ...], ...]
    hits: tuple[tuple[tuple[int, ...], ...], ...]
    alarms: tuple[int, ...] | None = None

    @classmethod
    def of(cls, matches: Matches, *, including: Sequence[float] = ()) -> OperatingCurve | None:
        """The curve of matched detections; None without any.

        At most 100 thresholds are kept, more of the higher ones, and those of ``including``.
        """
        scores = np.unique(matches.score)[::-1]
        if not len(scores):
            return None
        shares = np.linspace(0, 1, POINTS) ** 2
        places = np.unique((shares * (len(scores) - 1)).round().astype(np.int64))
        thresholds = np.unique([*scores[places], *including])[::-1].tolist()
        tallies = [matches.tally(threshold) for threshold in thresholds]
        alarms = false_alarms(matches, thresholds, max(matches.tolerances)).sum(axis=1)
        return cls(
            types=matches.types,
            tolerances=matches.tolerances,
            days=float(matches.seconds.sum()) / 86400,
            truths=tuple(matches.truths.sum(axis=0).tolist()),
            thresholds=tuple(thresholds),
            highest=float(scores[0]),
            detections=tuple(tuple(tally.detections[:, 0].tolist()) for tally in tallies),
            hits=tuple(tuple(map(tuple, tally.hits.tolist())) for tally in tallies),
            alarms=tuple(alarms.tolist()),
        )

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per threshold, types together."""
        return {
            "threshold": [*self.thresholds],
            "detections": np.array(self.detections).sum(axis=1).tolist(),
            "sensitivity": self.sensitivity().tolist(),
            "F1": self.f1().tolist(),
        }

    def sensitivity(self) -> NDArray[np.float64]:
        """Share of events found within the largest tolerance, mean over types: (thresholds,)."""
        recall = self._tally().recall[:, :, self._widest]
        return np.asarray(recall.mean(axis=1), dtype=np.float64)

    def false_alarms_per_day(self, intervals: Sequence[IntervalType] = ()) -> NDArray[np.float64]:
        """False alarms per day within the largest tolerance: (thresholds,).

        Files of older versions have no ``alarms``. Of each of the given interval types, the end
        with more false detections is then counted.
        """
        if self.alarms is not None:
            return np.array(self.alarms) / self.days
        false = np.array(self.detections) - np.array(self.hits)[:, :, self._widest]
        partner = {interval.offset: interval.onset for interval in intervals}
        total = np.zeros(len(false))
        for name in dict.fromkeys(partner.get(name, name) for name in self.types):
            ends = [i for i, event in enumerate(self.types) if partner.get(event, event) == name]
            total += false[:, ends].max(axis=1)
        return total / self.days

    def f1(self) -> NDArray[np.float64]:
        """F1, mean over tolerances and the types that have events: (thresholds,)."""
        return np.asarray(self._tally().f1.mean(axis=(1, 2)), dtype=np.float64)

    def place(self, threshold: float) -> int:
        """Place of the lowest kept threshold that is not below a given one."""
        return max(int(np.sum(np.array(self.thresholds) >= threshold)) - 1, 0)

    def within_false_alarms(self, per_day: float, intervals: Sequence[IntervalType] = ()) -> float:
        """The lowest threshold with at most this many false alarms per day."""
        rates = self.false_alarms_per_day(intervals)
        allowed = np.flatnonzero(is_allowed(rates, per_day))
        if not len(allowed):
            raise ConfigError(
                f"--false-alarms-per-day {per_day:g}: the least at any threshold were "
                f"{rates.min():.3g} on held-out recordings; allow at least as many"
            )
        return self.thresholds[int(allowed[-1])]

    def reaching_sensitivity(self, share: float) -> float:
        """The highest threshold that found at least this share of the events."""
        reached = self.sensitivity()
        enough = np.flatnonzero(reached >= share - 1e-12)
        if not len(enough):
            raise ConfigError(
                f"--sensitivity {share:g}: all detections together found {reached.max():.3g} of "
                "the held-out events; ask for less, or take the whole ranking (--all)"
            )
        return self.thresholds[int(enough[0])]

    def reliability(self) -> Reliability:
        """What scores mean: how often detections with such scores were right, highest first.

        Bands have about a sixth as many detections as there are events, and at least 10, up to 12
        bands; the last one has the rest.
        """
        totals = np.array(self.detections).sum(axis=1)
        hits = np.array(self.hits).sum(axis=1)
        band_size = max(10, round(sum(self.truths) / 6))
        ends: list[int] = []
        for place, total in enumerate(totals):
            if len(ends) < BANDS - 1 and total - (totals[ends[-1]] if ends else 0) >= band_size:
                ends.append(place)
        if not ends or ends[-1] != len(totals) - 1:
            ends.append(len(totals) - 1)
        bands, high, counted = [], self.highest, 0
        right = np.zeros(len(self.tolerances))
        for end in ends:
            number = int(totals[end]) - counted
            if number > 0:
                shares = ((hits[end] - right) / number).tolist()
                low = self.thresholds[end]
                bands.append(ScoreBand(low=low, high=high, detections=number, right=tuple(shares)))
                high, counted, right = low, int(totals[end]), hits[end]
        return Reliability(self.tolerances, tuple(bands))

    @property
    def _widest(self) -> int:
        """Place of the largest tolerance."""
        return int(np.argmax(self.tolerances))

    def _tally(self) -> Tallies:
        """Counts by (threshold, type with events, tolerance)."""
        truths = np.array(self.truths)
        has_events = truths > 0
        return Tally(
            np.array(self.hits)[:, has_events],
            np.array(self.detections)[:, has_events, None],
            truths[has_events][None, :, None],
        )
