"""A value with its confidence interval."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Estimate:
    """A value and the ends of its confidence interval, NaN where none was computed.

    Parameters
    ----------
    value
        Value on the data as they are.
    low, high
        Ends of the confidence interval.

    Examples
    --------
    >>> print(Estimate(0.7, 0.65, 0.75))
    0.7000 [0.6500, 0.7500]
    >>> Estimate(0.7).text(digits=3)
    '0.700'
    """

    value: float
    low: float = nan
    high: float = nan

    @classmethod
    def of_replicates(
        cls, value: float, replicates: NDArray[np.float64], level: float = 0.95
    ) -> Estimate:
        """Percentile interval over bootstrap replicates; replicates that are NaN are left out.

        ``replicates`` (n,) value of each replicate.

        Examples
        --------
        >>> print(Estimate.of_replicates(0.5, np.linspace(0, 1, 101), level=0.9))
        0.5000 [0.0500, 0.9500]
        """
        defined = replicates[~np.isnan(replicates)]
        if not len(defined):
            return cls(float(value))
        low, high = np.quantile(defined, [(1 - level) / 2, (1 + level) / 2])
        return cls(float(value), float(low), float(high))

    @classmethod
    def of_plain(cls, value: float | None, low: float | None, high: float | None) -> Estimate:
        """From numbers that are None where they are undefined, as in files; see `plain`."""
        return cls(*(nan if number is None else number for number in (value, low, high)))

    def plain(self) -> dict[str, float | None]:
        """Value and bounds by name, None where they are undefined.

        Examples
        --------
        >>> Estimate(0.7).plain()
        {'value': 0.7, 'low': None, 'high': None}
        """
        return {"value": plain(self.value), "low": plain(self.low), "high": plain(self.high)}

    @property
    def has_interval(self) -> bool:
        """Whether there is a confidence interval."""
        return isfinite(self.low) and isfinite(self.high)

    def interval_text(self, digits: int = 4) -> str:
        """The confidence interval alone, empty where there is none."""
        if not self.has_interval:
            return ""
        return f"[{self.low:z.{digits}f}, {self.high:z.{digits}f}]"

    def text(self, digits: int = 4) -> str:
        """Value and confidence interval with this many digits, and no minus before a zero."""
        return f"{self.value:z.{digits}f} {self.interval_text(digits)}".rstrip()

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON; None for NaN."""
        return {"value": plain(self.value), "interval": [plain(self.low), plain(self.high)]}

    __str__ = text


def plain(value: float) -> float | None:
    """A finite number for JSON, or None."""
    return float(value) if isfinite(value) else None
