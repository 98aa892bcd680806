"""Matching detections to annotated events by the rules of the sleep benchmark, exactly.

Detections are taken by decreasing score; each takes the nearest event of its recording and event
type that is still free and whose distance is *strictly less* than the tolerance; of two equally
near, the earlier. Equal scores within a recording and type are taken in order of time, then of
input. Two annotated events at the same time are two events. Times and tolerances are in one unit,
seconds or steps.

Which recordings are scored: those with at least one event (``event_free="ignore"``, the
benchmark's rule), or all known recordings, where detections in recordings without events are
false alarms (``event_free="count"``, for screening). Known are the names in ``recordings`` or
else in the table of annotated events; a row without a time makes its recording known too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, TypedDict, Unpack

import numpy as np

from bdl.arrays import Ints
from bdl.errors import ConfigError, InputError, some
from bdl.evaluation.assignment import assign
from bdl.evaluation.left_out import LeftOut
from bdl.evaluation.matches import Matches
from bdl.evaluation.ranking import arrange, rank
from bdl.evaluation.regions import Regions
from bdl.events import Events
from bdl.intervals import IntervalType, likely_intervals

EventFree = Literal["ignore", "count"]
Unknown = Literal["error", "ignore", "event-free"]


class MatchingRules(TypedDict, total=False):
    """What is scored: keyword arguments of `match`, `Matcher`, `score` and `compare`.

    Parameters
    ----------
    types
        Event types to score, by default all in the table of annotated events.
    event_free
        Recordings without events are left out (``ignore``, the default), or their detections are
        false alarms (``count``).
    recordings
        Recordings to score, by default those named in the table of annotated events.
    regions
        Parts of recordings outside which neither events nor detections count.
    unknown
        What to do with detections in recordings or of types that are not named: raise an error
        (``error``, the default), leave them out (``ignore``), or (recordings only) take the
        recordings as event-free ones (``event-free``).
    durations
        Scored seconds of each recording, for false alarms per day; by default those of the
        regions. Empty: they are not known.
    intervals
        Interval types whose two ends count as one false alarm; by default those that the names of
        the event types suggest, such as onset and offset.
    """

    types: Sequence[str] | None
    event_free: EventFree
    recordings: Iterable[str] | None
    regions: Regions | None
    unknown: Unknown
    durations: Mapping[str, float] | None
    intervals: Sequence[IntervalType] | None


def match(
    truth: Events, detections: Events, tolerances: Sequence[float], **rules: Unpack[MatchingRules]
) -> Matches:
    """Match detections to annotated events at every tolerance.

    Parameters
    ----------
    truth
        Annotated events.
    detections
        Events with scores; without scores they can be counted, but have no average precision.
    tolerances
        Seconds, positive and distinct; a hit is *strictly* nearer.
    **rules
        What is scored, see `MatchingRules`.

    Returns
    -------
    Matches
        What every score is read from.

    Examples
    --------
    The nearest event is taken, and each event is taken once:

    >>> truth = Events.of("a", "beat", [10.0, 20.0])
    >>> detections = Events.of("a", "beat", [11.0, 12.0, 19.0], score=[0.9, 0.8, 0.7])
    >>> match(truth, detections, [5.0]).average_precision()
    array([[0.83333333]])
    """
    if rules.get("unknown") == "event-free":
        rules["recordings"] = all_recordings(truth, [detections], rules)
    return Matcher(truth, tolerances, **rules).match(detections)


def all_recordings(truth: Events, tables: Iterable[Events], rules: MatchingRules) -> set[str]:
    """Recordings to score where those that only the tables name are taken as event-free."""
    recordings = rules.get("recordings")
    named = set(truth.recordings if recordings is None else recordings)
    for table in tables:
        named.update(table.recordings[code] for code in np.unique(table.recording_code))
    return named


class Matcher:
    """Annotated events, prepared once, for scoring many sets of detections.

    The parameters are those of `match`.

    Examples
    --------
    >>> matcher = Matcher(Events.of("a", "beat", [10.0]), [5.0])
    >>> tables = [Events.of("a", "beat", [time], score=[1.0]) for time in (9.0, 15.0)]
    >>> [matcher.match(detections).mean_average_precision() for detections in tables]
    [1.0, 0.0]
    """

    def __init__(
        self,
        truth: Events,
        tolerances: Sequence[float],
        *,
        types: Sequence[str] | None = None,
        event_free: EventFree = "ignore",
        recordings: Iterable[str] | None = None,
        regions: Regions | None = None,
        unknown: Unknown = "error",
        durations: Mapping[str, float] | None = None,
        intervals: Sequence[IntervalType] | None = None,
    ) -> None:
        self.tolerances = check_tolerances(tolerances)
        if event_free not in ("ignore", "count"):
            raise ConfigError(f"event_free: 'ignore' or 'count' expected, got {event_free!r}")
        self.types = truth.types if types is None else tuple(types)
        if len(set(self.types)) != len(self.types):
            raise ConfigError(f"event types repeat: {self.types}")
        self.intervals = likely_intervals(self.types) if intervals is None else tuple(intervals)
        self.event_free = event_free
        self.regions = regions
        self.unknown = unknown
        self.durations = regions.durations if durations is None and regions else durations or None
        universe = set(truth.recordings if recordings is None else recordings)
        self.known = universe.union(truth.recordings)
        self.skipped_types = {*truth.types} - {*self.types}
        scored = tuple(sorted(universe if regions is None else universe & set(regions.spans)))
        code = _translate(truth.recordings, scored)[truth.recording_code]
        kind = _translate(truth.types, self.types)[truth.type_code]
        counted = (code >= 0) & (kind >= 0)
        truths = int(counted.sum())
        if regions is not None:
            counted &= regions.holds(scored, code, truth.time)
        self.truths_outside = truths - int(counted.sum())
        self.truths_without_time = truth.dropped
        code, kind, time = code[counted], kind[counted], truth.time[counted]
        if not len(time):
            raise InputError(
                f"no events at all: {len(truth)} rows in the table of annotated events"
                + (f", {truth.dropped} more without a time" if truth.dropped else "")
                + ", none of them in the scored recordings (--recordings), regions (--regions) "
                f"and types (--type: {', '.join(self.types)}; the table has "
                f"{', '.join(truth.types)}); without events there is no recall"
            )
        if event_free == "ignore":
            used = np.zeros(len(scored), dtype=bool)
            used[code] = True
            code = (np.cumsum(used) - 1)[code].astype(np.int32)
            scored = tuple(name for name, kept in zip(scored, used, strict=True) if kept)
        self.recordings = scored
        group = kind.astype(np.int64) * len(scored) + code
        self.truth_start, self.truth_time = arrange(group, time, len(scored) * len(self.types))

    def match(self, detections: Events) -> Matches:
        """Match one set of detections."""
        score = np.ones(len(detections)) if detections.score is None else detections.score
        kind_of = _translate(detections.types, self.types)
        code_of = _translate(detections.recordings, self.recordings)
        unknown_counts = self._unknown_counts(detections)
        code = code_of[detections.recording_code]
        kind = kind_of[detections.type_code]
        outside = 0
        if self.regions is not None:
            inside = self.regions.holds(self.recordings, code, detections.time)
            outside = int(((code >= 0) & (kind >= 0) & ~inside).sum())
            code = np.where(inside, code, np.int32(-1))
        order, start = rank(code, kind, detections.time, score, len(self.types))
        skipped = np.array([name in self.skipped_types for name in detections.types], dtype=bool)
        other_types = 0
        if skipped.any():
            scored = code_of[detections.recording_code] >= 0
            other_types = int((scored & skipped[detections.type_code]).sum())
        lost = len(code) - len(order) - outside - sum(unknown_counts) - other_types
        recording, time = code[order], detections.time[order]
        count, row, truth = assign(
            start,
            recording,
            time,
            len(self.recordings),
            self.truth_start,
            self.truth_time,
            np.array(self.tolerances),
        )
        return Matches(
            recordings=self.recordings,
            types=self.types,
            tolerances=self.tolerances,
            event_free=self.event_free,
            start=start,
            recording=recording,
            time=time,
            score=score[order],
            truth_start=self.truth_start,
            truth_time=self.truth_time,
            count=count,
            row=row,
            truth=truth,
            durations=self.durations,
            ranked=detections.score is not None,
            intervals=self.intervals,
            issued=None if detections.issued is None else detections.issued[order],
            left_out=LeftOut(
                truths_without_time=self.truths_without_time,
                detections_without_time_or_score=detections.dropped,
                detections_in_unknown_recordings=unknown_counts[0],
                detections_of_unknown_types=unknown_counts[1],
                detections_of_unscored_types=other_types,
                detections_in_unscored_recordings=lost,
                detections_outside_regions=outside,
                truths_outside_regions=self.truths_outside,
            ),
        )

    def _unknown_counts(self, detections: Events) -> tuple[int, int]:
        """Number of detections in unknown recordings, and of unknown types in known ones."""
        unknown_ids = np.array([id not in self.known for id in detections.recordings], dtype=bool)
        known_types = {*self.types} | self.skipped_types
        unknown_types = np.array([name not in known_types for name in detections.types], dtype=bool)
        if not (unknown_ids.any() or unknown_types.any()):
            return 0, 0
        in_unknown = unknown_ids[detections.recording_code]
        of_unknown = unknown_types[detections.type_code] & ~in_unknown
        if self.unknown != "ignore":
            _refuse(
                detections.recordings,
                detections.recording_code[in_unknown],
                "recordings",
                "name all scored recordings (--recordings), take them as event-free "
                "(--event-free count), or ignore them (--unknown ignore)",
            )
            _refuse(
                detections.types,
                detections.type_code[of_unknown],
                "event types",
                "name the scored types (--type), the ends of intervals (--interval "
                "NAME=ONSET,OFFSET), or ignore the others (--unknown ignore)",
            )
        return int(in_unknown.sum()), int(of_unknown.sum())


def _refuse(names: tuple[str, ...], codes: Ints, what: str, advice: str) -> None:
    """Raise an error if there are detections whose recordings or types are not known."""
    unknown = [names[code] for code in np.unique(codes)]
    if unknown:
        raise InputError(
            f"{len(codes):,} detections in {len(unknown)} {what} that the table of annotated "
            f"events does not name: {some(map(repr, unknown))}; {advice}"
        )


def check_tolerances(tolerances: Sequence[float]) -> tuple[float, ...]:
    """Tolerances as floats; they must be positive, finite and distinct."""
    checked = tuple(float(tolerance) for tolerance in tolerances)
    if not checked:
        raise ConfigError("at least one tolerance expected, got none")
    for tolerance in checked:
        if not (np.isfinite(tolerance) and tolerance > 0):
            raise ConfigError(
                f"tolerances must be positive numbers, got {tolerance:g}: a hit is strictly "
                "nearer than its tolerance"
            )
        if checked.count(tolerance) > 1:
            raise ConfigError(f"tolerances must be distinct, got {tolerance:g} twice")
    return checked


def _translate(names: tuple[str, ...], into: tuple[str, ...]) -> Ints:
    """Code of each name among ``into``, -1 where it is missing."""
    if names == into:
        return np.arange(len(names), dtype=np.int32)
    place = {name: code for code, name in enumerate(into)}
    return np.array([place.get(name, -1) for name in names], dtype=np.int32)
