r"""Several differences at once: Holm's step-down method on bootstrap replicates.

With many systems some difference will exclude zero by chance. The p-value of a difference is twice
the smaller share of its B bootstrap replicates on one side of zero,

.. math:: p = \min\Bigl(1,\ 2\,\frac{1 + \min(\#\{d^* \le 0\},\ \#\{d^* \ge 0\})}{B + 1}\Bigr),

the smallest error rate at which its percentile confidence interval excludes zero. Holm takes the m
p-values in increasing order. The k-th is multiplied by m - k + 1, and no adjusted value is less
than the one before. Differences with an adjusted p-value of at most alpha = 1 - level are claimed;
the chance that any of them is really zero is at most alpha, however they depend on each other, as
far as the bootstrap's own p-values hold.

The adjusted confidence interval of a difference has the level of the step at which Holm judges it:
1 - alpha / (m - k + 1) for the k-th claimed one, and 1 - alpha / (m - c) for all that are not
claimed, where c are. So it excludes zero where Holm claims a difference (up to the resolution of
the replicates), and the widest is Bonferroni's. The chance that any of them excludes zero for a
difference of zero is at most alpha; that all hold their differences at once is only promised by
the widest level, alpha / m.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import ceil, nan
from typing import Any

import numpy as np

from bdl.arrays import Floats
from bdl.evaluation.estimate import Estimate, plain


@dataclass(frozen=True)
class Difference(Estimate):
    """A paired difference: its value, its confidence interval, and both adjusted for all compared.

    Parameters
    ----------
    value, low, high
        The difference and its own confidence interval.
    adjusted
        The same value with its confidence interval at Holm's level.
    p, adjusted_p
        Two-sided p-value of the bootstrap, and Holm's adjusted one.
    """

    adjusted: Estimate = field(default_factory=lambda: Estimate(nan))
    p: float = nan
    adjusted_p: float = nan

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; None for NaN."""
        return {
            **super().to_dict(),
            "adjusted_interval": [plain(self.adjusted.low), plain(self.adjusted.high)],
            "p": plain(self.p),
            "adjusted_p": plain(self.adjusted_p),
        }


def differences(values: Floats, replicates: Floats, level: float) -> list[Difference]:
    """Each difference with its confidence interval, plain and adjusted by Holm's method.

    Parameters
    ----------
    values
        (m,) differences on the data as they are.
    replicates
        (B, m) differences of each bootstrap replicate; NaN ones are left out.
    level
        Level of the confidence intervals, such as 0.95.

    Examples
    --------
    >>> draws = np.random.default_rng(0).normal([0.5, 0.1], 0.1, (999, 2))
    >>> for difference in differences(np.array([0.5, 0.1]), draws, 0.95):
    ...     print(f"{difference.adjusted_p:.3f} {difference.adjusted.interval_text(1)}")
    0.004 [0.3, 0.7]
    0.334 [-0.1, 0.3]
    """
    p = np.array([p_value(column) for column in replicates.T])
    adjusted, levels = holm(p), holm_levels(p, 1 - level)
    listed = []
    for i, value in enumerate(values.tolist()):
        estimate = Estimate.of_replicates(value, replicates[:, i], level)
        wide = Estimate.of_replicates(value, replicates[:, i], 1 - levels[i])
        listed.append(
            Difference(value, estimate.low, estimate.high, wide, float(p[i]), float(adjusted[i]))
        )
    return listed


def p_value(replicates: Floats) -> float:
    """Two-sided p-value of a difference from its replicates, NaN without any."""
    defined = replicates[~np.isnan(replicates)]
    if not len(defined):
        return nan
    one_side = 1 + min(int((defined <= 0).sum()), int((defined >= 0).sum()))
    return min(1.0, 2 * one_side / (len(defined) + 1))


def holm(p: Floats) -> Floats:
    """Adjusted p-values by Holm's step-down method; NaN stays NaN and does not count.

    Examples
    --------
    >>> holm(np.array([0.04, 0.01, 0.03])).round(2).tolist()
    [0.06, 0.03, 0.06]
    """
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted = np.full(len(p), nan)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * p[order]))
    return adjusted


def holm_levels(p: Floats, alpha: float) -> Floats:
    """Error rate of each interval: that of the step at which Holm judges the difference.

    Examples
    --------
    >>> holm_levels(np.array([0.5, 0.001, 0.03]), 0.06).round(3).tolist()
    [0.06, 0.02, 0.03]
    """
    defined = np.flatnonzero(~np.isnan(p))
    order = defined[np.argsort(p[defined], kind="stable")]
    claimed = int((holm(p)[order] <= alpha).sum())
    step = np.minimum(np.arange(len(order)), claimed)
    levels = np.full(len(p), alpha / max(len(order), 1))
    levels[order] = alpha / np.maximum(len(order) - step, 1)
    return levels


def needed_replicates(number: int, level: float) -> int:
    """Replicates below which no adjusted p-value of this many differences can reach 1 - level.

    Examples
    --------
    >>> needed_replicates(3, 0.95)
    119
    """
    return ceil(round(2 * number / (1 - level), 6)) - 1
