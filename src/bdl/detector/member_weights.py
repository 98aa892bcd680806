"""Weights of ensemble members, chosen by the likelihood of held-out events.

Members give densities in the same unit, so that a weighted mean of them is a density too. The
weights of the kinds of encoders are those whose mean density has the highest likelihood in
recordings that no member was trained on: Poisson, or Bernoulli where densities are probabilities.
The likelihood is concave in the weights and every bin contributes to it. It therefore needs fewer
held-out recordings than the event mAP, which changes only where the order of detections does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import LinearConstraint, minimize

from bdl.arrays import Flags, Floats, Singles
from bdl.density import Density
from bdl.encoders import Encoder
from bdl.encoders.ensemble import Ensemble

LEAST = 0.05  # a kind with a smaller share is left out: it costs time and changes little
FLOOR = 1e-9  # of a density, so that a density of zero at an event has a finite likelihood


@dataclass(frozen=True)
class HeldOutBins:
    """Densities of the members in one held-out recording, and what they should have been.

    Parameters
    ----------
    members
        One density per member.
    target
        (bins, types) target mass of the objective.
    counted
        Bins that are annotated; None for all.
    """

    members: Sequence[Density]
    target: Singles
    counted: Flags | None = None


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
    return replace(members[0], values=total.astype(np.float32))


def choose_weights(encoder: Ensemble, recordings: Sequence[HeldOutBins]) -> tuple[float, ...]:
    """Return the weights of the members with the highest likelihood of the held-out events.

    Members of one kind share the weight of their kind equally. Without held-out events the weights
    of the ensemble are returned.

    Parameters
    ----------
    encoder
        The ensemble.
    recordings
        Densities and targets of the held-out recordings.

    Examples
    --------
    >>> encoder = Encoder.parse("gru-and-trees")
    >>> target = np.array([[0.0], [1.0], [0.0], [0.0]], np.float32)
    >>> right = Density("a", target * 0.9 + 0.01, ("beat",), 1.0, stride=1, samples=4)
    >>> wrong = replace(right, values=right.values[::-1])
    >>> choose_weights(encoder, [HeldOutBins([right, wrong], target)])
    (1.0, 0.0)
    """
    kinds = [member.kind for member in encoder.members]
    names = encoder.member_kinds
    bounded = recordings[0].members[0].bounded
    parts, mass = list[tuple[Floats, Floats]](), np.zeros(len(names))
    for recording in recordings:
        densities, target = _likelihood_terms(recording, kinds, bounded)
        mass += densities.sum(axis=1)
        # The Poisson likelihood: log densities at events, less the total mass.
        used = slice(None) if bounded else target > 0
        parts.append((densities[:, used], target[used]))
    events = sum(float(target.sum()) for _, target in parts)
    if not events:
        return encoder.shares

    def loss(shares: Floats) -> tuple[float, Floats]:
        value, slope = (0.0, np.zeros(len(names))) if bounded else (float(shares @ mass), mass)
        for densities, target in parts:
            mean = shares @ densities
            value = value - float(target @ np.log(mean))
            slope = slope - densities @ (target / mean)
            if bounded:
                value = value - float((1 - target) @ np.log1p(-mean))
                slope = slope + densities @ ((1 - target) / (1 - mean))
        return value / events, slope / events

    equal = np.full(len(names), 1 / len(names))
    total = LinearConstraint(np.ones((1, len(names))), 1, 1)
    bounds = [(0.0, 1.0)] * len(names)
    result = minimize(
        loss, equal, jac=True, method="SLSQP", bounds=bounds, constraints=total, tol=1e-12
    )
    shares = np.round(result.x, 2)  # the likelihood is flat: further digits mean nothing
    shares[shares < LEAST] = 0
    share = dict(zip(names, (shares / shares.sum()).tolist(), strict=True))
    return tuple(share[kind] / kinds.count(kind) for kind in kinds)


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


def _likelihood_terms(
    recording: HeldOutBins, kinds: Sequence[str], bounded: bool
) -> tuple[Floats, Floats]:
    """The mean density of each kind, (kinds, values), and the target, in the bins that count."""
    target = recording.target.astype(np.float64)
    counted = np.ones(len(target), np.bool_) if recording.counted is None else recording.counted
    densities = np.array(
        [
            np.mean(
                [
                    density.values[counted].ravel()
                    for density, kind in zip(recording.members, kinds, strict=True)
                    if kind == name
                ],
                axis=0,
                dtype=np.float64,
            )
            for name in dict.fromkeys(kinds)
        ]
    )
    highest = 1 - FLOOR if bounded else None
    return np.clip(densities, FLOOR, highest), np.clip(target[counted].ravel(), 0, highest)
