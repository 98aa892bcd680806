"""Error table: kinds of errors, and in which recordings they are concentrated.

For one tolerance and the detections above a threshold, every event and every detection has exactly
one kind:

- hit: matched within the tolerance;
- duplicate: a further detection within the tolerance of an event that another one has taken;
- early, late: beyond the tolerance but within three tolerances (``reach``) of an event that no
  detection has hit; each such event takes one detection, by the rules of matching;
- missed: any other event;
- false: any other detection.

So truths = hit + early + late + missed and detections = hit + early + late + duplicate + false.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bdl.arrays import Flags, Floats, Ints, Longs
from bdl.errors import ConfigError, require
from bdl.evaluation.assignment import assign
from bdl.evaluation.matches import Matches
from bdl.evaluation.rounding import is_nearer
from bdl.frames import Tabular
from bdl.text_tables import text_table

if TYPE_CHECKING:
    from plotly.graph_objects import Figure

REACH = 3  # tolerances within which a detection is called early or late
KINDS = ("hit", "early", "late", "missed", "duplicate", "false")


@dataclass(frozen=True, eq=False)
class ErrorTable(Tabular):
    """Counts of each kind by recording and type.

    Parameters
    ----------
    recordings, types
        Names.
    tolerance, reach
        Seconds.
    threshold
        Least score of the detections that count, for each type.
    counts
        (recordings, types, 6) in the order of ``KINDS``.
    ranked
        Whether detections have scores.
    """

    recordings: tuple[str, ...]
    types: tuple[str, ...]
    tolerance: float
    reach: float
    threshold: dict[str, float]
    counts: Longs = field(repr=False)
    ranked: bool = True

    @property
    def totals(self) -> dict[str, dict[str, int]]:
        """Counts over all recordings, by type and kind."""
        sums = self.counts.sum(axis=0).tolist()
        return {
            name: dict(zip(KINDS, row, strict=True))
            for name, row in zip(self.types, sums, strict=True)
        }

    def worst(self, kind: str, *, type: str | None = None, most: int = 3) -> list[tuple[str, int]]:
        """Recordings with the most errors of a kind, and how many each has."""
        if kind not in KINDS:
            raise ConfigError(f"a kind among {', '.join(KINDS)} expected, got {kind!r}")
        chosen = self.counts[:, :, KINDS.index(kind)]
        if type is not None:
            chosen = chosen[:, [self.types.index(type)]]
        per_recording = chosen.sum(axis=1)
        order = np.argsort(-per_recording, kind="stable")[:most]
        return [(self.recordings[i], int(per_recording[i])) for i in order if per_recording[i]]

    def half_in(self, kind: str, *, type: str | None = None) -> int:
        """Smallest number of recordings that hold at least half of the errors of a kind."""
        counts = [count for _, count in self.worst(kind, type=type, most=len(self.recordings))]
        if not counts:
            return 0
        return int(np.searchsorted(np.cumsum(counts), sum(counts) / 2)) + 1

    def columns(self) -> dict[str, Any]:
        """The columns of the table by name: one row per type and kind."""
        rows = [(name, kind) for name in self.types for kind in KINDS]
        return {
            "event": [name for name, _ in rows],
            "kind": [kind for _, kind in rows],
            "count": self.counts.sum(axis=0).ravel().tolist(),
            "threshold": [self.threshold[name] for name, _ in rows],
        }

    def text(self, width: int | None = None) -> str:
        """Counts by type and kind, and the recordings where errors are concentrated."""
        thresholds = ", ".join(f"{name} {value:.4g}" for name, value in self.threshold.items())
        rows = [(n, k, count) for n in self.types for k, count in self.totals[n].items()]
        columns = {
            "type": [name for name, _, _ in rows],
            "kind": [kind for _, kind, _ in rows],
            "count": [f"{count:,}" for _, _, count in rows],
            "half of them in; recordings with most": [
                self._where(name, kind) if count else "" for name, kind, count in rows
            ],
        }
        counted = (
            f"detections of at least this score: {thresholds}"
            if self.ranked
            else ("all detections, which have no scores")
        )
        heading = f"errors at tolerance {self.tolerance:g}, near misses up to {self.reach:g}"
        table = text_table(columns, text=[*columns][-1], width=width)
        return "\n".join([heading, counted, *table])

    def _where(self, type: str, kind: str) -> str:
        if kind == "hit":
            return ""
        worst = ", ".join(f"{name} ({count})" for name, count in self.worst(kind, type=type))
        return f"{self.half_in(kind, type=type)} of {len(self.recordings)}: {worst}"

    def plot(self) -> Figure:
        """Counts by kind and event type as bars, as a plotly figure."""
        go = require("plotly.graph_objects", "report")
        bars = [go.Bar(name=name, x=[*row], y=[*row.values()]) for name, row in self.totals.items()]
        figure: Figure = go.Figure(bars)
        figure.update_layout(barmode="group", title=f"tolerance {self.tolerance:g}")
        return figure

    __repr__ = text


def error_table(
    matches: Matches,
    tolerance: float,
    *,
    threshold: float | None = None,
) -> ErrorTable:
    """The table of errors at one of the matched tolerances.

    Parameters
    ----------
    matches
        Matches of one set of detections.
    tolerance
        One of the matched tolerances, in seconds.
    threshold
        Least score of the detections that count; by default each type's best-F1 threshold.

    Examples
    --------
    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> truth = Events.of("a", "beat", [10.0, 20.0, 90.0])
    >>> times = [11.0, 12.0, 26.0, 50.0]
    >>> detections = Events.of("a", "beat", times, score=[0.9, 0.8, 0.7, 0.6])
    >>> error_table(match(truth, detections, [5.0]), 5.0, threshold=0.0).totals["beat"]
    {'hit': 1, 'early': 0, 'late': 1, 'missed': 1, 'duplicate': 1, 'false': 1}
    """
    k = matches.tolerance_index(tolerance)
    reach = REACH * tolerance
    size = len(matches.recordings)
    best = matches.best_f1().threshold[:, k]
    counts = np.zeros((size, len(matches.types), len(KINDS)), np.int64)
    thresholds: dict[str, float] = {}
    for j, name in enumerate(matches.types):
        least = float(best[j] if threshold is None else threshold)
        thresholds[name] = least
        cut = int(matches.cuts([np.inf if np.isnan(least) else least])[0, j])
        counts[:, j] = _count_kinds(matches, j, k, cut, reach)
    return ErrorTable(
        matches.recordings, matches.types, tolerance, reach, thresholds, counts, matches.ranked
    )


def _count_kinds(matches: Matches, j: int, k: int, cut: int, reach: float) -> Longs:
    """Counts (recordings, kinds) of one type among its detections before row ``cut``."""
    size = len(matches.recordings)
    begin = int(matches.start[j])
    bounds = matches.truth_start[j * size : (j + 1) * size + 1]
    times = matches.truth_time[bounds[0] : bounds[-1]]
    owner = np.repeat(np.arange(size), np.diff(bounds))
    rows, truths = matches.hits(matches.types[j], matches.tolerances[k])
    hit_rows, hit_truths = rows[rows < cut] - begin, truths[rows < cut] - bounds[0]

    recording, time = matches.recording[begin:cut], matches.time[begin:cut]
    unmatched = np.ones(cut - begin, dtype=bool)
    unmatched[hit_rows] = False
    near = _near_any(times, bounds - bounds[0], recording, time, matches.tolerances[k])
    duplicate = unmatched & near
    stray = np.flatnonzero(unmatched & ~near)
    open_truth = np.ones(len(times), dtype=bool)
    open_truth[hit_truths] = False

    # The strays are matched to the open events by the same rules, within the reach.
    missed = np.flatnonzero(open_truth)
    starts = np.searchsorted(owner[missed], np.arange(size + 1))
    count, row, truth = assign(
        np.array([0, len(stray)]),
        recording[stray],
        time[stray],
        size,
        starts,
        times[missed],
        np.array([reach]),
    )
    near_misses = int(count[0, 0])
    off = stray[row[0, :near_misses]]
    late = time[off] > times[missed[truth[0, :near_misses]]]
    open_truth[missed[truth[0, :near_misses]]] = False
    false = np.setdiff1d(stray, off)
    by_kind = (
        recording[hit_rows],
        recording[off[~late]],
        recording[off[late]],
        owner[open_truth],
        recording[duplicate],
        recording[false],
    )
    return np.stack([np.bincount(codes, minlength=size) for codes in by_kind], axis=1)


def _near_any(
    times: Floats,
    bounds: Longs,
    recording: Ints,
    time: Floats,
    tolerance: float,
) -> Flags:
    """Whether each detection is within the tolerance of any event of its recording."""
    near = np.zeros(len(time), np.bool_)
    order = np.argsort(recording, kind="stable")
    cuts = np.searchsorted(recording[order], np.arange(len(bounds)))
    for code in range(len(bounds) - 1):
        rows = order[cuts[code] : cuts[code + 1]]
        truths = times[bounds[code] : bounds[code + 1]]
        if len(rows) and len(truths):
            after = np.searchsorted(truths, time[rows])
            padded = np.concatenate([[-np.inf], truths, [np.inf]])
            nearest = np.minimum(time[rows] - padded[after], padded[after + 1] - time[rows])
            near[rows] = is_nearer(nearest, tolerance, time[rows])
    return near
