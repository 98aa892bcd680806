r"""The review queue of a model: where labels and densities contradict each other.

For each recording and event type, labels and the model's detections are paired one to one, first
within the tolerance, then, of what is left, within the reach; the higher score chooses first. Four
kinds of items result:

- *displaced*: a pair further apart than the tolerance;
- *unsupported*: a label without a partner where the model expects less than the threshold;
- *unlabelled*: a detection without a partner, of at least the threshold;
- *uncertain*: a detection without a partner whose score is at most the margin below the threshold.

The expected mass of an item estimates how likely it is that the labels are wrong there. With
:math:`\mu(t)` the mass of the density within the tolerance of :math:`t`, at most 1, it is
:math:`\mu` at the detection, and :math:`1 - \mu` at a label without a partner. Without densities of
kind ``events`` the scores, clipped to [0, 1], are used as the masses.

A model that was trained on the labels it judges has learned their errors. Use densities of models
that were trained on other recordings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from bdl.arrays import Flags, Floats
from bdl.decoding import default_decoder
from bdl.density import Density
from bdl.errors import ConfigError, InputError
from bdl.evaluation import Regions
from bdl.evaluation.assignment import assign
from bdl.events import Events
from bdl.recording import Recordings
from bdl.review.queue import Item, ReviewQueue


class _Candidates(NamedTuple):
    """Detections of one recording and type: times, scores, and masses around them."""

    time: Floats
    score: Floats
    mass: Floats


def review(
    labels: Events,
    *,
    densities: Iterable[Density] = (),
    detections: Events | None = None,
    tolerance: float,
    reach: float | None = None,
    threshold: float = 0.5,
    margin: float | None = None,
    recordings: Recordings | None = None,
) -> ReviewQueue:
    """Places where labels and a model contradict each other, the most likely errors first.

    Parameters
    ----------
    labels
        Annotated events.
    densities
        Densities of the model, one per recording. Labels of recordings without one are judged by
        detections, and not at all if there are none.
    detections
        Detections of the model; by default those of the densities of kind ``events``.
    tolerance
        Seconds within which label and model agree.
    reach
        Seconds within which they may mean the same event; five tolerances by default.
    threshold
        Score from which a detection counts.
    margin
        A detection whose score is at most this much below the threshold is uncertain; by default a
        fifth of the threshold.
    recordings
        The recordings, if only parts of them are annotated; the other parts are left out.

    Examples
    --------
    A label without mass, and mass without a label:

    >>> values = np.zeros((100, 1), np.float32)
    >>> values[[20, 60]] = 0.9
    >>> density = Density("a", values, ("beat",), 1.0, 1, 100)
    >>> queue = review(Events.of("a", "beat", [20.0, 40.0]), densities=[density], tolerance=2.0)
    >>> [(item.kind, item.time, round(item.expected, 2)) for item in queue]
    [('unsupported', 40.0, 1.0), ('unlabelled', 60.0, 0.9)]
    """
    if not tolerance > 0:
        raise ConfigError(f"tolerance: a positive number of seconds expected, got {tolerance:g}")
    reach = 5 * tolerance if reach is None else float(reach)
    margin = threshold / 5 if margin is None else float(margin)
    if not reach >= tolerance:
        raise ConfigError(f"reach {reach:g} must not be less than the tolerance {tolerance:g}")
    if detections is not None and detections.score is None:
        raise InputError("detections need a score; a column 'score' is missing")
    regions = None if recordings is None else Regions.annotated(recordings.infos)
    label_times = _by_recording_and_type(labels, regions)
    detected = {} if detections is None else _by_recording_and_type(detections, regions)
    items: list[Item] = []
    judged: set[str] = set()
    for density in densities:
        if density.kind != "events":
            if detections is None:
                raise ConfigError(
                    f"the density of recording {density.recording!r} is an occupancy, which has no "
                    "mass per event: give detections as well (--detections)"
                )
            continue
        judged.add(density.recording)
        for column, event in enumerate(density.types):
            place = (density.recording, event)
            times = label_times.get(place, _NONE)[0]
            total = _Mass(density, column, tolerance)
            if detections is None:
                time, score = _decoded(density, column, tolerance, regions)
            else:
                time, score = detected.get(place, _NONE)
            candidates = _Candidates(time, score, total.around(time))
            items += _compare(place, times, candidates, total, tolerance, reach, threshold, margin)
    if detections is not None:
        types = {event for _, event in detected}
        for place in sorted({*detected, *label_times}):
            if place[0] in judged or place[1] not in types:
                continue
            time, score = detected.get(place, _NONE)
            candidates = _Candidates(time, score, np.clip(score, 0.0, 1.0))
            times = label_times.get(place, _NONE)[0]
            items += _compare(place, times, candidates, None, tolerance, reach, threshold, margin)
    return ReviewQueue.of(items)


_NONE = (np.zeros(0), np.zeros(0))


class _Mass:
    """Mass of one column of a density within the tolerance of any time, at most 1."""

    def __init__(self, density: Density, column: int, tolerance: float) -> None:
        self._edges = (density.edges - 0.5) * density.period
        values = density.values[:, column].astype(np.float64)
        self._sums = np.concatenate([[0.0], np.cumsum(values)])
        self._tolerance = tolerance

    def around(self, times: Floats) -> Floats:
        later, earlier = (
            np.interp(times + sign * self._tolerance, self._edges, self._sums) for sign in (1, -1)
        )
        mass: Floats = np.clip(later - earlier, 0.0, 1.0)
        return mass


def _decoded(
    density: Density, column: int, tolerance: float, regions: Regions | None
) -> tuple[Floats, Floats]:
    """Times and scores of the density's own detections of one type, by time."""
    values = np.ascontiguousarray(density.values[:, [column]])
    single = replace(density, values=values, types=(density.types[column],))
    detected = default_decoder("events", tolerances=(tolerance,)).decode(single)
    place = (density.recording, density.types[column])
    time, score = _by_recording_and_type(detected, regions).get(place, _NONE)
    # Where the mass is that of several events, the decoder gives one time several times.
    first = np.unique(time, return_index=True)[1]
    return time[first], score[first]


