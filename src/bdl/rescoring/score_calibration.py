"""Calibrated scores: the expected share of the tolerances at which a detection hits an event."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, FiniteFloat, model_validator

from bdl.arrays import Floats
from bdl.config import Value
from bdl.decoding.candidates import ByType

Slope = Annotated[FiniteFloat, Field(ge=0)]
Curve = tuple[FiniteFloat, Slope, Slope]
TINY = 1e-9  # added to scores before the logarithm
CERTAIN = 0.98  # a score of one counts as this probability
LEAST_SLOPE = 0.01
IDENTITY = (0.0, 1.0, 1.0)  # the curve that leaves probabilities nearly unchanged
PENALTY = 0.1  # on the squared distance of a curve from the identity


class ScoreCalibration(Value):
    """A rising curve from a decoder's score to a probability, for each event type.

    Decoders have scores of different scales. Calibrated, a score is the share of the matching
    tolerances at which such a detection hits an event, learned from detections in held-out
    recordings. The order of the detections of a type does not change.

    The logit of the calibrated score is ``a + b log(s) - c log(1 - s)`` for a score ``s``, as in
    beta calibration [1]_, where ``1 - s`` is ``1 - 0.98 s`` and continues with the slope of ``s``
    beyond one, since densities have no upper limit.

    Parameters
    ----------
    types
        Event types.
    curves
        ``a``, ``b`` and ``c`` of each type.

    References
    ----------
    .. [1] Kull, Silva Filho, Flach: Beta calibration, AISTATS 2017.

    Examples
    --------
    >>> calibration = ScoreCalibration(types=("beat",), curves=((0.0, 1.0, 1.0),))
    >>> calibration.scores(np.array([0.1, 0.5, 0.9]), np.array([0, 0, 0])).round(2).tolist()
    [0.1, 0.5, 0.88]
    """

    types: tuple[str, ...]
    curves: tuple[Curve, ...]

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if len(self.types) != len(self.curves):
            raise ValueError(f"{len(self.curves)} curves for {len(self.types)} event types")
        return self

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
        >>> candidates = {"beat": Candidates(np.arange(100.0), np.array([0.1, 0.9] * 50))}
        >>> calibration = ScoreCalibration.fit([candidates], [np.array([0.1, 0.9] * 50)])
        >>> calibration.apply(candidates)["beat"].score[:2].round(1).tolist()
        [0.1, 0.9]
        """
        types = tuple(dict.fromkeys(event for by_type in candidates for event in by_type))
        scores: dict[str, list[Floats]] = {event: [] for event in types}
        hits: dict[str, list[Floats]] = {event: [] for event in types}
        for by_type, share in zip(candidates, shares, strict=True):
            first = 0
            for event, part in by_type.items():
                target = share[first : first + len(part.time)]
                defined = np.isfinite(target)
                scores[event].append(part.score[defined].astype(np.float64))
                hits[event].append(target[defined])
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
        a, b, c = np.array(self.curves).reshape(-1, 3)[type_code].T
        low, high = _terms(score)
        raw: Floats = a + b * low + c * high
        return raw

    def in_order_of(self, types: Sequence[str]) -> Self:
        """Return the same curves for types in another order."""
        curve: Mapping[str, Curve] = dict(zip(self.types, self.curves, strict=True))
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


def _terms(score: NDArray[np.floating[Any]]) -> tuple[Floats, Floats]:
    """Return ``log(s)`` and ``-log(1 - s)``, which continue beyond 0 and 1."""
    exact = score.astype(np.float64)
    beyond = np.maximum(exact - 1.0, 0.0)
    return np.log(exact + TINY), beyond - np.log1p(-CERTAIN * (exact - beyond))


def _fit_curve(score: Floats, share: Floats) -> Curve:
    """Return the curve of one type; a weak penalty pulls it towards the identity."""
    from scipy.optimize import minimize

    design = np.stack([np.ones(len(score)), *_terms(score)])

    def loss(curve: Floats) -> tuple[float, Floats]:
        raw, distance = curve @ design, curve - IDENTITY
        value = np.sum(np.logaddexp(0, raw) - share * raw) + PENALTY / 2 * distance @ distance
        return float(value), design @ (probabilities(raw) - share) + PENALTY * distance

    bounds = [(None, None), (LEAST_SLOPE, None), (0.0, None)]
    fitted = minimize(loss, IDENTITY, jac=True, bounds=bounds, method="L-BFGS-B").x
    a, b, c = fitted.tolist()
    return a, b, c
