"""Features of each detection of a recording, for the second stage.

Columns, in order, for a detection of score ``s`` at time ``t``:

- the index of its type; the logarithm of ``s``; its rank within recording and type, as it is and
  per expected event (the total mass of the type); ``s`` as a share of the largest score;
- the logarithm of the mass within each tolerance, and within 2 and 4 times the largest, around
  ``t``; the share of the mass within the largest tolerance that is in the bin itself, within the
  finest tolerance, and before ``t``;
- the distance to the nearest detection with a higher score, and distance and relative score of
  the detections before and after;
- the same for the nearest detections of other types;
- the place within the recording as a share;
- means and standard deviations of each channel before and after ``t``, over the finest and the
  largest tolerance.

Distances are in units of the largest tolerance; NaN where there is no such detection.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bdl.arrays import AnyFloats
from bdl.binning import Binned
from bdl.decoding.candidates import ByType
from bdl.density import Density
from bdl.features import Features
from bdl.window_statistics import WindowStatistics

TYPE, LOG_SCORE = 0, 1  # columns
TINY = 1e-9  # added before logarithms and divisions


def candidate_features(
    density: Density,
    candidates: ByType,
    binned: Binned,
    features: Features,
    tolerances: Sequence[float],
) -> NDArray[np.float32]:
    """Return one row per detection, in the order of the types and then of time.

    Parameters
    ----------
    density
        Density of kind ``events`` of one recording.
    candidates
        Its detections by type, each in order of time.
    binned
        Its binned signal.
    features
        Features per bin; local signal statistics need mean and std among them.
    tolerances
        Matching tolerances in seconds.

    Examples
    --------
    >>> from bdl.decoding.candidates import Candidates
    >>> values = np.array([[0.1], [0.8], [0.0], [0.3]], np.float32)
    >>> density = Density("a", values, ("beat",), 1.0, stride=1, samples=4)
    >>> candidates = {"beat": Candidates(np.array([1.0, 3.0]), np.array([0.9, 0.3]))}
    >>> binned = Binned(np.zeros((4, 2), np.float32), None, None, np.zeros(4, bool))
    >>> features = Features(stride=1, statistics=("mean", "std"))
    >>> table = candidate_features(density, candidates, binned, features, (1.5,))
    >>> len(table), table[:, 2].tolist()
    (2, [0.0, 1.0])
    """
    longest = max(tolerances)
    signal = _signal_statistics(density, binned, features, tolerances)
    tables = []
    for column, event in enumerate(density.types):
        time, score, _ = candidates[event]
        columns = [np.full(len(time), float(column)), np.log(score + TINY)]
        columns += _ranks(score, density.values[:, column])
        columns += _masses(density, column, time, tolerances)
        columns += _neighbours(time, score, longest)
        columns += _others(
            time, score, [candidates[name][:2] for name in density.types if name != event]
        )
        columns.append(time / max(density.samples * density.period, TINY))
        bins = (time / density.period / density.stride).astype(np.int64)
        bins = np.clip(bins, 0, len(density.values) - 1)
        tables.append(np.concatenate([np.stack(columns, axis=1), signal[bins]], axis=1))
    return np.concatenate(tables).astype(np.float32)


def _ranks(score: AnyFloats, mass: NDArray[np.float32]) -> list[AnyFloats]:
    rank = np.empty(len(score))
    rank[np.lexsort((np.arange(len(score)), -score))] = np.arange(len(score))
    expected = float(mass.sum(dtype=np.float64))
    return [rank, rank / max(expected, 1.0), score / max(score.max(initial=0.0), TINY)]


def _masses(
    density: Density, column: int, time: AnyFloats, tolerances: Sequence[float]
) -> list[AnyFloats]:
    cumulative = np.append(0.0, np.cumsum(density.values[:, column], dtype=np.float64))
    edges = density.edges * density.period
    longest = max(tolerances)

    def up_to(moment: AnyFloats) -> AnyFloats:
        mass: AnyFloats = np.interp(moment, edges, cumulative)
        return mass

    def around(width: float) -> AnyFloats:
        return up_to(time + width) - up_to(time - width)

    inside = around(longest)
    denominator = np.maximum(inside, TINY)
    half = density.stride * density.period / 2
    masses = [around(width) for width in (*tolerances, 2 * longest, 4 * longest)]
    shares = [around(half), around(min(tolerances)), up_to(time) - up_to(time - longest)]
    return [*(np.log(mass + TINY) for mass in masses), *(share / denominator for share in shares)]


def _neighbours(time: AnyFloats, score: AnyFloats, unit: float) -> list[AnyFloats]:
    """Distance to the nearest higher score; distance and relative score before and after."""
    higher = np.full(len(time), np.inf)
    for order in (range(len(time)), range(len(time) - 1, -1, -1)):
        stack: list[int] = []  # detections whose scores decrease
        for i in order:
            while stack and score[stack[-1]] <= score[i]:
                stack.pop()
            if stack:
                higher[i] = min(higher[i], abs(time[i] - time[stack[-1]]))
            stack.append(i)
    gap = np.diff(time)
    nan = np.full(min(len(time), 1), np.nan)
    before, after = np.concatenate([nan, gap]), np.concatenate([gap, nan])
    preceding = np.concatenate([nan, score[:-1]]) / (score + TINY)
    following = np.concatenate([score[1:], nan]) / (score + TINY)
    higher[np.isinf(higher)] = np.nan
    return [higher / unit, before / unit, after / unit, preceding, following]


def _others(
    time: AnyFloats, score: AnyFloats, others: Sequence[tuple[AnyFloats, AnyFloats]]
) -> list[AnyFloats]:
    """Distance to, and score of, the nearest detections of any other type before and after."""
    times = np.concatenate([other[0] for other in others]) if others else np.zeros(0)
    scores = np.concatenate([other[1] for other in others]) if others else np.zeros(0)
    order = np.argsort(times, kind="stable")
    times = np.concatenate([[np.nan], times[order], [np.nan]])
    scores = np.concatenate([[np.nan], scores[order], [np.nan]])
    place = np.searchsorted(times[1:-1], time) + 1
    return [
        time - times[place - 1],
        times[place] - time,
        scores[place - 1] / (score + TINY),
        scores[place] / (score + TINY),
    ]


def _signal_statistics(
    density: Density, binned: Binned, features: Features, tolerances: Sequence[float]
) -> NDArray[np.float32]:
    """Means and standard deviations before and after every bin, (bins, columns)."""
    statistics: tuple[str, ...] = features.statistics
    if not {"mean", "std"} <= {*statistics}:
        return np.zeros((len(density.values), 0), np.float32)
    by_channel = features.per_channel(binned.values)
    means, spreads = (by_channel[:, :, statistics.index(name)] for name in ("mean", "std"))
    step = density.stride * density.period
    widths = sorted({max(1, round(width / step)) for width in (min(tolerances), max(tolerances))})
    return WindowStatistics(means, spreads, widths, causal=False).rows(0, len(binned))