def _by_recording_and_type(
    events: Events, regions: Regions | None
) -> dict[tuple[str, str], tuple[Floats, Floats]]:
    """Times and scores (1 where there are none) of each recording and type, by time."""
    keep = np.ones(len(events), dtype=bool)
    if regions is not None:
        keep = regions.holds(events.recordings, events.recording_code, events.time)
    rows = np.flatnonzero(keep)
    key = events.recording_code.astype(np.int64) * max(len(events.types), 1) + events.type_code
    order = rows[np.lexsort((events.time[rows], key[rows]))]
    score = np.ones(len(events)) if events.score is None else events.score
    cuts = np.flatnonzero(np.diff(key[order])) + 1
    parts: dict[tuple[str, str], tuple[Floats, Floats]] = {}
    for part in np.split(order, cuts) if len(order) else ():
        first = part[0]
        place = (
            events.recordings[events.recording_code[first]],
            events.types[events.type_code[first]],
        )
        parts[place] = (events.time[part], score[part])
    return parts


def _compare(
    place: tuple[str, str],
    labels: Floats,
    candidates: _Candidates,
    mass: _Mass | None,
    tolerance: float,
    reach: float,
    threshold: float,
    margin: float,
) -> Iterator[Item]:
    """Items of one recording and type."""
    near = np.flatnonzero(candidates.score >= threshold - margin)
    free_label = np.ones(len(labels), dtype=bool)
    free_detection = np.zeros(len(candidates.time), dtype=bool)
    free_detection[near] = True
    _pair(labels, candidates, free_label, free_detection, tolerance)
    strong = free_detection & (candidates.score >= threshold)
    weak = free_detection & ~strong
    for label, model in _pair(labels, candidates, free_label, strong, reach):
        at = float(candidates.time[model])
        yield Item("displaced", *place, float(labels[label]), at, float(candidates.mass[model]))
    for kind, chosen in (("unlabelled", strong), ("uncertain", weak)):
        for time, expected in zip(candidates.time[chosen], candidates.mass[chosen], strict=True):
            yield Item(kind, *place, None, float(time), float(expected))
    unpaired = labels[free_label]
    if mass is not None:
        # Labels closer together than the tolerance share the mass there: one event is one unit.
        inside = np.searchsorted(labels, unpaired + tolerance, side="left")
        neighbours = inside - np.searchsorted(labels, unpaired - tolerance, side="right") - 1
        support = np.clip(mass.around(unpaired) - neighbours, 0.0, 1.0)
    else:
        support = np.zeros(len(unpaired))
    nearest = _nearest(candidates, unpaired, reach)
    for time, expected, suggestion in zip(
        unpaired.tolist(), support.tolist(), nearest, strict=True
    ):
        if expected < threshold:
            yield Item("unsupported", *place, time, suggestion, 1.0 - expected)


def _pair(
    labels: Floats,
    candidates: _Candidates,
    free_label: Flags,
    free_detection: Flags,
    within: float,
) -> list[tuple[int, int]]:
    """Pair free labels and free detections; those that are paired are no longer free."""
    left, right = np.flatnonzero(free_label), np.flatnonzero(free_detection)
    order = right[np.lexsort((candidates.time[right], -candidates.score[right]))]
    count, row, event = assign(
        np.array([0, len(order)]),
        np.zeros(len(order), np.int32),
        candidates.time[order],
        1,
        np.array([0, len(left)]),
        labels[left],
        np.array([within]),
    )
    paired = slice(count[0, 0])
    pairs = [*zip(left[event[0, paired]].tolist(), order[row[0, paired]].tolist(), strict=True)]
    for label, model in pairs:
        free_label[label] = free_detection[model] = False
    return pairs


def _nearest(candidates: _Candidates, times: Floats, reach: float) -> list[float | None]:
    """Time of the detection nearest to each time, of any score, within the reach."""
    if not len(candidates.time):
        return [None] * len(times)
    after = np.minimum(np.searchsorted(candidates.time, times), len(candidates.time) - 1)
    before = np.maximum(after - 1, 0)
    closer = np.abs(candidates.time[after] - times) < np.abs(candidates.time[before] - times)
    chosen = np.where(closer, candidates.time[after], candidates.time[before])
    return [
        float(at) if abs(at - time) < reach else None
        for at, time in zip(chosen, times, strict=True)
    ]


def by_recording(queue: ReviewQueue) -> Mapping[str, tuple[int, float]]:
    """Number of items, and their expected mass, of each recording that has any."""
    sums: dict[str, tuple[int, float]] = {}
    for item in queue:
        count, mass = sums.get(item.recording, (0, 0.0))
        sums[item.recording] = (count + 1, mass + item.expected)
    return sums
