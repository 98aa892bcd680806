"""Choices made on densities of recordings that a model was not trained on.

Each choice has a simple default, which is used unless another setting is better by a margin: with
few held-out recordings, small differences are noise.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bdl import decoding
from bdl.config import Value
from bdl.decoding import Calibration, Decoder, Grid
from bdl.density import Density
from bdl.encoders import Encoder
from bdl.encoders.ensemble import Ensemble
from bdl.evaluation import Matches, Regions, match
from bdl.evaluation.matching import EventFree
from bdl.events import Events
from bdl.intervals import IntervalType

MARGIN = 0.005  # of mAP, by which a setting must be better than a simpler one
MOST_THRESHOLDS = 500


class Choices(Value):
    """What was chosen on held-out recordings, and the scores that decided.

    Parameters
    ----------
    groups, recordings
        Number of groups and recordings that were held out.
    kernels
        Event mAP of each kernel that was tried, by name.
    weights
        Weights of the members that were tried, each with its event mAP; the first are equal ones.
    decoders
        Best event mAP of each kind of decoder.
    rescoring
        Event mAP without and with the second stage, if it was tried: the mean over the parts that
        were held out.
    score
        Event mAP on held-out recordings with everything that was chosen. It decided the choices,
        so that it is optimistic.
    """

    groups: int
    recordings: int
    kernels: dict[str, float] = Field(default_factory=dict)
    weights: tuple[tuple[tuple[float, ...], float], ...] = ()
    decoders: dict[str, float] = Field(default_factory=dict)
    rescoring: tuple[float, float] | None = None
    score: float


@dataclass(frozen=True)
class HeldOut:
    """Held-out events, and how detections are matched with them.

    Parameters
    ----------
    truth
        Events of the held-out recordings.
    tolerances
        Matching tolerances in seconds.
    types, intervals
        Event types and interval types.
    event_free
        Whether recordings without events count.
    separation
        Least time between two detections in seconds, for decoders that need it.
    regions
        Annotated parts of the recordings, outside of which nothing is scored; None for all.
    durations
        Seconds of each recording; None for those of the regions.
    forward
        Whether only decoders with a bounded look-ahead are chosen from.
    """

    truth: Events
    tolerances: tuple[float, ...]
    types: tuple[str, ...]
    intervals: tuple[IntervalType, ...]
    event_free: EventFree
    separation: float
    regions: Regions | None = None
    durations: Mapping[str, float] | None = None
    forward: bool = False

    def match(self, detections: Events, recordings: Sequence[str]) -> Matches:
        """Match detections in the given recordings."""
        return match(
            self.truth,
            detections,
            self.tolerances,
            types=self.types,
            intervals=self.intervals,
            event_free=self.event_free,
            recordings=recordings,
            regions=self.regions,
            durations=self.durations,
        )

    def mean_ap(self, densities: Sequence[Density], decoder: Decoder) -> float:
        """Event mAP of densities with one decoder."""
        detections = decoding.decode(densities, decoder, self.intervals)
        matches = self.match(detections, [density.recording for density in densities])
        return matches.mean_average_precision()

    def calibrate(self, densities: Sequence[Density]) -> list[Calibration]:
        """Calibrate the default decoder for these densities, then those that grids add."""
        alternations = (False, True) if self.intervals else (False,)
        kind = densities[0].kind
        default = decoding.default_grid(
            kind,
            tolerances=self.tolerances,
            separation=self.separation,
            alternations=alternations,
        )
        variants = [grid for grid in Grid.kinds().values() if grid.decoder.reads == kind]
        added = [grid.added(self.tolerances, self.separation, alternations) for grid in variants]
        grids = [default, *(grid for grid in added if grid is not None)]
        return [
            decoding.calibrate(
                densities,
                self.truth,
                grid.forward() if self.forward else grid,
                tolerances=self.tolerances,
                intervals=self.intervals,
                event_free=self.event_free,
                regions=self.regions,
            )
            for grid in grids
        ]


def weighted_mean(members: Sequence[Density], weights: Sequence[float]) -> Density:
    """Return the weighted mean of densities of one recording.

    Examples
    --------
    >>> ones = Density("a", np.ones((2, 1), np.float32), ("beat",), 1.0, stride=1, samples=2)
    >>> zeros = replace(ones, values=np.zeros((2, 1), np.float32))
    >>> weighted_mean([ones, zeros], [3.0, 1.0]).values.ravel().tolist()
    [0.75, 0.75]
    """
    total = np.zeros(members[0].values.shape)
    for density, weight in zip(members, weights, strict=True):
        total += weight / sum(weights) * density.values
    values: NDArray[np.float32] = total.astype(np.float32)
    return replace(members[0], values=values)


def _weight_candidates(kinds: Sequence[str]) -> Iterator[tuple[float, ...]]:
    """Yield weights of members to try: equal by kind, then unequal, then without some kinds.

    Examples
    --------
    >>> [*_weight_candidates(["recurrent", "recurrent", "trees"])][:3]
    [(0.25, 0.25, 0.5), (0.375, 0.375, 0.25), (0.125, 0.125, 0.75)]
    """
    names = list(dict.fromkeys(kinds))
    shares = [dict.fromkeys(names, 1 / len(names))]
    if len(names) == 2:
        shares += [{names[0]: share, names[1]: 1 - share} for share in (0.75, 0.25)]
    for count in range(len(names) - 1, 0, -1):
        shares += [dict.fromkeys(subset, 1 / count) for subset in combinations(names, count)]
    for share in shares:
        yield tuple(share.get(kind, 0.0) / kinds.count(kind) for kind in kinds)


def choose_weights(
    members: Sequence[Sequence[Density]], encoder: Encoder, decoder: Decoder, held: HeldOut
) -> tuple[tuple[float, ...], list[tuple[tuple[float, ...], float]]]:
    """Return the weights of the members with the best event mAP, and all that were tried.

    Parameters
    ----------
    members
        Densities of all members, for each held-out recording.
    encoder
        The ensemble, or any other encoder, which has weight 1.
    decoder
        Decoder of the comparison.
    held
        What the choice is made on.
    """
    if not isinstance(encoder, Ensemble):
        return (1.0,), []
    candidates = [] if encoder.weights is None else [encoder.weights]
    candidates += [*_weight_candidates([member.kind for member in encoder.members])]
    tried = []
    for weights in candidates:
        means = [weighted_mean(densities, weights) for densities in members]
        tried.append((weights, held.mean_ap(means, decoder)))
    best = max(tried, key=lambda trial: trial[1])
    chosen = best if best[1] > tried[0][1] + MARGIN else tried[0]
    return chosen[0], tried


def with_weights(encoder: Encoder, weights: Sequence[float]) -> Encoder:
    """Return an ensemble with these weights, without members of weight 0.

    Examples
    --------
    >>> with_weights(Encoder.parse("gru-and-trees"), (0.0, 1.0)).members[0].kind
    'trees'
    """
    if not isinstance(encoder, Ensemble):
        return encoder
    pairs = [(m, w) for m, w in zip(encoder.members, weights, strict=True) if w > 0]
    members, positive = zip(*pairs, strict=True)
    return encoder.replace(members=members, weights=positive)


def best_threshold(matches: Matches) -> tuple[float, float]:
    """Return the threshold with the best mean F1 over types and tolerances, and that F1.

    If several detections have the best F1, the one with the highest score is used. The threshold is
    midway between it and the next lower score: F1 is the same there, and scores of other
    recordings may be a little lower.

    Examples
    --------
    >>> detections = Events.of("a", "beat", [10.0, 20.0, 30.0], score=[0.9, 0.8, 0.1])
    >>> best_threshold(match(Events.of("a", "beat", [10.0, 20.0]), detections, [1.0]))
    (0.45, 1.0)
    """
    scores = np.unique(matches.score)[::-1]
    if not len(scores):
        return 0.0, 0.0
    places = np.unique(np.linspace(0, len(scores) - 1, MOST_THRESHOLDS).round().astype(np.int64))
    has_events = matches.truths.sum(axis=0) > 0
    mean_f1 = [float(matches.tally(score).f1[has_events].mean()) for score in scores[places]]
    best = int(np.argmax(mean_f1))
    place = places[best]
    below = scores[min(place + 1, len(scores) - 1)]
    return float((scores[place] + below) / 2), mean_f1[best]
