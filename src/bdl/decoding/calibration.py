"""Calibration: the setting of a grid with the best score on recordings that are not reported on.

Every setting of the grid is scored, with the work shared: each recording is read once, each base
(smoothing, separation, scorer) decodes it once, one matching serves every cutoff, since the
best-scored detections are matched first, and alternation works on the candidates at hand. The
scores are those of decoding and matching each setting by itself.

Of settings with the same score the simplest wins, in the order of the grid (see
`bdl.decoding.grids`), so that the choice is the same on every machine.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bdl.config import validate
from bdl.decoding.alternation import alternate
from bdl.decoding.detections import ByType, to_events, unique
from bdl.decoding.expected import ExpectedAP
from bdl.decoding.grids import AnyGrid, Grid
from bdl.decoding.peaks import Peaks
from bdl.decoding.transitions import Transitions
from bdl.density import Density
from bdl.errors import ConfigError, InputError
from bdl.evaluation import Matcher, Matches
from bdl.evaluation.matching import EventFree
from bdl.events import Events
from bdl.intervals import IntervalType

AnyDecoder = Peaks | ExpectedAP | Transitions


@dataclass(frozen=True)
class Trial:
    """One setting tried and its score on the calibration recordings.

    >>> Trial(Peaks(cutoff=0.5), 0.7).decoder.cutoff
    0.5
    """

    decoder: AnyDecoder
    score: float


@dataclass(frozen=True)
class Calibration:
    """What a calibration chose, and all it tried.

    Parameters
    ----------
    decoder : the chosen setting, frozen.
    score : its score.
    metric : name of the score.
    tried : every setting from simple to less simple, with its score.

    >>> tried = (Trial(Peaks(), 0.6), Trial(Peaks(smooth=50.0), 0.7))
    >>> Calibration(tried[1].decoder, 0.7, "mAP", tried).to_dict()["decoder"]["smooth"]
    50.0
    """

    decoder: AnyDecoder
    score: float
    metric: str
    tried: tuple[Trial, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return {
            "decoder": self.decoder.model_dump(mode="json"),
            "score": self.score,
            "metric": self.metric,
            "tried": [
                {"decoder": trial.decoder.model_dump(mode="json"), "score": trial.score}
                for trial in self.tried
            ],
        }


def calibrate(
    densities: Iterable[Density],
    truth: Events,
    grid: AnyGrid,
    *,
    tolerances: Sequence[float],
    metric: str = "mAP",
    intervals: Sequence[IntervalType] = (),
    event_free: EventFree = "ignore",
) -> Calibration:
    """Score every setting of a grid and choose the best.

    Parameters
    ----------
    densities : of the calibration recordings; read once, in order.
    truth : annotated events; those of other recordings are left alone.
    grid : what to try.
    tolerances : seconds.
    metric : ``mAP``, ``mF1`` or ``AP@<tolerance>``, the mean over types at one tolerance.
    intervals : which event types alternate; needed for alternation and for occupancies.
    event_free : whether detections in recordings without truths count as false alarms.

    >>> from bdl.decoding.grids import PeakGrid
    >>> values = np.array([[0.0], [0.9], [0.0], [0.2], [0.0]], np.float32)
    >>> density = Density("a", values, ("beat",), 1.0, stride=1, samples=5)
    >>> chosen = calibrate([density], Events.of("a", "beat", [1.0]), PeakGrid(), tolerances=[1.0])
    >>> chosen.decoder.cutoff, chosen.score, len(chosen.tried)
    (0.0, 1.0, 3)
    """
    check_metric(metric, tolerances)
    kinds = tuple(intervals)
    bases = grid.bases(tolerances)
    ids: list[str] = []
    found: list[list[ByType]] = [[] for _ in bases]
    top, bounded = 0.0, True
    for density in unique(densities):
        ids.append(density.recording)
        top = max(top, float(density.values.max(initial=0)))
        bounded = bounded and density.bounded
        detected = grid.detect(density, bases, kinds)  # type: ignore[arg-type]
        for into, one in zip(found, detected, strict=True):
            into.append(one)
    if not ids:
        raise InputError("calibration needs at least one recording's density, got none")
    types = sorted({event for one in found[0] for event in one})
    matcher = Matcher(truth, tolerances, types=types, event_free=event_free, recordings=ids)

    levels = grid.levels(top, bounded)
    tried = []
    for turns in sorted(set(grid.alternations)):
        for base, detections in zip(bases, found, strict=True):
            scores = _scores(matcher, ids, detections, levels, metric, kinds if turns else None)
            for level, score in zip(levels, scores, strict=True):
                decoder = grid.setting(base, level, turns)  # type: ignore[arg-type]
                tried.append(Trial(decoder, score))
    best = max(tried, key=lambda trial: trial.score)
    return Calibration(best.decoder, best.score, metric, tuple(tried))


def _scores(
    matcher: Matcher,
    ids: list[str],
    found: list[ByType],
    levels: list[float],
    metric: str,
    kinds: tuple[IntervalType, ...] | None,
) -> list[float]:
    """Score at each level; ``kinds`` are the interval types to alternate, None not to."""
    if kinds is None:
        matches = matcher.match(to_events(zip(ids, found, strict=True)))
        return [figure(matches.above(level), metric) for level in levels]
    scores = []
    for level in levels:
        cut = [{event: one.above(level) for event, one in types.items()} for types in found]
        events = to_events(zip(ids, (alternate(types, kinds) for types in cut), strict=True))
        scores.append(figure(matcher.match(events), metric))
    return scores


def figure(matches: Matches, metric: str) -> float:
    """One named figure: ``mAP``, ``mF1`` or ``AP@<tolerance>``.

    >>> truth, found = Events.of("a", "beat", [10.0]), Events.of("a", "beat", [12.0], [0.5])
    >>> [figure(Matcher(truth, [1.0, 5.0]).match(found), name) for name in ("mAP", "AP@5")]
    [0.5, 1.0]
    """
    if metric == "mAP":
        return matches.mean_average_precision()
    if metric == "mF1":
        return matches.mean_f1()
    column = matches.tolerance_index(float(metric.removeprefix("AP@")))
    return float(np.nanmean(matches.average_precision()[:, column]))


def check_metric(metric: str, tolerances: Sequence[float]) -> None:
    """Refuse an unknown metric.

    >>> check_metric("AP@7", [60.0])
    Traceback (most recent call last):
    bdl.errors.ConfigError: metric 'AP@7': mAP, mF1, AP@60 expected
    """
    known = ["mAP", "mF1", *(f"AP@{tolerance:g}" for tolerance in tolerances)]
    try:
        named = metric.startswith("AP@") and math.isfinite(float(metric[3:]))
        given = named and float(metric[3:]) in [float(one) for one in tolerances]
    except ValueError:
        given = False
    if metric not in ("mAP", "mF1") and not given:
        raise ConfigError(f"metric {metric!r}: {', '.join(known)} expected")


def grid_from_dict(data: object, what: str = "grid") -> AnyGrid:
    """A grid from plain data, as its ``model_dump`` gives it.

    >>> grid_from_dict({"kind": "peak-grid", "cutoffs": 11}).cutoffs
    11
    """
    made: AnyGrid = validate(Grid, data, what)
    return made
