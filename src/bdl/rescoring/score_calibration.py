"""Calibrated scores: the expected share of the tolerances at which a detection hits an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat

from bdl.config import Value
from bdl.decoding.candidates import ByType

Floats = NDArray[np.float64]
Slope = Annotated[FiniteFloat, Field(ge=0)]
TINY = 1e-9  # smallest score whose logarithm is told apart from that of none
LEAST_SLOPE = 0.01
PENALTY = 0.1  # on the squared distance of a curve from the scores as they are


class ScoreCalibration(Value):
    """A logistic curve over the logarithm of a decoder's score, for each event type.

    Decoders have scores of different scales. Calibrated, a score is the share of the matching
    tolerances at which such a detection hits an event, learned from detections in held-out
    recordings. The order of the detections of a type does not change.

    Parameters
    ----------
    types
        Event types.
    curves
        Intercept and slope of the curve of each type.

    Examples
    --------
    >>> calibration = ScoreCalibration(types=("beat",), curves=((0.0, 1.0),))
    >>> calibration.scores(np.array([1.0, 3.0]), np.array([0, 0])).round(3).tolist()
    [0.5, 0.75]
    """

    types: tuple[str, ...]
    curves: tuple[tuple[FiniteFloat, Slope], ...]

    @classmethod
    def fit(cls, candidates: Sequence[ByType], shares: Sequence[Floats]) -> Self | None:
        """Learn the curves from detections in held-out recordings; None without any.

        Parameters
        ----------
        candidates
            Detections of each recording by type.
        shares
            Share of the tolerances at which each of them hits an event, NaN where that is not
            known; see `bdl.rescoring.hit_shares`.

        Examples
        --------
        >>> from bdl.decoding.candidates import Candidates
        >>> found = {"beat": Candidates(np.arange(100.0), np.array([0.1, 0.9] * 50))}
        >>> calibration = ScoreCalibration.fit([found], [np.array([0.1, 0.9] * 50)])
        >>> calibration.apply(found)["beat"].score[:2].round(1).tolist()
        [0.1, 0.9]
        """
        types = tuple(dict.fromkeys(event for by_type in candidates for event in by_type))
        scores: dict[str, list[Floats]] = {event: [] for event in types}
        hits: dict[str, list[Floats]] = {event: [] for event in types}
        for by_type, share in zip(candidates, shares, strict=True):
            first = 0
            for event, part in by_type.items():
                target = share[first : first + len(part.time)]
                known = np.isfinite(target)
                scores[event].append(_logarithms(part.score[known]))
                hits[event].append(target[known])
                first += len(part.time)
        if not any(len(target) for targets in hits.values() for target in targets):
            return None
        curves = [
            _fit_curve(np.concatenate(scores[event]), np.concatenate(hits[event]))
            for event in types
        ]
        return cls(types=types, curves=tuple(curves))

    def scores(self, score: NDArray[np.floating[Any]], type_code: NDArray[np.int64]) -> Floats:
        """Return calibrated scores, given scores of a decoder and the place of each type."""
        return probabilities(self._logits(score, type_code))

    def logits(self, candidates: ByType) -> Floats:
        """Return the logits of calibrated scores of all detections, by type and then in order."""
        parts = [
            self._logits(part.score, np.full(len(part.time), self.types.index(event)))
            for event, part in candidates.items()
        ]
        return np.concatenate(parts) if parts else np.zeros(0)

    def apply(self, candidates: ByType, correction: Floats | float = 0.0) -> ByType:
        """Return detections with calibrated scores.

        Parameters
        ----------
        candidates
            Detections by type.
        correction
            Added to the logit of each detection, by type and then in order.
        """
        scores = probabilities(self.logits(candidates) + correction)
        cuts = np.cumsum([len(part.time) for part in candidates.values()])[:-1]
        return {
            event: part._replace(score=calibrated)
            for (event, part), calibrated in zip(
                candidates.items(), np.split(scores, cuts), strict=True
            )
        }

    def _logits(self, score: NDArray[np.floating[Any]], type_code: NDArray[np.int64]) -> Floats:
        intercept, slope = np.array(self.curves).reshape(-1, 2)[type_code].T
        raw: Floats = intercept + slope * _logarithms(score)
        return raw

    def in_order_of(self, types: Sequence[str]) -> Self:
        """Return the same curves for types in another order."""
        curve: Mapping[str, tuple[float, float]] = dict(zip(self.types, self.curves, strict=True))
        return self.replace(types=tuple(types), curves=tuple(curve[event] for event in types))


def probabilities(logits: Floats) -> Floats:
    """Return the logistic function, without overflow.

    Examples
    --------
    >>> probabilities(np.array([-1000.0, 0.0, 1000.0])).tolist()
    [0.0, 0.5, 1.0]
    """
    shares: Floats = np.exp(-np.logaddexp(0.0, -logits))
    return shares


def _logarithms(score: NDArray[np.floating[Any]]) -> Floats:
    logarithms: Floats = np.log(score.astype(np.float64) + TINY)
    return logarithms


def _fit_curve(x: Floats, share: Floats) -> tuple[float, float]:
    """Return intercept and slope of a logistic curve over log scores.

    Slopes are positive, so that the order of scores stays; a weak penalty draws them to one, the
    slope of scores that are calibrated already.
    """
    from scipy.optimize import minimize

    def loss(curve: Floats) -> tuple[float, Floats]:
        raw = curve[0] + curve[1] * x
        error = probabilities(raw) - share
        away = np.array([curve[0], curve[1] - 1])
        value = np.sum(np.logaddexp(0, raw) - share * raw) + PENALTY / 2 * away @ away
        return float(value), np.array([error.sum(), error @ x]) + PENALTY * away

    start, bounds = np.array([0.0, 1.0]), [(None, None), (LEAST_SLOPE, None)]
    intercept, slope = minimize(loss, start, jac=True, bounds=bounds, method="L-BFGS-B").x
    return float(intercept), float(slope)
