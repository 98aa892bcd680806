"""Advice on the stride: whether it resolves the tolerances, and how often events share bins.

With bins of width ``w = stride * period`` seconds, the strictest matching tolerance ``d`` and a
mean spacing ``L`` between events of one type (all in seconds):

- conservative resolution check, ``w <= d``: a whole bin fits into the matching window;
- weak resolution check, ``w / 2 <= d``: a centred peak can still match, without margin;
- expected events of the type per bin, ``m = w / L``;
- collision probability under a homogeneous Poisson process, ``1 - exp(-m) (1 + m)``, about
  ``0.5 m**2`` for small m.

A heuristic, not a fitted event process: events that cluster collide more often.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from bdl.errors import ConfigError, require
from bdl.sampling import bin_count

PROBABILITY = 1e-3


@dataclass(frozen=True)
class Advice:
    """The checks of one stride.

    Parameters
    ----------
    period, stride, tolerance, spacing
        As in `advise`.
    width
        Seconds per bin.
    conservative, weak
        Whether the resolution checks hold.
    expected
        Events of one type per bin, m.
    collision
        Probability of two or more events in a bin, exact for a Poisson count.
    collision_approximation
        ``0.5 m**2``.
    largest_stride
        Most samples per bin whose exact collision probability is within the accepted one; 0 where
        even a single sample exceeds it.
    bins
        Length of the output sequence for the given duration.
    """

    period: float
    stride: int
    tolerance: float
    spacing: float
    width: float
    conservative: bool
    weak: bool
    expected: float
    collision: float
    collision_approximation: float
    largest_stride: int
    bins: int

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, for JSON."""
        return asdict(self)


def advise(
    *,
    period: float,
    stride: int,
    tolerance: float,
    spacing: float,
    duration: float = 86400.0,
    probability: float = PROBABILITY,
) -> Advice:
    """Check the resolution and sparsity of a stride.

    Parameters
    ----------
    period
        Seconds per sample.
    stride
        Samples per bin.
    tolerance
        Strictest matching tolerance in seconds.
    spacing
        Mean seconds between events of one type.
    duration
        Seconds of signal for the sequence length.
    probability
        Accepted collision probability.

    Examples
    --------
    >>> sleep = advise(period=5, stride=10, tolerance=60, spacing=86400)
    >>> f"{sleep.expected:.2e} {sleep.collision_approximation:.2e} {sleep.bins}"
    '5.79e-04 1.67e-07 1728'
    >>> sleep.conservative, sleep.largest_stride
    (True, 784)
    """
    seconds = {"period": period, "tolerance": tolerance, "spacing": spacing, "duration": duration}
    for name, value in seconds.items():
        if not (math.isfinite(value) and value > 0):
            raise ConfigError(f"{name}: a positive number of seconds expected, got {value}")
    if stride < 1:
        raise ConfigError(f"stride: at least 1 sample per bin expected, got {stride}")
    width = stride * period
    expected = width / spacing
    return Advice(
        period=float(period),
        stride=stride,
        tolerance=float(tolerance),
        spacing=float(spacing),
        width=width,
        conservative=_within(width, tolerance),
        weak=_within(width / 2, tolerance),
        expected=expected,
        collision=collision(expected),
        collision_approximation=0.5 * expected * expected,
        largest_stride=largest(period=period, spacing=spacing, probability=probability),
        bins=bin_count(math.ceil(duration / period - 1e-9), stride),
    )


def collision(expected: float) -> float:
    """Return the probability that a Poisson count of the given mean is two or more.

    The regularized incomplete gamma function P(2, m) is ``1 - exp(-m) (1 + m)`` without the
    cancellation of the formula for small m.

    Examples
    --------
    >>> f"{collision(2.0):.6f} {collision(1e-9):.6g}"
    '0.593994 5e-19'
    """
    return float(require("scipy.special", "signal").gammainc(2, expected))


def largest(*, period: float, spacing: float, probability: float) -> int:
    """Return the most samples per bin whose collision probability is at most ``probability``.

    Examples
    --------
    >>> largest(period=5, spacing=86400, probability=1e-6)
    24
    """
    if not 0 < probability < 1:
        raise ConfigError(f"collision probability: a number in (0, 1) expected, got {probability}")
    # The inverse is exact only up to rounding, so a step down may be needed.
    events = float(require("scipy.special", "signal").gammaincinv(2, probability))
    stride = math.floor(events * spacing / period * (1 + 1e-12))
    while stride > 0 and collision(stride * period / spacing) > probability * (1 + 1e-9):
        stride -= 1
    return stride


def check(
    *,
    period: float,
    stride: int,
    tolerances: Sequence[float] = (),
    spacing: float | None = None,
) -> tuple[str, ...]:
    """Return warnings about a stride, one sentence each; empty if there are none.

    Parameters
    ----------
    period, stride
        As in `advise`.
    tolerances
        Matching tolerances in seconds; only the strictest matters.
    spacing
        Mean seconds between events of one type, or None if unknown.

    Examples
    --------
    >>> check(period=5, stride=10, tolerances=[60, 360], spacing=86400)
    ()
    >>> print(check(period=1 / 256, stride=512, tolerances=[1.0])[0])
    a bin of 512 samples lasts 2 s, longer than the strictest tolerance of 1 s; ...
    """
    warnings = []
    width = stride * period
    if len(tolerances):
        strictest = min(tolerances)
        fitting = math.floor(strictest / period * (1 + 1e-9))
        remedy = f"at most {fitting} samples fit" if fitting else "no stride fits"
        if not _within(width / 2, strictest):
            warnings.append(
                f"half a bin of {stride} samples lasts {width / 2:g} s, longer than the strictest "
                f"tolerance of {strictest:g} s: even the correct bin misses; {remedy}"
            )
        elif not _within(width, strictest):
            warnings.append(
                f"a bin of {stride} samples lasts {width:g} s, longer than the strictest tolerance "
                f"of {strictest:g} s; {remedy}"
            )
    if spacing is not None:
        chance = collision(width / spacing)
        if chance > PROBABILITY:
            best = largest(period=period, spacing=spacing, probability=PROBABILITY)
            warnings.append(
                f"two events of one type share a bin of {stride} samples with probability "
                f"{chance:.2g} at one event in {spacing:g} s; {max(best, 1)} samples or fewer "
                f"{'keep' if best else 'come nearest to keeping'} it within {PROBABILITY:g}"
            )
    return tuple(warnings)


def _within(width: float, tolerance: float) -> bool:
    # 256 samples of 1/256 s are one second: rounding must not fail an equality.
    return width <= tolerance * (1 + 1e-9)
