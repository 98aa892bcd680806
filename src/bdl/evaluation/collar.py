"""F-measure with a collar, as sound event detection and music onset detection use it.

An event and a detection can be paired if they are *at most* the collar apart, up to rounding
(`bdl.evaluation.rounding`); the pairing is the
largest possible one (not the greedy one of event AP, and scores matter only for the threshold).
For intervals both ends must agree: the onset within its collar, the offset within the larger of its
collar and a share of the true length. Counts are pooled over recordings, per type.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from bdl.arrays import Flags
from bdl.errors import ConfigError
from bdl.evaluation.largest_pairs import largest_pairs
from bdl.evaluation.rounding import is_nearer
from bdl.evaluation.tally import Tally
from bdl.events import Events
from bdl.frames import Tabular
from bdl.intervals import Intervals
from bdl.table_plots import Drawing


class CollarScores(dict[str, Tally[float]], Tabular):
    """Counts and F-measure by event type, as a dictionary and as a table.

    Examples
    --------
    >>> CollarScores({"onset": Tally(2, 3, 2)}).to_polars()["F1"].to_list()
    [0.8]
    """

    drawing = Drawing("event", "F1", mode="markers")

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per event type."""
        return {
            "event": [*self],
            "detections": [tally.detections for tally in self.values()],
            "truths": [tally.truths for tally in self.values()],
            "hits": [tally.hits for tally in self.values()],
            "precision": [tally.precision for tally in self.values()],
            "recall": [tally.recall for tally in self.values()],
            "F1": [tally.f1 for tally in self.values()],
        }


def collar_f(
    truth: Events, detections: Events, collar: float, *, threshold: float = -math.inf
) -> CollarScores:
    """F-measure of event times, by type; a pair may be exactly ``collar`` seconds apart.

    Examples
    --------
    >>> truth = Events.of("a", "onset", [10.0, 11.0])
    >>> detections = Events.of("a", "onset", [10.5, 11.5, 30.0], score=[0.9, 0.8, 0.7])
    >>> tally = collar_f(truth, detections, 0.5)["onset"]
    >>> tally.hits, tally.f1
    (2, 0.8)
    """
    _check(collar)
    detections = detections.above(threshold)
    recordings = sorted({*truth.recordings, *detections.recordings})
    tallies = CollarScores()
    for kind in sorted({*truth.event, *detections.event}):
        hits = truths = detected = 0
        for recording in recordings:
            true, times = truth.times(recording, kind), detections.times(recording, kind)
            hits += len(largest_pairs(true, times, collar, inclusive=True)[0])
            truths += len(true)
            detected += len(times)
        tallies[kind] = Tally(hits, detected, truths)
    return tallies


def interval_collar_f(
    truth: Intervals, detections: Intervals, *, collar: float, offset_share: float = 0.0
) -> Tally[float]:
    """F-measure of intervals of one type whose onset and offset must both agree.

    Both may be ``collar`` seconds apart, offsets also ``offset_share`` of the true length.

    Examples
    --------
    >>> true = Intervals.of("a", "voice", 0.0, 10.0)
    >>> detected = Intervals.of("a", "voice", 0.5, 12.0)
    >>> interval_collar_f(true, detected, collar=1.0).hits
    0
    >>> interval_collar_f(true, detected, collar=1.0, offset_share=0.2).hits
    1
    """
    _check(collar)
    if offset_share < 0:
        raise ConfigError(f"offset_share (--offset-share): 0 or more expected, got {offset_share}")
    hits = 0
    for recording in {*truth.recordings} & {*detections.recordings}:
        true, spans = truth.of_recording(recording), detections.of_recording(recording)
        starts = ~is_nearer(collar, np.abs(true[:, None, 0] - spans[None, :, 0]), spans[:, 0])
        allowed = np.maximum(collar, offset_share * (true[:, 1] - true[:, 0]))[:, None]
        ends = ~is_nearer(allowed, np.abs(true[:, None, 1] - spans[None, :, 1]), spans[:, 1])
        hits += largest_matching(starts & ends)
    return Tally(hits, len(detections), len(truth))


def largest_matching(allowed: Flags) -> int:
    """Most pairs of a row and a column that are allowed, each row and column used once.

    Each row in turn gets a free column; where there is none, others move along an augmenting path.

    Examples
    --------
    >>> largest_matching(np.array([[True, True], [True, False]]))
    2
    """
    column_of: dict[int, int] = {}
    row_of: dict[int, int] = {}
    for start in range(len(allowed)):
        reached: dict[int, int] = {}  # column: the row from which it was reached
        left, free = [start], -1
        while left and free < 0:
            row = left.pop()
            for column in np.flatnonzero(allowed[row]).tolist():
                if column not in reached:
                    reached[column] = row
                    if column not in row_of:
                        free = column
                        break
                    left.append(row_of[column])
        while free >= 0:
            row = reached[free]
            before = column_of.get(row, -1)
            column_of[row], row_of[free] = free, row
            free = before
    return len(column_of)


def _check(collar: float) -> None:
    if not (math.isfinite(collar) and collar > 0):
        raise ConfigError(f"collar (--collar): a positive number of seconds expected, got {collar}")
