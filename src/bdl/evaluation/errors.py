"""What went wrong, in words a person can act on, and in which recordings it clusters.

For one tolerance and the detections above a threshold, every truth and every detection falls into
exactly one kind:

- hit: matched within the tolerance;
- duplicate: a further detection within the tolerance of a truth that another one has taken;
- early, late: beyond the tolerance but within ``reach`` of a truth that no detection has hit; each
  such truth takes one detection, by the rules of matching;
- missed: a truth without any of these;
- false: a detection without any of these.

So truths = hit + early + late + missed and detections = hit + early + late + duplicate + false.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bdl.errors import ConfigError
from bdl.evaluation.compiled import compiled
from bdl.evaluation.greedy import sweep
from bdl.evaluation.matches import Matches

KINDS = ("hit", "early", "late", "missed", "duplicate", "false")
Longs = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ErrorTable:
    """Counts of each kind by recording and type.

    Parameters
    ----------
    recordings, types : names.
    tolerance, reach : seconds.
    threshold : score from which on detections count, for each type.
    counts : (recordings, types, 6) in the order of ``KINDS``.
    """

    recordings: tuple[str, ...]
    types: tuple[str, ...]
    tolerance: float
    reach: float
    threshold: dict[str, float]
    counts: Longs = field(repr=False)

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

    def __str__(self) -> str:
        lines = [
            f"errors at tolerance {self.tolerance:g}, near misses up to {self.reach:g}",
            f"{'type':<16} {'kind':<10} {'count':>7}  half of them in, and the worst recordings",
        ]
        for name in self.types:
            for kind, count in self.totals[name].items():
                worst = ", ".join(f"{r} ({n})" for r, n in self.worst(kind, type=name))
                where = (
                    f"{self.half_in(kind, type=name)} of {len(self.recordings)}: {worst}"
                    if count and kind != "hit"
                    else ""
                )
                lines.append(f"{name:<16} {kind:<10} {count:>7,}  {where}".rstrip())
        return "\n".join(lines)


def error_table(
    matches: Matches,
    tolerance: float,
    *,
    threshold: float | None = None,
    reach: float | None = None,
) -> ErrorTable:
    """The table of errors at one of the matched tolerances.

    Parameters
    ----------
    threshold : score from which on detections count; by default each type's best-F1 threshold.
    reach : how far off a detection may be and still be called early or late, in seconds; three
        tolerances by default.

    >>> from bdl.evaluation import match
    >>> from bdl.events import Events
    >>> truth = Events.of("a", "beat", [10.0, 20.0, 90.0])
    >>> times = [11.0, 12.0, 26.0, 50.0]
    >>> found = Events.of("a", "beat", times, score=[0.9, 0.8, 0.7, 0.6])
    >>> error_table(match(truth, found, [5.0]), 5.0, threshold=0.0).totals["beat"]
    {'hit': 1, 'early': 0, 'late': 1, 'missed': 1, 'duplicate': 1, 'false': 1}
    """
    k = matches.tolerance_index(tolerance)
    reach = 3 * tolerance if reach is None else float(reach)
    if not reach >= tolerance:
        raise ConfigError(f"reach {reach:g} must not be less than the tolerance {tolerance:g}")
    size = len(matches.recordings)
    best = matches.best_f1().threshold[:, k]
    counts = np.zeros((size, len(matches.types), len(KINDS)), np.int64)
    thresholds: dict[str, float] = {}
    for j, name in enumerate(matches.types):
        cutoff = best[j] if threshold is None else float(threshold)
        thresholds[name] = float(cutoff)
        cut = int(matches.cuts([np.inf if np.isnan(cutoff) else cutoff])[0, j])
        counts[:, j] = _one_type(matches, j, k, cut, reach)
    return ErrorTable(matches.recordings, matches.types, tolerance, reach, thresholds, counts)


def _one_type(matches: Matches, j: int, k: int, cut: int, reach: float) -> Longs:
    """Counts (recordings, kinds) of one type among its detections before row ``cut``."""
    size = len(matches.recordings)
    first, begin = int(matches.first_truth[j]), int(matches.start[j])
    bounds = matches.truth_start[j * size : (j + 1) * size + 1]
    times = matches.truth_time[bounds[0] : bounds[-1]]
    owner = np.repeat(np.arange(size), np.diff(bounds))
    rows = matches.row[k, first : first + matches.count[j, k]]
    good = rows < cut
    hit_rows = rows[good] - begin
    hit_truths = matches.truth[k, first : first + matches.count[j, k]][good] - bounds[0]

    recording, time = matches.recording[begin:cut], matches.time[begin:cut]
    spare = np.ones(cut - begin, dtype=bool)
    spare[hit_rows] = False
    near = _near_any(times, bounds - bounds[0], recording, time, matches.tolerances[k])
    duplicate = spare & near
    stray = np.flatnonzero(spare & ~near)
    open_truth = np.ones(len(times), dtype=bool)
    open_truth[hit_truths] = False

    # The strays are matched to the open truths by the same rules, within the reach.
    missed = np.flatnonzero(open_truth)
    starts = np.searchsorted(owner[missed], np.arange(size + 1))
    count, row, truth = sweep(
        np.array([0, len(stray)]),
        recording[stray],
        time[stray],
        size,
        starts,
        times[missed],
        np.array([reach]),
    )
    found = int(count[0, 0])
    paired = stray[row[0, :found]]
    late = time[paired] > times[missed[truth[0, :found]]]
    open_truth[missed[truth[0, :found]]] = False
    lone = np.setdiff1d(stray, paired)
    by_kind = (
        recording[hit_rows],
        recording[paired[~late]],
        recording[paired[late]],
        owner[open_truth],
        recording[duplicate],
        recording[lone],
    )
    return np.stack([np.bincount(who, minlength=size) for who in by_kind], axis=1)


@compiled
def _near_any(
    times: NDArray[np.float64],
    bounds: Longs,
    recording: NDArray[np.int32],
    time: NDArray[np.float64],
    tolerance: float,
) -> NDArray[np.bool_]:
    """Whether each detection lies within the tolerance of any truth of its recording."""
    near = np.zeros(len(time), np.bool_)
    for i in range(len(time)):
        first, last = bounds[recording[i]], bounds[recording[i] + 1]
        at = first + np.searchsorted(times[first:last], time[i])
        if at > first and time[i] - times[at - 1] < tolerance:
            near[i] = True
        if at < last and times[at] - time[i] < tolerance:
            near[i] = True
    return near
